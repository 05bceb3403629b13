import Encoding
import SignIn
import Testing

@Suite struct CancelTests {
    @Test func `a cancel before there is a session ends it without a call`() throws {
        var idle = Script()
        #expect(try idle.send(.cancel) == ["done"])
        #expect(idle.failure == .cancelled)
        for name in ["discover", "call(start)"] {
            var script = Script()
            try script.advance(to: name)
            #expect(try script.send(.cancel) == ["done"])
            #expect(script.failure == .cancelled)
        }
    }

    @Test(arguments: [
        "signCeremony(face-token)", "call(faceToken)", "capture", "openFaceToken", "runPKI(sign)",
        "rotateFaceToken",
        "signCeremony(complete)", "call(completion)",
    ])
    func `a cancel with a session aborts it, and late answers change nothing`(name: String) throws {
        var script = Script(config: name == "runPKI(sign)" ? Phone.shared.signingConfig : Phone.shared.config)
        try script.advance(to: name)
        let late = try #require(script.last.last)
        #expect(try script.send(.cancel) == ["signCeremony(abort)"])
        #expect(script.failure == .cancelled)
        #expect(!script.flow.isFinished)
        let sign = try script.awaited()
        #expect(try script.send(#require(try GoodWorld.answer(to: late))).isEmpty)
        #expect(try script.send(.ceremonySigned(sign, jws: "j.w.s")) == ["call(abort)"])
        #expect(try script.lose() == ["done"])
        #expect(script.flow.isFinished)
    }

    @Test func `a cancel while a mismatch is reported aborts`() throws {
        for signed in [false, true] {
            var script = Script()
            try script.advance(to: "openFaceToken")
            try script.send(.faceTokenNotOpened(script.awaited()))
            if signed { try script.send(.ceremonySigned(script.awaited(), jws: "j.w.s")) }
            #expect(try script.send(.cancel) == ["signCeremony(abort)"])
            #expect(script.failure == .cancelled)
        }
    }

    @Test func `a cancel of a parked flow aborts`() throws {
        var script = Script()
        try script.advance(to: "call(completion)")
        try script.respond(CallResponse(status: 500, mediaType: nil, body: []))
        #expect(try script.send(.cancel) == ["signCeremony(abort)"])
        #expect(script.failure == .cancelled)
    }

    @Test func `tokens that come after a cancel are discarded and revoked`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        let token = try script.awaited()
        #expect(try script.send(.cancel) == ["signCeremony(abort)"])
        let sign = try script.awaited()
        #expect(try script.send(.responded(token, Replies.tokens())) == ["call(revocation)"])
        let revocation = try script.awaited()
        #expect(try script.send(.ceremonySigned(sign, jws: "j.w.s")) == ["call(abort)"])
        #expect(try script.respond(Replies.aborted).isEmpty)
        #expect(!script.flow.isFinished)
        #expect(try script.send(.responded(revocation, Replies.revoked)) == ["done"])
        #expect(script.failure == .cancelled)
        #expect(!script.effects.contains { $0.action.name == "commit" })
    }

    @Test func `a token call that fails or is lost after a cancel leaves nothing to revoke`() throws {
        for lost in [true, false] {
            var script = Script()
            try script.advance(to: "call(token)")
            let token = try script.awaited()
            try script.send(.cancel)
            let sign = try script.awaited()
            try script.send(
                lost ? .lost(token, detail: "gone") : .responded(token, Replies.error(400, "invalid_grant")))
            try script.send(.ceremonySigned(sign, jws: "j.w.s"))
            #expect(try script.respond(Replies.aborted) == ["done"])
            #expect(script.calls(.revocation).isEmpty)
        }
    }

    @Test func `a lost revocation is sent once more`() throws {
        var script = Script()
        try script.advance(to: "call(token)")
        #expect(try script.respond(Replies.tokens(["token_type": "Bearer"])) == ["call(revocation)"])
        #expect(try script.lose() == ["call(revocation)"])
        #expect(try script.lose() == ["done"])
        #expect(script.calls(.revocation).map(\.attempt) == [1, 2])
    }

    @Test func `an abort that cannot be signed is let go`() throws {
        var script = Script()
        try script.advance(to: "capture")
        try script.send(.cancel)
        #expect(try script.send(.keyUnavailable(script.awaited())) == ["done"])
    }

    @Test func `a cancel while the session is stored is too late`() throws {
        var script = Script()
        try script.advance(to: "commit")
        #expect(try script.send(.cancel).isEmpty)
        try script.finish()
        #expect(script.state.name == "signedIn")
        #expect(try script.send(.cancel).isEmpty)
        #expect(script.state.name == "signedIn")
    }

    @Test func `a second cancel changes nothing`() throws {
        var script = Script()
        try script.advance(to: "capture")
        try script.send(.cancel)
        #expect(try script.send(.cancel).isEmpty)
        try script.finish()
        #expect(try script.send(.cancel).isEmpty)
    }
}
