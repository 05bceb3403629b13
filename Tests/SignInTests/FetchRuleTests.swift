import Device
import Encoding
import SignIn
import Testing

@Suite struct FetchRuleTests {
    @Test func `a lost fetch is signed and run again on the same session, then the network is to blame`() throws {
        var script = Script()
        try script.advance(to: "call(faceToken)")
        #expect(try script.lose() == ["signCeremony(face-token)"])
        #expect(try script.send(.ceremonySigned(script.awaited(), jws: "second.j.ws")) == ["call(faceToken)"])
        #expect(script.calls(.faceToken).map(\.attempt) == [1, 2])
        #expect(script.calls(.start).count == 1)
        // The session may linger; it is not aborted over a network that does not answer.
        #expect(try script.lose() == ["done"])
        #expect(script.failure?.reason == "network")
    }

    @Test func `a server that fails or asks to wait ends the flow, and the session is aborted`() throws {
        for status in [429, 500, 503] {
            var script = Script()
            try script.advance(to: "call(faceToken)")
            let response = CallResponse(status: status, mediaType: nil, body: [])
            #expect(try script.respond(response) == ["signCeremony(abort)"])
            #expect(script.failure?.reason == "server")
            try script.finish()
            #expect(script.calls(.abort).count == 1)
        }
    }

    @Test func `the one uniform refusal means not enrolled, and the session is left to expire`() throws {
        var script = Script()
        try script.advance(to: "call(faceToken)")
        #expect(try script.respond(Replies.error(403, "access_denied")) == ["done"])
        #expect(script.failure == .notEnrolled)
    }

    @Test func `a hint without a key here makes calls 1 and 2 with a throwaway key, then is not enrolled`() throws {
        for refused in [true, false] {
            var config = Phone.shared.config
            config.loginHint = "nobody@acme.example"
            var script = Script(config: config)
            try script.advance(to: "signCeremony(face-token)")
            guard case .signCeremony(_, .throwaway) = try #require(script.last.last).action else {
                throw Unexpected.body
            }
            #expect(try script.send(.ceremonySigned(script.awaited(), jws: "j.w.s")) == ["call(faceToken)"])
            try script.respond(refused ? Replies.error(403, "access_denied") : Replies.faceToken())
            #expect(script.failure == .notEnrolled)
            #expect(script.flow.isFinished)
            #expect(!script.effects.contains { $0.action.name == "capture" })
        }
    }

    @Test func `a password-protected face token aborts the session with a message that says so`() throws {
        var script = Script()
        try script.advance(to: "call(faceToken)")
        #expect(try script.respond(Replies.faceToken(passwordProtected: true)) == ["signCeremony(abort)"])
        #expect(script.failure?.message.contains("password-protected") == true)
        #expect(script.failure?.reason == "server")
        #expect(try script.send(.ceremonySigned(script.awaited(), jws: "j.w.s")) == ["call(abort)"])
        let call = try #require(script.calls(.abort).first)
        #expect(call.url == "https://acme.idp.example/device-ceremony/abort")
        #expect(call.bestEffort)
        #expect(!call.needsDPoP)
        #expect(try script.respond(Replies.aborted) == ["done"])
        #expect(!script.effects.contains { $0.action.name == "capture" })
    }

    @Test func `a session without attempts left shows no camera`() throws {
        var script = Script()
        try script.advance(to: "call(faceToken)")
        #expect(try script.respond(Replies.faceToken(attemptsLeft: 0)) == ["done"])
        #expect(script.failure == .faceMismatch)
    }

    @Test func `the server's count holds where it is the lower one`() throws {
        for (answered, shown) in [(1, 1), (2, 2), (3, 3), (9, 3)] as [(Int64, Int)] {
            var script = Script()
            try script.advance(to: "call(faceToken)")
            try script.respond(Replies.faceToken(attemptsLeft: answered))
            #expect(script.state == .awaitingFace(attemptsLeft: shown, lastOutcome: nil))
        }
    }

    @Test func `a damaged face token is refused before anybody is asked for a face`() throws {
        var bent = Phone.shared.sealed
        bent[bent.count / 2] ^= 1
        let damaged: [CallResponse] = [
            Replies.faceToken(sealed: bent), Replies.faceToken(sealed: [1]), Replies.faceToken(generation: 2),
        ]
        for response in damaged {
            var script = Script()
            try script.advance(to: "call(faceToken)")
            #expect(try script.respond(response) == ["signCeremony(abort)"])
            #expect(script.failure?.reason == "server")
        }
    }

    @Test func `each refusal of a fetch has its reason`() throws {
        let cases: [(CallResponse, String, aborts: Bool)] = [
            (Replies.error(400, "invalid_session"), "sessionExpired", false),
            (Replies.error(400, "unauthorized_client"), "notAllowed", false),
            (Replies.error(400, "invalid_request"), "server", true),
            (Replies.error(400, "use_dpop_nonce", nonce: "n"), "server", true),
            (Replies.html, "server", true),
            (Replies.json(200, [:]), "server", true),
            (Replies.json(204, [:]), "server", true),
            (Replies.json(403, ["message": "no"]), "server", true),
        ]
        for (response, reason, aborts) in cases {
            var script = Script()
            try script.advance(to: "call(faceToken)")
            #expect(try script.respond(response) == [aborts ? "signCeremony(abort)" : "done"])
            #expect(script.failure?.reason == reason, "\(response)")
        }
    }

    @Test func `every member of the answer is strict on its type`() throws {
        let wrong: [(String, JSON)] = [
            ("face_token", 7), ("face_token", "not base64url!"), ("face_token", ""), ("generation", "3"),
            ("generation", 0), ("generation", .double(3.5)), ("generation", 4_294_967_295), ("password_protected", 0),
            ("liveness_required", "yes"), ("attempts_left", -1), ("attempts_left", "3"), ("attempts_left", .null),
        ]
        for (name, value) in wrong {
            var body = try #require(try JSON(parsing: Replies.faceToken().body).object)
            body[name] = value
            var script = Script()
            try script.advance(to: "call(faceToken)")
            #expect(try script.respond(Replies.json(200, .object(body))) == ["signCeremony(abort)"])
            #expect(script.failure?.reason == "server", "\(name)")
        }
    }

    @Test func `a key that is gone ends the flow without an abort nobody could sign`() throws {
        for name in [
            "call(start)", "signCeremony(face-token)", "signCeremony(complete)", "call(completion)", "call(token)",
        ] {
            var script = Script()
            try script.advance(to: name)
            #expect(try script.send(.keyUnavailable(script.awaited())) == ["done"])
            #expect(script.failure == .keyUnavailable)
        }
    }
}
