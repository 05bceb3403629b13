import Device
import Encoding
import JOSE
import SignIn
import Testing

@Suite struct TokenRuleTests {
    static let unavailable = CallResponse(status: 503, mediaType: nil, body: [])

    @Test(arguments: [true, false])
    func `lost or failing tokens re-send the completion twice and redeem what comes back, then park`(
        lost: Bool
    ) throws {
        var script = Script()
        try script.advance(to: "call(token)")
        for code in ["secret-code", "replacement-1", "replacement-2"] {
            guard case .form(let form) = try #require(script.calls(.token).last).body else { throw Unexpected.body }
            #expect(form["code"] == code)
            let names = lost ? try script.lose() : try script.respond(Self.unavailable)
            if code == "replacement-2" {
                #expect(names.isEmpty)
            } else {
                #expect(names == ["call(completion)"])
                #expect(script.state == .postingResult)
                try script.respond(Replies.code(code == "secret-code" ? "replacement-1" : "replacement-2"))
            }
        }
        #expect(script.state == .postingResultFailed(lost ? .network : .server(status: 503)))
        #expect(script.calls(.token).map(\.attempt) == [1, 2, 3])
        #expect(Set(script.calls(.completion).map(\.body)).count == 1)
        #expect(try script.send(.retry) == ["call(completion)"])
        try script.finish()
        #expect(script.state.name == "signedIn")
    }

