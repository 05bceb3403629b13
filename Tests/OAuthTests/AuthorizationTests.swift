import Encoding
import HTTP
import OAuth
import Testing

@Suite struct RedirectURITests {
    @Test(arguments: [
        "http://127.0.0.1:7429/callback", "http://[::1]/cb", "https://app.example/cb?tenant=1",
        "com.example.app:/back", "com.example.app://back",
    ])
    func `an absolute URI of any scheme is taken as it is`(text: String) throws {
        #expect(try RedirectURI(text).text == text)
    }

    @Test(arguments: [
        "", "/callback", "callback", "http://", "http:///cb", "https://app.example/a b", "https://app.example/#part",
        "1app:/cb", "app:", ":/cb", "https://app.exämple/cb", String(repeating: "a", count: 9000),
    ])
    func `anything else is refused by a named rule`(text: String) {
        let error = #expect(throws: RedirectURIError.self) { try RedirectURI(text) }
        #expect(error?.rule.isEmpty == false)
    }

    @Test(arguments: [
        ("http://127.0.0.1:7429/cb", "http://127.0.0.1:7429/cb?code=1", "code=1"),
        ("http://127.0.0.1:7429/cb", "http://127.0.0.1:7429/cb", ""),
        ("http://127.0.0.1:7429/cb", "http://127.0.0.1:7429/cb?code=1#_=_", "code=1"),
        ("http://127.0.0.1:80", "http://127.0.0.1/?code=1", "code=1"),
        ("com.app:/cb", "com.app:/cb?code=1", "code=1"),
        ("https://a.example/cb?t=1", "https://a.example/cb?t=1&code=2", "code=2"),
        ("https://a.example/cb?t=1", "https://a.example/cb?t=1", ""),
    ])
    func `an address at the redirect URI gives its query`(uri: String, address: String, query: String) throws {
        #expect(try RedirectURI(uri).query(of: address) == query)
    }

    @Test(arguments: [
        ("http://127.0.0.1:7429/cb", "http://127.0.0.1:7428/cb?code=1"),
        ("http://127.0.0.1:7429/cb", "http://127.0.0.1:7429/cb/more?code=1"),
        ("http://127.0.0.1:7429/cb", "https://127.0.0.1:7429/cb?code=1"),
        ("http://127.0.0.1:7429/cb", "http://127.0.0.1:7429/cbx?code=1"), ("com.app:/cb", "com.evil:/cb?code=1"),
        ("https://a.example/cb?t=1", "https://a.example/cb?code=2"),
        ("https://a.example/cb?t=1", "https://a.example/cb?t=12&code=2"),
    ])
    func `an address elsewhere gives nothing`(uri: String, address: String) throws {
        #expect(try RedirectURI(uri).query(of: address) == nil)
    }

    @Test func `only plain http on loopback can be listened at`() throws {
        #expect(try RedirectURI("http://127.0.0.1:5000/cb").loopback?.port == 5000)
        #expect(try RedirectURI("http://[::1]:5000/cb").loopback?.host == "::1")
        #expect(try RedirectURI("https://127.0.0.1/cb").loopback == nil)
        #expect(try RedirectURI("http://app.example/cb").loopback == nil)
        #expect(try RedirectURI("com.app:/cb").loopback == nil)
    }
}

@Suite struct LocationTests {
    @Test(arguments: [
        ("https://other.example/x", "https://other.example/x"), ("com.app:/cb?code=1", "com.app:/cb?code=1"),
        ("//other.example/x", "https://other.example/x"), ("/login?a=1", "https://as.example/login?a=1"),
        ("next", "https://as.example/oauth/next"), ("?step=2", "https://as.example/oauth/authorize?step=2"),
        ("sub/next:1", "https://as.example/oauth/sub/next:1"),
    ])
    func `a Location is resolved against the page that sent it`(location: String, address: String) throws {
        let page = try HTTPURL("https://as.example/oauth/authorize?client_id=1")
        #expect(Location.resolve(location, against: page) == address)
    }
}

@Suite struct AuthorizationResponseTests {
    private func read(_ query: String, issuerIsDue: Bool = true) throws(RedirectRefusal) -> AuthorizationResponse {
        try AuthorizationResponse(
            query: query, state: "s-1", issuer: "https://as.example", issuerIsDue: issuerIsDue)
    }

    @Test func `a code comes with the state that was sent and the issuer that was asked`() throws {
        #expect(try read("code=abc&state=s-1&iss=https%3A%2F%2Fas.example") == .code("abc"))
        #expect(try read("state=s-1&code=abc&session_state=more", issuerIsDue: false) == .code("abc"))
    }

