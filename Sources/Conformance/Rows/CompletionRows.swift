import Encoding
import Engine
import HTTP
import Profiles
import SignIn
import Transport

/// Completions: what must fit, and what the same proof gives again.
extension Row {
    static let completions: [Row] = [
        completion("completion.session", "wire 6", "auth_session is one of the tenant's", [.sessionInvented]),
        Row(
            "completion.dpop_key", "draft first-party-apps 9.5.1, M16",
            "the DPoP key is the one that opened the session"
        ) { lab, score async throws(ProbeFault) in
            try await judge(.otherKey, .completion, lab, score)
            // Never progress: the session is still good for the phone it belongs to.
            score.accepted(
                "the right key behind it", try await lab.exchange(try await lab.stage(.completion).heldCall()))
            lab.forgetStages()
        },
        completion("completion.kid", "wire 6", "the proof is of the bound device", [.ceremonyOtherKey]),
        completion("completion.cer", "wire 6", "cer is the session's ceremony", [.ceremonyOther]),
        completion("completion.chl", "wire 6", "chl is the session's challenge", [.challengeWrong]),
        completion("completion.ash", "wire 6", "ash is the hash of auth_session", [.ashWrong]),
        completion("completion.jkt", "wire 6", "jkt is the DPoP key of the session", [.ceremonyJKTOther]),
        Row("completion.fth", "wire 6", "fth is the hash of face_token", otherFaceToken),
        completion(
            "completion.iat", "wire 6", "iat is between the session's start and now",
            [.ceremonyIatOld, .ceremonyIatFuture]),
        completion(
            "completion.signature", "wire 6, D17", "the proof is signed by the device key",
            [.ceremonyFlippedBit, .ceremonyDER]),
        Row("completion.generation", "wire 6", "gen is the current generation") {
            lab, score async throws(ProbeFault) in
            // A face token of the first generation has no older one.
            _ = try await ProbeFlow(lab).finish()
            lab.forgetStages()
            try await judge(.generationOld, .completion, lab, score)
        },
        Row("completion.repeat", "wire 6", "a completed session takes the same proof only") {
            lab, score async throws(ProbeFault) in
            let (call, _) = try await completed(lab)
            let other = try lab.ceremony(like: try lab.ceremony(of: call), act: nil)
            let name = lab.setup.profile.members.challengeForm.ceremonyProof
            let answer = try await lab.fire(try lab.request(call) { $0.set(name, other) })
            score.refused("another proof", answer, [400, 403], ["invalid_session", "access_denied"])
        },
        Row("completion.same_code", "wire 6", "the same proof again gives the same code") {
            lab, score async throws(ProbeFault) in
            let (call, code) = try await completed(lab)
            let again = try await lab.exchange(call)
            score.accepted("the same proof", again)
            let isSame = again.json?["authorization_code"]?.string == code
            score.check("its code", isSame, expected: "the same", got: isSame ? "the same" : "another")
        },
        Row("completion.replacement", "wire 6", "the same proof gives a replacement for a redeemed code") {
            lab, score async throws(ProbeFault) in
            let (flow, call, code) = try await redeemed(lab)
            let again = try await lab.exchange(call)
            score.accepted("the same proof", again)
            let other = again.json?["authorization_code"]?.string
            score.check(
                "its code", other != nil && other != code, expected: "another",
                got: other == nil ? "none" : other == code ? "the same" : "another")
            guard let other, other != code else { return }
            let token = try await flow.advance(to: .token)
            let answer = try await lab.fire(try lab.request(token) { $0.set("code", other) })
            score.accepted("redeeming it", answer)
        },
        Row("completion.replacement_revokes", "wire 6", "a replacement revokes what the earlier code issued") {
            lab, score async throws(ProbeFault) in
            let (flow, call, _) = try await redeemed(lab, keepsTokens: true)
            score.accepted("the same proof", try await lab.exchange(call))
            guard let tokens = flow.tokens else { throw .broken("a code gave no tokens") }
            try await revoked(tokens, "behind the replacement", lab, score)
        },
        Row("completion.replacements", "wire 6", "at most three replacements a session") {
            lab, score async throws(ProbeFault) in
            let (flow, call, _) = try await redeemed(lab)
            let token = try await flow.advance(to: .token)
            for number in 1...3 {
                let again = try await lab.exchange(call)
                score.accepted("replacement \(number)", again)
                guard let code = again.json?["authorization_code"]?.string else { return }
                _ = try await lab.fire(try lab.request(token) { $0.set("code", code) })
            }
            score.refused(
                "a fourth replacement", try await lab.exchange(call), [400, 403], ["invalid_session", "access_denied"])
        },
    ]

    private static func completion(
        _ rule: String, _ source: String, _ wanted: String, _ wrongs: [WrongOnPurpose]
    ) -> Row {
        Row(rule, source, wanted) { lab, score async throws(ProbeFault) in
            for wrong in wrongs { try await judge(wrong, .completion, lab, score) }
        }
    }

    /// Another sealing of the same face token beside the proof of the first, before the completion and behind it.
    ///
    /// It opens all the same: a server that takes it must not leave the phone without its face token.
    private static func otherFaceToken(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let flow = ProbeFlow(lab)
        let call = try await flow.advance(to: .completion)
        let other = Base64URL.encode(try flow.anotherSeal())
        for (probe, isBehind) in [("another face token", false), ("another face token behind the completion", true)] {
            if isBehind { score.accepted("the right one", try await lab.exchange(call)) }
            let name = lab.setup.profile.members.challengeForm.faceToken
            let answer = try await lab.fire(try lab.request(call) { $0.set(name, other) })
            score.refused(
                probe, answer, [400, 403],
                ["invalid_ceremony_proof", "invalid_request"] + (isBehind ? ["invalid_session"] : []))
            guard !answer.isAccepted else { return }
        }
    }

    /// A completed session: the completion as it was sent, and its code.
    private static func completed(_ lab: Lab) async throws(ProbeFault) -> (Call, code: String) {
        let call = try await ProbeFlow(lab).advance(to: .completion)
        return (call, try await lab.exchange(call).text("authorization_code"))
    }

    /// A completed session whose code was redeemed; the flow is held before the token call all the same.
    private static func redeemed(
        _ lab: Lab, keepsTokens: Bool = false
    ) async throws(ProbeFault) -> (ProbeFlow, Call, code: String) {
        let flow = ProbeFlow(lab)
        let call = try await flow.advance(to: .completion)
        let token = try await flow.advance(to: .token)
        let code = token.value("code") ?? ""
        let answer = try await lab.exchange(token)
        guard answer.status == 200 else { throw .broken("a good code was answered \(answer.summary)") }
        if keepsTokens { flow.accept(answer) }
        return (flow, call, code)
    }

    /// Judges that nothing is left of what was issued: the refresh token where there is one, else the access token.
    static func revoked(
        _ tokens: Tokens, _ moment: String, _ lab: Lab, _ score: Score
    ) async throws(ProbeFault) {
        if let refresh = tokens.refresh {
            score.refused("the refresh token \(moment)", try await lab.refresh(refresh), [400], ["invalid_grant"])
        } else if lab.setup.api != nil {
            score.refused("the access token \(moment)", try await lab.callAPI(tokens.access), [401], ["invalid_token"])
        } else {
            throw .missing("there is neither a refresh token nor an API to see a revocation by")
        }
    }
}

extension Stage {
    /// The call that is held.
    func heldCall() throws(ProbeFault) -> Call {
        guard let held else { throw .own("nothing is held here") }
        return held
    }
}
