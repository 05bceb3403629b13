import Device
import Encoding
import SignIn
import Testing

@Suite struct FaceRuleTests {
    static let live = Capture.live(SampleID(rawValue: "stranger"))

    /// A mismatch, reported and answered.
    private func mismatch(_ script: inout Script, answer: CallResponse) throws -> [String] {
        try script.capture(Self.live)
        #expect(try script.send(.faceTokenNotOpened(script.awaited())) == ["signCeremony(attempt)"])
        #expect(try script.send(.ceremonySigned(script.awaited(), jws: "j.w.s")) == ["call(attempt)"])
        return try script.respond(answer)
    }

    @Test func `three mismatches are reported one by one, and the third ends it without a fourth scan`() throws {
        var script = Script()
        try script.advance(to: "capture")
        #expect(try mismatch(&script, answer: Replies.attemptsLeft(2)) == ["capture"])
        #expect(script.state == .awaitingFace(attemptsLeft: 2, lastOutcome: .mismatch))
        #expect(try mismatch(&script, answer: Replies.attemptsLeft(1)) == ["capture"])
        #expect(script.state == .awaitingFace(attemptsLeft: 1, lastOutcome: .mismatch))
        #expect(try mismatch(&script, answer: Replies.attemptsLeft(0)) == ["done"])
        #expect(script.failure == .faceMismatch)
        let acts = script.effects.compactMap { effect -> CeremonyAct? in
            if case .signCeremony(let claims, _) = effect.action { claims.act } else { nil }
        }
        #expect(acts == [.faceToken, .attempt(number: 1), .attempt(number: 2), .attempt(number: 3)])
        #expect(script.calls(.attempt).allSatisfy { $0.url.hasSuffix("/device-ceremony/attempt") && !$0.needsDPoP })
        #expect(script.effects.filter { $0.action.name == "capture" }.count == 3)
    }

    @Test func `the attempts shown while a mismatch is reported already count it`() throws {
        var script = Script()
        try script.advance(to: "capture")
        try script.capture(Self.live)
        #expect(script.state == .checkingFace(attemptsLeft: 3))
        try script.send(.faceTokenNotOpened(script.awaited()))
        #expect(script.state == .checkingFace(attemptsLeft: 2))
    }

    @Test func `a match after two mismatches signs in`() throws {
        var script = Script()
        try script.advance(to: "capture")
        _ = try mismatch(&script, answer: Replies.attemptsLeft(2))
        _ = try mismatch(&script, answer: Replies.attemptsLeft(1))
        try script.finish()
        #expect(script.state.name == "signedIn")
    }

    @Test func `a server that counts lower ends it earlier, and one that counts higher is not believed`() throws {
        var lower = Script()
        try lower.advance(to: "capture")
        #expect(try mismatch(&lower, answer: Replies.attemptsLeft(0)) == ["done"])
        #expect(lower.failure == .faceMismatch)

        var higher = Script()
        try higher.advance(to: "capture")
        for left in [2, 1] {
            #expect(try mismatch(&higher, answer: Replies.attemptsLeft(3)) == ["capture"])
            #expect(higher.state == .awaitingFace(attemptsLeft: left, lastOutcome: .mismatch))
        }
        // The server does not hold its session for over, so it is told.
        #expect(try mismatch(&higher, answer: Replies.attemptsLeft(3)) == ["signCeremony(abort)"])
        #expect(higher.failure == .faceMismatch)
    }

    @Test func `a report that does not arrive is sent again as it is, then our own count holds`() throws {
        var script = Script()
        try script.advance(to: "capture")
        try script.capture(Self.live)
        try script.send(.faceTokenNotOpened(script.awaited()))
        try script.send(.ceremonySigned(script.awaited(), jws: "j.w.s"))
        #expect(try script.lose() == ["call(attempt)"])
        #expect(script.calls(.attempt)[0].body == script.calls(.attempt)[1].body)
        #expect(try script.lose() == ["capture"])
        #expect(script.state == .awaitingFace(attemptsLeft: 2, lastOutcome: .mismatch))
    }

    @Test func `a third mismatch whose report is answered badly is still a mismatch, and aborted`() throws {
        for status in [429, 503] {
            var script = Script()
            try script.advance(to: "capture")
            let bad = CallResponse(status: status, mediaType: nil, body: [])
            #expect(try mismatch(&script, answer: bad) == ["capture"])
            #expect(try mismatch(&script, answer: bad) == ["capture"])
            #expect(try mismatch(&script, answer: bad) == ["signCeremony(abort)"])
            #expect(script.failure == .faceMismatch)
        }
        var script = Script()
        try script.advance(to: "capture")
        _ = try mismatch(&script, answer: Replies.attemptsLeft(2))
        _ = try mismatch(&script, answer: Replies.attemptsLeft(1))
        #expect(try mismatch(&script, answer: Replies.html) == ["signCeremony(abort)"])
        #expect(script.failure == .faceMismatch)
    }

