import Device
import Encoding
import OAuth
import SignIn
import Testing

@Suite struct StartRuleTests {
    @Test func `a device without any key fails before any call`() throws {
        var script = Script()
        let facts = DeviceFacts(installThumbprint: Phone.shared.thumbprint, enrolments: [])
        #expect(try script.start(facts) == ["done"])
        #expect(script.failure == .notEnrolled)
    }

    @Test func `a device enrolled at another issuer only fails before any call`() throws {
        var facts = Phone.shared.facts
        facts.enrolments[0].issuer = "https://other.example"
        var script = Script()
        #expect(try script.start(facts) == ["done"])
        #expect(script.failure == .notEnrolled)
    }

    @Test(arguments: [
        ("http://acme.idp.example", true), ("http://127.0.0.1:7421/acme", false), ("acme.idp.example", true),
        ("https://acme.idp.example?tenant=1", true), ("https://acme.idp.example#x", true), ("", true),
        ("https://user@acme.idp.example", true),
    ])
    func `an issuer that cannot be trusted fails before any call`(issuer: String, allowed: Bool) throws {
        var config = Phone.shared.config
        config.issuer = issuer
        config.allowPlainHTTPOnLoopback = allowed
        var script = Script(config: config)
        #expect(try script.start() == ["done"])
        #expect(script.failure?.reason == "invalidConfig")
    }

    @Test func `plain http on loopback is allowed with the switch on`() throws {
        var config = Phone.shared.config
        config.issuer = "http://127.0.0.1:7421/acme"
        config.allowPlainHTTPOnLoopback = true
        var facts = Phone.shared.facts
        facts.enrolments[0].issuer = config.issuer
        var script = Script(config: config)
        #expect(try script.start(facts) == ["discover"])
    }

    @Test func `the other members of a configuration are checked before any call`() throws {
        var bad: [SignInConfig] = []
        let good = Phone.shared.config
        for change: (inout SignInConfig) -> Void in [
            { $0.clientID = "" }, { $0.resource = "api" }, { $0.resource = "https://api.example#part" },
            { $0.resource = "1https://api.example" }, { $0.scopes = ["open id"] }, { $0.scopes = [""] },
            { $0.scopes = ["a\"b"] }, { $0.loginHint = "" },
        ] {
            var config = good
            change(&config)
            bad.append(config)
        }
        for config in bad {
            var script = Script(config: config)
            #expect(try script.start() == ["done"])
            #expect(script.failure?.reason == "invalidConfig", "\(config)")
        }
    }