    @Test func `tokens answered 429 park with the time to wait`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        let busy = CallResponse(status: 429, mediaType: nil, retryAfter: "9", body: [])
        for _ in 0..<2 {
            #expect(try script.respond(busy) == ["call(completion)"])
            #expect(try script.respond(Replies.code()) == ["call(token)"])
        }
        #expect(try script.respond(busy).isEmpty)
        #expect(script.state == .postingResultFailed(.rateLimited(retryAfterSeconds: 9)))
    }

    @Test func `replacements used up mean the session is over`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        try script.lose()
        #expect(try script.respond(Replies.error(400, "invalid_session")) == ["done"])
        #expect(script.failure == .sessionExpired)
    }

    @Test func `a completion lost while it repairs tokens follows its own rule`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        try script.lose()
        #expect(try script.lose() == ["call(completion)"])
        #expect(try script.lose().isEmpty)
        #expect(script.state == .postingResultFailed(.network))
    }

    @Test func `losses and nonces of a repairing completion do not give it more repairs`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        for _ in 0..<2 {
            #expect(try script.lose() == ["call(completion)"])
            #expect(try script.lose() == ["call(completion)"])
            #expect(try script.respond(Replies.nonceWanted) == ["call(completion)"])
            #expect(try script.respond(Replies.code()) == ["call(token)"])
            #expect(try script.respond(Replies.nonceWanted) == ["call(token)"])
        }
        #expect(try script.lose().isEmpty)
        #expect(script.state == .postingResultFailed(.network))
    }

    @Test func `tokens asked for a nonce are the same call again, once`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        #expect(try script.respond(Replies.nonceWanted) == ["call(token)"])
        #expect(script.calls(.token)[0] == script.calls(.token)[1])
        #expect(script.calls(.completion).count == 1)
        #expect(try script.respond(Replies.nonceWanted) == ["signCeremony(abort)"])
        #expect(script.failure?.reason == "server")
    }

    @Test func `each refusal of the tokens has its reason`() throws {
        let cases: [(CallResponse, String, aborts: Bool)] = [
            (Replies.error(400, "invalid_grant"), "server", true),
            (Replies.error(401, "invalid_client"), "notAllowed", false),
            (Replies.error(400, "unauthorized_client"), "notAllowed", false),
            (Replies.error(403, "access_denied"), "notAllowed", false),
            (Replies.error(400, "invalid_session"), "sessionExpired", false),
            (Replies.error(400, "invalid_dpop_proof"), "server", true),
            (Replies.error(403, "insufficient_authorization"), "server", true),
            (Replies.html, "server", true),
            (Replies.json(400, [:]), "server", true),
            (Replies.json(302, [:]), "server", true),
        ]
        for (response, reason, aborts) in cases {
            var script = Script()
            try script.advance(to: "call(token)")
            #expect(try script.respond(response) == [aborts ? "signCeremony(abort)" : "done"])
            #expect(script.failure?.reason == reason, "\(response)")
        }
    }

    @Test func `tokens that cannot be trusted are revoked and never stored`() throws {
        let others: [(String, JSON)] = [
            ("token_type", "Bearer"), ("id_token", .null), ("id_token", "not.a.jwt"),
            ("access_token", .string(try Replies.accessToken(jkt: "another-key"))),
            ("access_token", .string(try Replies.accessToken(jkt: nil))),
            ("id_token", .string(try Replies.idToken(["iss": "https://evil.example"]))),
            ("id_token", .string(try Replies.idToken(["aud": "app_other"]))),
            ("id_token", .string(try Replies.idToken(["aud": ["app_demo", "app_other"]]))),
            ("id_token", .string(try Replies.idToken(["nonce": "another"]))),
            ("id_token", .string(try Replies.idToken(["nonce": .null]))),
            ("id_token", .string(try Replies.idToken(["exp": .int(Phone.now.seconds - 61)]))),
            ("id_token", .string(try Replies.idToken(["iat": .int(Phone.now.seconds + 61)]))),
            ("id_token", .string(try Replies.idToken(["iat": .null]))),
            ("id_token", .string(try Replies.idToken(["at_hash": "AAAAAAAAAAAAAAAAAAAAAA"]))),
        ]
        for (name, value) in others {
            var script = Script()
            try script.advance(to: "call(token)")
            #expect(try script.respond(Replies.tokens([name: value])) == ["call(revocation)"])
            #expect(script.failure?.reason == "invalidIdToken", "\(name)")
            try expectRevocation(of: Secret.refreshToken, "refresh_token", in: script)
            #expect(try script.respond(Replies.revoked) == ["done"])
            #expect(!script.effects.contains { $0.action.name == "commit" })
        }
    }

    private func expectRevocation(of token: String, _ hint: String, in script: Script) throws {
        let call = try #require(script.calls(.revocation).last)
        #expect(call.url == "https://acme.idp.example/oauth2/revoke")
        #expect(call.bestEffort)
        guard case .form(let form) = call.body else { throw Unexpected.body }
        #expect(form["token"] == token)
        #expect(form["token_type_hint"] == hint)
        #expect(form["client_id"] == "app_demo")
    }

    @Test func `without a refresh token the access token is revoked`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        let access = try Replies.accessToken()
        try script.respond(Replies.tokens(["refresh_token": .null, "token_type": "Bearer"]))
        try expectRevocation(of: access, "access_token", in: script)
    }

    @Test func `a malformed success is the server's failure, and what can be read of it is revoked`() throws {
        let wrong: [(String, JSON)] = [
            ("access_token", .null), ("access_token", 7), ("access_token", "two words"), ("token_type", .null),
            ("expires_in", "300"), ("expires_in", .null), ("expires_in", 0), ("refresh_token", 7), ("scope", 7),
        ]
        for (name, value) in wrong {
            var script = Script()
            try script.advance(to: "call(token)")
            let names = try script.respond(Replies.tokens([name: value]))
            #expect(names == ["signCeremony(abort)", "call(revocation)"], "\(name)")
            #expect(script.failure?.reason == "server", "\(name)")
            try script.finish()
            #expect(script.calls(.abort).count == 1)
            #expect(!script.effects.contains { $0.action.name == "commit" })
        }
    }

    @Test func `without a revocation endpoint nothing is revoked and nothing hangs`() throws {
        var script = Script()
        try script.start()
        try script.send(.discovered(script.awaited(), Phone.serverMetadata(["revocation_endpoint": .null])))
        try script.advance(to: "call(token)")
        #expect(try script.respond(Replies.tokens(["token_type": "Bearer"])) == ["done"])
    }

    @Test func `a token type in other letters, an opaque token and unsaid scopes are fine`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        let answer = try Replies.tokens([
            "token_type": "dpop", "access_token": "opaque_token", "scope": .null, "refresh_token": .null,
            "a_member_of_tomorrow": true,
        ])
        #expect(try script.respond(answer) == ["commit"])
        guard case .commit(let session) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(session.scope == ["openid", "email", "offline_access"])
        #expect(session.refreshToken == nil)
    }

    @Test func `a session the phone cannot store is revoked`() throws {
        var script = Script()
        try script.advance(to: "commit")
        #expect(try script.send(.keyUnavailable(script.awaited())) == ["call(revocation)"])
        #expect(script.failure == .keyUnavailable)
    }
}
