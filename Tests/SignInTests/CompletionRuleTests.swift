import Device
import Encoding
import SignIn
import Testing

@Suite struct CompletionRuleTests {
    @Test func `a lost completion is sent once more, then the flow parks`() throws {
        var script = Script()
        try script.advance(to: "call(completion)")
        #expect(try script.lose() == ["call(completion)"])
        #expect(script.state == .postingResult)
        #expect(try script.lose().isEmpty)
        #expect(script.state == .postingResultFailed(.network))
        #expect(script.calls(.completion).map(\.attempt) == [1, 2])
        #expect(!script.flow.isFinished)
    }

    @Test func `a completion answered 5xx or 429 parks at once`() throws {
        let cases: [(CallResponse, ParkCause)] = [
            (CallResponse(status: 503, mediaType: nil, body: []), .server(status: 503)),
            (CallResponse(status: 500, mediaType: "text/html", body: []), .server(status: 500)),
            (
                CallResponse(status: 429, mediaType: nil, retryAfter: "7", body: []),
                .rateLimited(retryAfterSeconds: 7)
            ),
            (CallResponse(status: 429, mediaType: nil, body: []), .rateLimited(retryAfterSeconds: nil)),
        ]
        for (response, cause) in cases {
            var script = Script()
            try script.advance(to: "call(completion)")
            #expect(try script.respond(response).isEmpty)
            #expect(script.state == .postingResultFailed(cause))
        }
    }

    @Test func `a retry sends the same proof byte for byte, costs no scan and may be repeated`() throws {
        var script = Script()
        try script.advance(to: "call(completion)")
        for _ in 0..<4 {
            try script.respond(CallResponse(status: 503, mediaType: nil, body: []))
            #expect(try script.send(.retry) == ["call(completion)"])
            #expect(script.state == .postingResult)
        }
        try script.lose()
        try script.lose()
        #expect(script.state == .postingResultFailed(.network))
        try script.send(.retry)
        let calls = script.calls(.completion)
        #expect(Set(calls.map(\.body)).count == 1)
        #expect(script.effects.filter { $0.action.name == "capture" }.count == 1)
        #expect(script.effects.filter { $0.action.name == "signCeremony(complete)" }.count == 1)
        try script.finish()
        #expect(script.state.name == "signedIn")
    }

    @Test func `a retry long after the session's life is allowed, and the server says it is over`() throws {
        var script = Script()
        try script.advance(to: "call(completion)")
        try script.respond(CallResponse(status: 503, mediaType: nil, body: []))
        script.now = script.now.adding(seconds: 100_000)
        #expect(try script.send(.retry) == ["call(completion)"])
        #expect(try script.respond(Replies.error(400, "invalid_session")) == ["done"])
        #expect(script.failure == .sessionExpired)
    }

    @Test func `a retry is ignored anywhere but when parked`() throws {
        for name in ["discover", "call(start)", "capture", "call(completion)", "call(token)", "commit"] {
            var script = Script()
            try script.advance(to: name)
            let before = script.state
            #expect(try script.send(.retry).isEmpty)
            #expect(script.state == before)
        }
    }

    @Test func `a completion asked for a nonce is the same call again, once for each attempt`() throws {
        var script = Script()
        try script.advance(to: "call(completion)")
        #expect(try script.respond(Replies.nonceWanted) == ["call(completion)"])
        #expect(script.calls(.completion)[0] == script.calls(.completion)[1])
        #expect(try script.lose() == ["call(completion)"])
        #expect(try script.respond(Replies.nonceWanted) == ["call(completion)"])
        #expect(try script.respond(Replies.nonceWanted) == ["signCeremony(abort)"])
        #expect(script.failure == .server(message: "the server asked for a fresh DPoP nonce twice for one call"))
    }

    @Test func `each refusal of a completion has its reason`() throws {
        let cases: [(CallResponse, String, aborts: Bool)] = [
            (Replies.error(400, "invalid_session"), "sessionExpired", false),
            (Replies.error(400, "face_token_stale"), "faceTokenStale", true),
            (Replies.error(400, "invalid_ceremony_proof"), "server", true),
            (Replies.error(403, "access_denied"), "notAllowed", false),
            (Replies.error(400, "unauthorized_client"), "notAllowed", false),
            (Replies.error(401, "invalid_client"), "notAllowed", false),
            (Replies.error(400, "invalid_dpop_proof"), "server", true),
            (Replies.started, "server", true),
            (Replies.json(200, ["authorization_code": ""]), "server", true),
            (Replies.json(200, ["authorization_code": 7]), "server", true),
            (Replies.json(200, ["code": "c"]), "server", true),
            (Replies.html, "server", true),
            (Replies.json(302, [:]), "server", true),
        ]
        for (response, reason, aborts) in cases {
            var script = Script()
            try script.advance(to: "call(completion)")
            #expect(try script.respond(response) == [aborts ? "signCeremony(abort)" : "done"])
            #expect(script.failure?.reason == reason, "\(response)")
        }
    }
}