    @Test func `a lost discovery is asked once more, then the network is to blame`() throws {
        var script = Script()
        try script.start()
        let first = try script.awaited()
        #expect(try script.send(.discoveryFailed(first, .unreachable(detail: "refused"))) == ["discover"])
        #expect(script.state == .starting)
        #expect(
            try script.send(.discoveryFailed(script.awaited(), .unreachable(detail: "refused"))) == ["done"])
        #expect(script.failure == .network(message: "no answer to the metadata: refused"))
    }

    @Test func `metadata that cannot be used is the server's failure, in words that say why`() throws {
        let cases: [(DiscoveryFailure, SignInFailure)] = [
            (.unavailable(status: 503, retryAfter: nil), .server(message: "the metadata address answered 503")),
            (.unavailable(status: 429, retryAfter: "20"), .rateLimited(retryAfterSeconds: 20)),
            (
                .invalid(.answer(.notJSON(status: 200, mediaType: "text/html"))),
                .server(
                    message:
                        "the metadata document: answered 200 with media type text/html where JSON was expected")
            ),
        ]
        for (cause, expected) in cases {
            var script = Script()
            try script.start()
            #expect(try script.send(.discoveryFailed(script.awaited(), cause)) == ["done"])
            #expect(script.failure == expected)
        }
    }

    @Test func `metadata without the endpoints of a first-party sign-in cannot be used`() throws {
        let changes: [[String: JSON]] = [
            ["device_ceremony_endpoint": .null], ["authorization_challenge_endpoint": .null],
            ["device_ceremony_endpoint": "https://acme.idp.example/ceremony?x=1"],
        ]
        for change in changes {
            var script = Script()
            try script.start()
            let metadata = try Phone.serverMetadata(change)
            #expect(try script.send(.discovered(script.awaited(), metadata)) == ["done"])
            #expect(script.failure?.reason == "server")
        }
    }

    @Test func `a lost start is sent once more, then the network is to blame`() throws {
        var script = Script()
        try script.advance(to: "call(start)")
        #expect(try script.lose() == ["call(start)"])
        #expect(script.calls(.start).map(\.attempt) == [1, 2])
        #expect(script.calls(.start)[0].body == script.calls(.start)[1].body)
        #expect(try script.lose() == ["done"])
        #expect(script.failure?.reason == "network")
    }

    @Test func `a start that is lost once still signs in`() throws {
        var script = Script()
        try script.advance(to: "call(start)")
        try script.lose()
        try script.finish()
        #expect(script.state.name == "signedIn")
    }

    @Test func `a start asked to repeat with a nonce is the same call again, and no retry`() throws {
        var script = Script()
        try script.advance(to: "call(start)")
        #expect(try script.respond(Replies.nonceWanted) == ["call(start)"])
        #expect(script.calls(.start)[0] == script.calls(.start)[1])
        #expect(try script.lose() == ["call(start)"])
        #expect(script.calls(.start)[2].attempt == 2)
        // A new attempt has its own answer to a nonce challenge.
        #expect(try script.respond(Replies.nonceWanted) == ["call(start)"])
        #expect(try script.respond(Replies.nonceWanted) == ["done"])
        #expect(script.failure?.reason == "server")
    }

    @Test func `a nonce challenge that brings no usable nonce is the server's failure`() throws {
        for nonce in [nil, "", "with a blank", "quote\""] {
            var script = Script()
            try script.advance(to: "call(start)")
            #expect(try script.respond(Replies.error(400, "use_dpop_nonce", nonce: nonce)) == ["done"])
            #expect(script.failure == .server(message: "the server asked for a DPoP nonce and sent none"))
        }
    }

    @Test func `each refusal of a start has its reason, and there is no session to abort`() throws {
        let cases: [(CallResponse, String)] = [
            (Replies.error(401, "invalid_client"), "notAllowed"),
            (Replies.error(400, "unauthorized_client"), "notAllowed"),
            (Replies.error(403, "access_denied"), "notAllowed"),
            (Replies.error(400, "invalid_request"), "server"),
            (Replies.error(400, "invalid_scope"), "server"),
            (Replies.error(400, "invalid_dpop_proof"), "server"),
            (Replies.error(400, "invalid_session"), "server"),
            (Replies.error(400, "a_code_of_tomorrow"), "server"),
            (Replies.json(429, ["error": "rate_limited"], retryAfter: "1800"), "rateLimited"),
            (CallResponse(status: 429, mediaType: nil, body: []), "rateLimited"),
            (CallResponse(status: 500, mediaType: "text/html", body: []), "server"),
            (Replies.html, "server"),
            (Replies.json(200, ["authorization_code": "c"]), "server"),
            (Replies.json(200, []), "server"),
            (Replies.json(302, ["error": "moved"]), "server"),
            (Replies.json(400, ["error": 7]), "server"),
        ]
        for (response, reason) in cases {
            var script = Script()
            try script.advance(to: "call(start)")
            #expect(try script.respond(response) == ["done"])
            #expect(script.failure?.reason == reason, "\(response)")
        }
    }

    @Test func `too many starts say how long to wait`() throws {
        var script = Script()
        try script.advance(to: "call(start)")
        try script.respond(Replies.json(429, ["error": "rate_limited"], retryAfter: "1800"))
        #expect(script.failure == .rateLimited(retryAfterSeconds: 1800))
    }

    @Test func `a challenge without its members is malformed`() throws {
        for member in ["auth_session", "ceremony"] {
            var body = try #require(Replies.challenge.object)
            body[member] = nil
            try expectMalformed(.object(body))
            body[member] = 7
            try expectMalformed(.object(body))
        }
        for member in ["id", "challenge"] {
            var body = try #require(Replies.challenge.object)
            var ceremony = try #require(body["ceremony"]?.object)
            ceremony[member] = ""
            body["ceremony"] = .object(ceremony)
            try expectMalformed(.object(body))
        }
    }

    private func expectMalformed(_ body: JSON) throws {
        var script = Script()
        try script.advance(to: "call(start)")
        #expect(try script.respond(Replies.json(403, body)) == ["done"])
        #expect(script.failure?.reason == "server")
    }

    @Test func `an HTML page is named with its status and media type`() throws {
        var script = Script()
        try script.advance(to: "call(start)")
        try script.respond(Replies.html)
        #expect(
            script.failure
                == .server(message: "start: answered 200 with media type text/html where JSON was expected"))
    }
}