    @Test(arguments: [
        ("code=abc&iss=https%3A%2F%2Fas.example", RedirectRefusal.missing(name: "state")),
        ("code=abc&state=&iss=https%3A%2F%2Fas.example", .state), ("code=abc&state=s-1", .missing(name: "iss")),
        ("code=abc&state=S-1&iss=https%3A%2F%2Fas.example", .state),
        (
            "code=abc&state=s-1&iss=https%3A%2F%2Fevil.example",
            .issuer(expected: "https://as.example", found: "https://evil.example")
        ),
        ("state=s-1&iss=https%3A%2F%2Fas.example", .missing(name: "code")),
        ("code=a&code=b&state=s-1&iss=https%3A%2F%2Fas.example", .repeated(name: "code")),
        ("error=access_denied&state=other", .state), ("", .missing(name: "state")),
    ])
    func `anything else is refused by a named rule`(query: String, refusal: RedirectRefusal) {
        #expect(throws: refusal) { try read(query) }
    }

    @Test func `a query that is no form is refused`() {
        let error = #expect(throws: RedirectRefusal.self) { try read("code=%zz") }
        #expect(error?.code == "oauth.redirect.unreadable")
    }

    @Test func `an error comes with its words, fit for one line, and before any code`() throws {
        let query = "error=access_denied&error_description=no%0Away&code=abc&state=s-1&iss=https%3A%2F%2Fas.example"
        #expect(try read(query) == .refused(.accessDenied, detail: "no\u{FFFD}way"))
    }

    @Test func `a code is in no description`() throws {
        let response = try read("code=secret&state=s-1", issuerIsDue: false)
        #expect(!"\(response)\(String(reflecting: response))".contains("secret"))
    }
}

@Suite struct ClientRegistrationTests {
    @Test func `a public native client with bound tokens is asked for`() throws {
        let registration = ClientRegistration(
            redirectURIs: [try RedirectURI("http://127.0.0.1:7429/callback")], scopes: ["read", "write"])
        #expect(
            registration.json == [
                "client_name": "Understudy", "redirect_uris": ["http://127.0.0.1:7429/callback"],
                "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
                "token_endpoint_auth_method": "none", "application_type": "native", "dpop_bound_access_tokens": true,
                "scope": "read write",
            ])
    }

    @Test func `a client that is sent back to https alone is a web site's`() throws {
        let registration = ClientRegistration(redirectURIs: [try RedirectURI("https://app.example/cb")])
        #expect(registration.json["application_type"] == "web")
        #expect(registration.json["scope"] == nil)
    }

    @Test func `the answer is read as far as a public client needs it`() throws {
        let body: JSON = [
            "client_id": "c-1", "client_secret": "hidden", "token_endpoint_auth_method": "none", "scope": "read",
            "redirect_uris": ["http://127.0.0.1:7429/callback"],
        ]
        let client = try RegisteredClient(status: 201, mediaType: "application/json", body: body.serialized())
        #expect(client.clientID == "c-1")
        #expect(client.authentication == "none")
        #expect(client.scope == "read")
        #expect(client.redirectURIs == ["http://127.0.0.1:7429/callback"])
        #expect(!String(reflecting: client).contains("hidden"))
    }

    @Test(
        arguments: [
            (400, ["error": "invalid_redirect_uri"]), (201, [:]), (201, ["client_id": ""]), (201, ["client_id": 7]),
            (201, ["client_id": "c", "redirect_uris": "http://127.0.0.1/"]),
        ] as [(Int, JSON)])
    func `an answer without a client is none`(status: Int, body: JSON) {
        #expect(throws: AnswerError.self) {
            try RegisteredClient(status: status, mediaType: "application/json", body: body.serialized())
        }
    }
}

@Suite struct TokenResponseLeniencyTests {
    private func read(_ body: JSON, assumed: Int64? = nil) throws(AnswerError) -> TokenResponse {
        try TokenResponse(
            status: 200, mediaType: "application/json", body: body.serialized(), assumedLifetime: assumed)
    }

    @Test func `a null optional member counts as absent, and so does an empty scope`() throws {
        for scope: JSON in [.null, ""] {
            let tokens = try read([
                "access_token": "t", "token_type": "DPoP", "expires_in": 60, "id_token": .null,
                "refresh_token": .null, "scope": scope,
            ])
            #expect(tokens.idToken == nil)
            #expect(tokens.refreshToken == nil)
            #expect(tokens.scope == nil)
        }
    }

    @Test func `expires_in is due unless a lifetime may be assumed, and never of another type`() throws {
        #expect(throws: AnswerError.missing(member: "expires_in")) {
            try read(["access_token": "t", "token_type": "DPoP"])
        }
        #expect(try read(["access_token": "t", "token_type": "DPoP"], assumed: 90).expiresInSeconds == 90)
        #expect(throws: AnswerError.self) {
            try read(["access_token": "t", "token_type": "DPoP", "expires_in": "60"], assumed: 90)
        }
    }
}
