import Encoding
import Testing

@testable import understudy

/// How single steps are told.
struct FlowNarratorTests {
    @Test(
        arguments: [
            (["kind": "state", "state": "starting"], "starting"),
            (
                ["kind": "state", "state": "awaitingFace", "attempts_left": 2, "outcome": "mismatch"],
                "awaitingFace (2 attempts left; last scan: mismatch)"
            ),
            (["kind": "state", "state": "checkingFace", "attempts_left": 1], "checkingFace (1 attempt left)"),
            (["kind": "state", "state": "failed", "reason": "network"], "failed (network)"),
            (["kind": "state", "state": "postingResultFailed", "cause": "server"], "postingResultFailed (server)"),
            (["kind": "scan", "outcome": "mismatch"], "  camera: mismatch, somebody else's face"),
            (["kind": "scan", "outcome": "badCapture:blurred"], "  camera: badCapture:blurred, no usable picture"),
            (["kind": "scan", "outcome": "cancel"], "  camera: cancel"),
            (["kind": "face", "event": "not opened"], "  the face does not open the face token"),
            (
                ["kind": "face", "event": "re-sealed", "generation": 4],
                "  the face token is sealed again, as generation 4"
            ),
            (["kind": "fault", "fault": "lose-reply", "call": "token"], "  fault as asked: lose-reply at token"),
            (
                [
                    "kind": "call", "call": "start", "attempt": 2, "method": "POST", "status": 403,
                    "url": "http://h.example/acme/oauth2/challenge", "error": "insufficient_authorization",
                ], "  start (attempt 2)  POST /acme/oauth2/challenge  403 insufficient_authorization"
            ),
            (
                ["kind": "call", "call": "token", "attempt": 1, "method": "POST", "url": "x", "lost": "timed out"],
                "  token  POST x  no answer: timed out"
            ),
        ] as [(JSON, String)])
    func `a step is one line`(step: JSON, expected: String) {
        var narrator = FlowNarrator()
        #expect(narrator.lines(step) == [expected])
    }

    @Test func `a step of a kind from a later version is shown as it is`() {
        var narrator = FlowNarrator()
        #expect(narrator.lines(["kind": "dance", "n": 1]) == [#"  dance: {"kind":"dance","n":1}"#])
    }

    @Test func `what servers say cannot steer the terminal`() {
        var narrator = FlowNarrator(verbose: true)
        let hostile: JSON = [
            "kind": "call", "call": "start", "attempt": 1, "method": "POST", "url": "http://h/\u{1b}]0;x\u{7}",
            "status": 400, "error": "a\u{1b}[2Jb", "error_description": "line\nbreak",
            "proved": [["header": "DPoP\r", "by": "k\u{9b}", "kid": "\u{1b}", "claims": ["\u{1b}n": "\u{1b}v"]]],
        ]
        for line in narrator.lines(hostile) {
            #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9b }, "\(line)")
        }
    }

    @Test func `a proof names its place, its key and what it is tied to, each meaning once`() {
        let call: JSON = [
            "kind": "call", "call": "attempt", "attempt": 1, "method": "POST", "url": "http://h/a", "status": 200,
            "proved": [
                ["body": "request", "by": "device key", "kid": "K1", "claims": ["act": "attempt", "ash": "S", "n": 1]]
            ],
        ]
        var narrator = FlowNarrator(verbose: true)
        #expect(
            narrator.lines(call) == [
                "  attempt  POST /a", "    proved    request in the body, signed by the device key K1",
                "              act attempt, n 1",
                "              ash S: the hash of auth_session: this sign-in session and no other",
                "    answered  200",
            ])
        #expect(narrator.lines(call)[2] == "              act attempt, ash S, n 1")
    }

    @Test func `a nonce that was asked for is told as such`() throws {
        func call(_ nonce: JSON?, _ error: JSON?) -> JSON {
            var claims = JSONObject([("htm", "POST")])
            claims["nonce"] = nonce
            var step = JSONObject([
                ("kind", "call"), ("call", "start"), ("method", "POST"), ("url", "http://h/a"), ("status", 400),
                ("proved", [["header": "DPoP", "by": "install key", "kid": "K", "claims": .object(claims)]]),
            ])
            step["error"] = error
            return .object(step)
        }
        var narrator = FlowNarrator(verbose: true)
        let refused = narrator.lines(call(nil, "use_dpop_nonce"))
        #expect(try #require(refused.last).contains("must carry a nonce of the server's"))
        let answered = narrator.lines(call("N", nil))
        #expect(answered.contains { $0.hasSuffix("nonce N: the nonce the server just asked for") })
        #expect(narrator.lines(call("N", nil)).contains { $0.contains("nonce N: the server's nonce") })
    }

    @Test(
        arguments: [
            ("short", "short"), ("aVeryLongRandomValue0123", "aVeryLongRan…"),
            ("authorization_code", "authorization_code"),
            ("http://127.0.0.1:7421/acme/oauth2", "http://127.0.0.1:7421/acme/oauth2"),
            ("Ada.Lovelace1815@example.com", "Ada.Lovelace1815@example.com"),
        ])
    func `random values are shortened and words are not`(value: String, shown: String) {
        #expect(Shortened.text(value) == shown)
    }

    @Test func `lines are divided at commas only`() {
        #expect(Shortened.wrap("aa bb, cc, dd", to: 9) == ["aa bb, cc,", "dd"])
        #expect(Shortened.wrap("", to: 9) == [""])
        #expect(Shortened.wrap("a long piece without any", to: 5) == ["a long piece without any"])
    }
}