    @Test func `each refusal of a report has its reason`() throws {
        let cases: [(CallResponse, String)] = [
            (Replies.error(400, "invalid_session"), "sessionExpired"),
            (Replies.error(403, "access_denied"), "notEnrolled"),
            (Replies.error(400, "unauthorized_client"), "notAllowed"),
            (Replies.error(400, "invalid_request"), "server"),
            (Replies.json(200, ["attempts_left": "two"]), "server"),
            (Replies.html, "server"),
        ]
        for (response, reason) in cases {
            var script = Script()
            try script.advance(to: "capture")
            _ = try mismatch(&script, answer: response)
            #expect(script.failure?.reason == reason, "\(response)")
        }
    }

    @Test func `liveness failures and bad captures cost nothing`() throws {
        var script = Script()
        try script.advance(to: "capture")
        #expect(try script.capture(.livenessFailed(reason: "photo")) == ["capture"])
        #expect(script.state == .awaitingFace(attemptsLeft: 3, lastOutcome: .livenessFailed(reason: "photo")))
        for fault in BadCapture.allCases {
            #expect(try script.capture(.badCapture(fault)) == ["capture"])
            #expect(script.state == .awaitingFace(attemptsLeft: 3, lastOutcome: .badCapture(fault)))
        }
        #expect(script.calls(.attempt).isEmpty)
        let numbers = script.effects.compactMap { effect -> Int? in
            if case .capture(let number) = effect.action { number } else { nil }
        }
        #expect(numbers == Array(1...7))
        try script.finish()
        #expect(script.state.name == "signedIn")
    }

    @Test func `a camera that never sees a live face is given up on in the end`() throws {
        for (capture, reason) in [
            (Capture.livenessFailed(reason: "mask"), "livenessFailed"), (.badCapture(.noFace), "cancelled"),
        ] {
            var script = Script()
            try script.advance(to: "capture")
            var captures = 0
            while script.names == ["capture"], captures < 1000 {
                captures += 1
                try script.capture(capture)
            }
            #expect(captures == 64)
            #expect(script.failure?.reason == reason)
        }
    }

    @Test func `a live face starts the patience with a camera anew`() throws {
        var script = Script()
        try script.advance(to: "capture")
        for _ in 0..<63 { try script.capture(.badCapture(.noFace)) }
        #expect(try mismatch(&script, answer: Replies.attemptsLeft(2)) == ["capture"])
        for _ in 0..<63 { #expect(try script.capture(.badCapture(.noFace)) == ["capture"]) }
        try script.capture(.badCapture(.noFace))
        #expect(script.failure == .cancelled)
    }

    @Test func `closing the capture cancels, or right after a liveness failure is that failure`() throws {
        let cases: [([Capture], SignInFailure)] = [
            ([.closed], .cancelled), ([.livenessFailed(reason: "photo"), .closed], .livenessFailed),
            ([.badCapture(.blurred), .closed], .cancelled),
            ([.livenessFailed(reason: "photo"), .badCapture(.tooFar), .closed], .cancelled),
        ]
        for (captures, failure) in cases {
            var script = Script()
            try script.advance(to: "capture")
            for capture in captures { try script.capture(capture) }
            #expect(script.failure == failure)
            #expect(script.names == ["signCeremony(abort)"])
            guard case .signCeremony(let claims, _) = try #require(script.last.last).action else {
                throw Unexpected.body
            }
            #expect(claims.act == .abort(reason: failure.reason))
        }
    }

    @Test func `closing the capture after a mismatch cancels`() throws {
        var script = Script()
        try script.advance(to: "capture")
        _ = try mismatch(&script, answer: Replies.attemptsLeft(2))
        try script.capture(.closed)
        #expect(script.failure == .cancelled)
    }

    @Test func `a face token that no face can open is the server's failure and costs no attempt`() throws {
        for name in ["openFaceToken", "runPKI(sign)", "rotateFaceToken"] {
            var script = Script(config: name == "runPKI(sign)" ? Phone.shared.signingConfig : Phone.shared.config)
            try script.advance(to: name)
            #expect(
                try script.send(.faceTokenUnusable(script.awaited(), rule: "its bytes changed"))
                    == ["signCeremony(abort)"])
            #expect(script.failure == .server(message: "the face token: its bytes changed"))
            #expect(script.calls(.attempt).isEmpty)
        }
    }
}
