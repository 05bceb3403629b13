import Encoding
import Engine
import HTTP
import Profiles
import SignIn
import Transport

/// The signed device ceremony: at the fetch of the face token, and what is alike at the completion.
extension Row {
    static let ceremonies: [Row] = [
        both("ceremony.typ", "the typ of a ceremony request is its own", .ceremonyTypOther),
        both("ceremony.alg", "a ceremony request is ES256", .ceremonyAlgNone),
        both("ceremony.act", "act is that of the call", .ceremonyActOther),
        both("ceremony.aud", "aud is the issuer", .ceremonyAudienceOther),
        fetch("ceremony.session", "wire 2", "ash names a session", [.ashWrong]),
        fetch(
            "ceremony.iat", "wire 2", "iat is between the session's start and now",
            [.ceremonyIatOld, .ceremonyIatFuture]),
        fetch("ceremony.key", "wire 2", "the key is an enrolled one", [.ceremonyOtherKey]),
        fetch(
            "ceremony.signature", "wire 2, D17", "the signature is of the device key",
            [.ceremonyFlippedBit, .ceremonyDER]),
        fetch("ceremony.cer", "wire 2", "cer is the session's ceremony", [.ceremonyOther]),
        fetch("ceremony.chl", "wire 2", "chl is the session's challenge", [.challengeWrong]),
        fetch("ceremony.jkt", "wire 2", "jkt is the DPoP key of the session", [.ceremonyJKTOther]),
        Row("ceremony.user", "wire 3", "a session serves the user its hint named, a decoy nobody") {
            lab, score async throws(ProbeFault) in
            let decoy = try await lab.sessionHinting(lab.strangerAddress)
            let fetch = try await decoy.advance(to: .faceToken)
            score.refused("a decoy's face token", try await lab.fire(try lab.request(fetch)), [403], ["access_denied"])
        },
        Row("ceremony.uniform", "wire 2", "every refusal of a ceremony is the same", uniform),
        Row("attempt.repeat", "wire 5", "the same report again is not counted twice") {
            lab, score async throws(ProbeFault) in
            let stage = try await Stage(at: .attempt, in: lab)
            let (first, second) = (
                try await lab.fire(try await stage.request(in: lab)),
                try await lab.fire(try await stage.request(in: lab))
            )
            let name = lab.setup.profile.members.attemptAnswer.attemptsLeft
            let left = first.json?[name]?.int
            score.accepted("a mismatch", first)
            score.check(
                "the same report again", second.json?[name]?.int == left && left != nil,
                expected: "\(name) \(left ?? -1)",
                got: second.json?[name]?.int.map { "\(name) \($0)" } ?? second.summary)
        },
        Row("attempt.n", "wire 5", "a new report has a new number") { lab, score async throws(ProbeFault) in
            let stage = try await Stage(at: .attempt, in: lab)
            guard let call = stage.held else { return }
            score.accepted("a mismatch", try await lab.fire(try await stage.request(in: lab)))
            let again = try lab.ceremonyCall(
                .attempt, like: call, try lab.ceremony(like: try lab.ceremony(of: call), act: nil))
            score.refused(
                "another report of the same number", try await lab.fire(try lab.request(again)), [400],
                ["invalid_request"])
        },
        Row("attempt.budget", "wire 5", "the third mismatch ends the session", budget),
        Row("session.live", "wire 2", "an aborted session takes no more requests") {
            lab, score async throws(ProbeFault) in
            let flow = ProbeFlow(lab)
            let call = try await flow.advance(to: .completion)
            let abort = try await lab.fire(try lab.request(try lab.abort(sessionOf: call)))
            score.accepted("abort", abort)
            score.refused(
                "completion behind an abort", try await lab.exchange(call), [400, 403],
                ["invalid_session", "access_denied"])
            score.refused(
                "abort behind an abort", try await lab.fire(try lab.request(try lab.abort(sessionOf: call))),
                [400, 403],
                ["invalid_session", "access_denied"])
        },
    ]

    /// A wrong at the fetch and at the completion, which are read alike.
    private static func both(_ rule: String, _ wanted: String, _ wrong: WrongOnPurpose) -> Row {
        Row(rule, "wire 2", wanted) { lab, score async throws(ProbeFault) in
            for place in [WrongOnPurpose.Place.faceToken, .completion] { try await judge(wrong, place, lab, score) }
        }
    }

    private static func fetch(_ rule: String, _ source: String, _ wanted: String, _ wrongs: [WrongOnPurpose]) -> Row {
        Row(rule, source, wanted) { lab, score async throws(ProbeFault) in
            for wrong in wrongs { try await judge(wrong, .faceToken, lab, score) }
        }
    }

    /// Judges a wrong by the table of what a good server makes of it.
    static func judge(
        _ wrong: WrongOnPurpose, _ place: WrongOnPurpose.Place, _ lab: Lab, _ score: Score
    ) async throws(ProbeFault) {
        guard let expected = wrong.expectation(at: place) else { return }
        try await score.attempt(wrong, at: place, lab) { probe, answer in
            score.refused(probe, answer, expected.statuses, expected.errors)
        }
    }

    /// The refusals that must not tell why, compared byte for byte.
    private static func uniform(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        var seen: [(probe: String, answer: String)] = []
        for wrong in [WrongOnPurpose.ashWrong, .challengeWrong, .ceremonyOther, .ceremonyOtherKey, .ceremonyFlippedBit]
        {
            let answer = try await lab.mutate(wrong, at: .faceToken)
            guard !answer.isAccepted else { continue }
            seen.append((wrong.rawValue, "\(answer.status) \(String(decoding: answer.response.body, as: UTF8.self))"))
        }
        guard let first = seen.first, seen.count > 1 else { return score.skip("there are not two refusals to compare") }
        for (probe, answer) in seen.dropFirst() {
            score.check(
                "\(probe) and \(first.probe)", answer == first.answer, expected: "the same answer",
                got: answer == first.answer ? "the same answer" : "another answer")
        }
    }

    private static func budget(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let flow = ProbeFlow(lab, scans: [false, false, false])
        for number in 1...3 {
            let call = try await flow.advance(to: .attempt)
            let answer = try await lab.fire(try lab.request(call))
            flow.accept(answer)
            score.accepted("mismatch \(number)", answer)
            guard number == 3 else { continue }
            let left = answer.json?[lab.setup.profile.members.attemptAnswer.attemptsLeft]?.int
            score.check(
                "attempts left behind the third", left == 0, expected: "0", got: left.map(String.init) ?? "nothing")
            score.refused(
                "the face token behind the third", try await lab.fire(try lab.request(try lab.fetch(sessionOf: call))),
                [400, 403], ["invalid_session", "access_denied"])
        }
    }
}

extension Lab {
    /// A sign-in whose start names somebody, and whose phone goes on all the same.
    func sessionHinting(_ address: String) async throws(ProbeFault) -> ProbeFlow {
        let flow = ProbeFlow(self)
        let call = try await flow.advance(to: .start)
        var answer = try await fire(try request(call) { $0.set("login_hint", address) })
        if answer.error == "use_dpop_nonce" {
            answer = try await fire(try request(call) { $0.set("login_hint", address) })
        }
        flow.accept(answer)
        return flow
    }
}
