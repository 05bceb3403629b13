import Crypto
import Device
import Encoding
import HTTP
import OAuth
import SignIn
import Testing

/// The way to the code: configuration, metadata, pages and browsers.
@Suite struct OAuthWayTests {
    @Test func `a sign-in goes from metadata over one page and one token request to a stored session`() throws {
        var script = OAuthScript()
        #expect(try script.start() == ["discover"])
        #expect(script.state == .starting)
        #expect(try script.send(.discovered(script.awaited(), OAuthScript.metadata())) == ["visit"])
        #expect(script.state == .authorizing(url: nil))
        #expect(try script.redirect(to: OAuthScript.redirect()) == ["call(token)"])
        #expect(script.state == .redeeming)
        #expect(try script.respond(Replies.goodTokens) == ["commit"])
        #expect(try script.send(.committed(script.awaited())) == ["done"])
        guard case .signedIn(let summary) = script.state else { throw Unexpected.body }
        #expect(summary.subject == "user-1")
        #expect(summary.canRefresh)
        #expect(script.flow.isFinished)
    }

    @Test func `the authorization request asks for a code by PKCE, bound to the install's key`() throws {
        var script = OAuthScript(config: OAuthScript.config(resource: "https://api.example"))
        try script.authorize()
        let url = try HTTPURL(#require(script.pages.first))
        #expect(url.origin + url.path == OAuthScript.authorizationEndpoint)
        let form = try FormFields(decoding: Array(#require(url.query).utf8))
        #expect(form["response_type"] == "code")
        #expect(form["client_id"] == "app_demo")
        #expect(form["redirect_uri"] == OAuthScript.redirectURI)
        #expect(form["scope"] == "openid email")
        #expect(form["state"] == "the-state")
        #expect(form["nonce"] == OAuthScript.secrets.nonce)
        #expect(form["code_challenge"] == PKCE.challenge(for: OAuthScript.secrets.codeVerifier))
        #expect(form["code_challenge_method"] == "S256")
        #expect(form["resource"] == "https://api.example")
        #expect(form["dpop_jkt"] == Phone.shared.thumbprint)
        #expect(form.pairs.count == 10)
        #expect(form.repeatedNames.isEmpty)
    }

    @Test func `no scope is asked for where none is given, and none of the secrets but what must be`() throws {
        var script = OAuthScript(config: OAuthScript.config(scopes: []))
        try script.authorize()
        let url = try #require(script.pages.first)
        #expect(!url.contains("scope="))
        #expect(!url.contains("resource="))
        #expect(!url.contains(OAuthScript.secrets.codeVerifier))
    }

    @Test func `a query of the authorization endpoint is kept`() throws {
        var script = OAuthScript()
        let metadata = try OAuthScript.metadata(["authorization_endpoint": "https://acme.idp.example/authorize?app=1"])
        try script.authorize(metadata)
        #expect(try #require(script.pages.first).hasPrefix("https://acme.idp.example/authorize?app=1&response_type="))
    }

    @Test(arguments: [
        OAuthScript.config(issuer: "http://acme.idp.example"), OAuthScript.config(issuer: "acme"),
        OAuthScript.config(client: ""), OAuthScript.config(scopes: ["a b"]), OAuthScript.config(resource: "api"),
    ])
    func `a configuration that breaks a rule ends the flow before any call`(config: SignInConfig) throws {
        var script = OAuthScript(config: config)
        #expect(try script.start() == ["done"])
        #expect(script.failure?.reason == "invalidConfig")
    }

    @Test(arguments: [
        BrowserDoor.direct(redirectURI: "/callback"), .direct(redirectURI: "http://127.0.0.1/cb#part"),
        .browser(redirectURI: "https://127.0.0.1:7429/cb"), .browser(redirectURI: "http://app.example/cb"),
        .browser(redirectURI: "com.example.app:/back"), .browser(redirectURI: "http://127.0.0.1:7429/cb?a=1"),
    ])
    func `a redirect URI that its door cannot use ends the flow before any call`(door: BrowserDoor) throws {
        var script = OAuthScript(door)
        #expect(try script.start() == ["done"])
        #expect(script.failure?.reason == "invalidConfig")
    }

    @Test func `a server without an authorization endpoint offers no way`() throws {
        var script = OAuthScript()
        try script.start()
        let metadata = try OAuthScript.metadata(["authorization_endpoint": .null])
        #expect(try script.send(.discovered(script.awaited(), metadata)) == ["done"])
        #expect(script.failure == .server(message: "the metadata document has no authorization_endpoint"))
    }

    @Test func `lost metadata is asked for once more, and then it is the network`() throws {
        var script = OAuthScript()
        try script.start()
        #expect(try script.send(.discoveryFailed(script.awaited(), .unreachable(detail: "no route"))) == ["discover"])
        #expect(try script.send(.discoveryFailed(script.awaited(), .unreachable(detail: "no route"))) == ["done"])
        #expect(script.failure?.reason == "network")
    }

    @Test(arguments: [
        (DiscoveryFailure.unavailable(status: 429, retryAfter: "7"), "rateLimited"),
        (.unavailable(status: 503, retryAfter: nil), "server"),
        (.invalid(.unsupported(member: "code_challenge_methods_supported", needed: "S256")), "server"),
    ])
    func `metadata that does not come has its reason`(failure: DiscoveryFailure, reason: String) throws {
        var script = OAuthScript()
        try script.start()
        #expect(try script.send(.discoveryFailed(script.awaited(), failure)) == ["done"])
        #expect(script.failure?.reason == reason)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `redirects on the server's own origin are followed until the redirect URI`(status: Int) throws {
        var script = OAuthScript()
        try script.authorize()
        #expect(try script.redirect(to: "/login?step=1", status: status) == ["visit"])
        #expect(try script.redirect(to: "consent", status: status) == ["visit"])
        #expect(try script.redirect(to: "?done", status: status) == ["visit"])
        #expect(
            script.pages.dropFirst() == [
                "https://acme.idp.example/login?step=1", "https://acme.idp.example/consent",
                "https://acme.idp.example/consent?done",
            ])
        #expect(try script.redirect(to: OAuthScript.redirect(), status: status) == ["call(token)"])
    }

    @Test(arguments: [
        "https://login.example/start", "http://acme.idp.example/login", "//other.example/",
        "https://acme.idp.example:444/",
    ])
    func `another origin is for a browser`(location: String) throws {
        var script = OAuthScript()
        try script.authorize()
        #expect(try script.redirect(to: location) == ["done"])
        #expect(script.failure?.reason == "browserNeeded")
    }

    @Test func `a page is for a browser`() throws {
        var script = OAuthScript()
        try script.authorize()
        #expect(try script.send(.visited(script.awaited(), Replies.html, location: nil)) == ["done"])
        #expect(script.failure?.reason == "browserNeeded")
    }

    @Test func `a server that redirects in a circle is given up`() throws {
        var script = OAuthScript()
        try script.authorize()
        for _ in 0..<50 where script.failure == nil { try script.redirect(to: "/again") }
        #expect(script.failure?.reason == "server")
        #expect(script.pages.count == 16)
    }

    @Test(arguments: [
        (302, nil, "server"), (302, "mailto:nobody@example.com", "server"), (404, nil, "server"),
        (503, nil, "server"), (429, nil, "rateLimited"),
    ])
    func `an answer that leads nowhere has its reason`(status: Int, location: String?, reason: String) throws {
        var script = OAuthScript()
        try script.authorize()
        #expect(try script.redirect(to: location, status: status) == ["done"])
        #expect(script.failure?.reason == reason)
    }

    @Test func `a refusal without a redirect names the server's error`() throws {
        var script = OAuthScript()
        try script.authorize()
        let refusal = Replies.json(400, ["error": "invalid_client", "error_description": "nobody knows you"])
        #expect(try script.send(.visited(script.awaited(), refusal, location: nil)) == ["done"])
        #expect(script.failure?.reason == "notAllowed")
        #expect(script.failure?.message.contains("nobody knows you") == true)
    }

    @Test func `a lost page is asked for once more, and then it is the network`() throws {
        var script = OAuthScript()
        try script.authorize()
        #expect(try script.lose() == ["visit"])
        #expect(Set(script.pages).count == 1)
        #expect(try script.lose() == ["done"])
        #expect(script.failure?.reason == "network")
    }

    @Test func `a custom scheme is arrived at without being visited`() throws {
        var script = OAuthScript(.direct(redirectURI: "com.example.app:/back"))
        try script.authorize()
        #expect(try script.redirect(to: OAuthScript.redirect(to: "com.example.app:/back")) == ["call(token)"])
        #expect(script.calls(.token).first?.form?["redirect_uri"] == "com.example.app:/back")
    }
}

/// A person's browser.
@Suite struct OAuthBrowserTests {
    @Test func `a browser is waited for at the port the system picked, and the request names that port`() throws {
        var script = OAuthScript(.browser(redirectURI: nil))
        try script.start()
        #expect(try script.send(.discovered(script.awaited(), OAuthScript.metadata())) == ["listen"])
        #expect(script.last.map(\.action) == [.listen(redirectURI: "http://127.0.0.1/callback")])
        let actual = "http://127.0.0.1:40001/callback"
        #expect(try script.send(.listening(script.awaited(), redirectURI: actual)) == ["awaitBrowser"])
        guard case .authorizing(let url?) = script.state else { throw Unexpected.body }
        #expect(url.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A40001%2Fcallback&"))
        let address = OAuthScript.redirect(to: actual)
        #expect(try script.send(.redirected(script.awaited(), address: address)) == ["call(token)"])
        #expect(script.calls(.token).first?.form?["redirect_uri"] == actual)
    }

    @Test func `a port that is taken, and a person who does not come, have their reasons`() throws {
        var taken = OAuthScript(.browser(redirectURI: OAuthScript.redirectURI))
        try taken.start()
        try taken.send(.discovered(taken.awaited(), OAuthScript.metadata()))
        #expect(try taken.send(.browserFailed(taken.awaited(), detail: "port in use")) == ["done"])
        #expect(taken.failure?.reason == "invalidConfig")

        var alone = OAuthScript(.browser(redirectURI: OAuthScript.redirectURI))
        try alone.authorize()
        #expect(try alone.send(.browserFailed(alone.awaited(), detail: "nobody came")) == ["done"])
        #expect(alone.failure?.reason == "network")
    }

    @Test func `another place than the redirect URI is no answer`() throws {
        var script = OAuthScript(.browser(redirectURI: OAuthScript.redirectURI))
        try script.authorize()
        let address = OAuthScript.redirect(to: "http://127.0.0.1:7429/other")
        #expect(try script.send(.redirected(script.awaited(), address: address)) == ["done"])
        #expect(script.failure?.reason == "invalidRedirect")
    }

    @Test func `a killed process listens again where it did and shows the same address`() throws {
        var script = OAuthScript(.browser(redirectURI: nil))
        try script.authorize()
        let before = script.state
        #expect(try script.killAndResume() == ["listen"])
        #expect(script.last.map(\.action) == [.listen(redirectURI: OAuthScript.redirectURI)])
        try script.send(.listening(script.awaited(), redirectURI: OAuthScript.redirectURI))
        #expect(script.state == before)
    }
}

extension Call {
    /// The body as a form.
    var form: FormFields? {
        if case .form(let fields) = body { fields } else { nil }
    }
}
