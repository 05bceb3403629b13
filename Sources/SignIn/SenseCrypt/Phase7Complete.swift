internal import Encoding
internal import OAuth
internal import Profiles

// Call 3: the completion, which answers the code (SenseCrypt wire, section 6). It is safe to send again: the same
// proof brings the same code, or a replacement that revokes what a lost exchange issued.

/// Waits for the answer to call 3.
struct Completing: Codable, Sendable, Equatable {
    /// How often a completion is sent again because the tokens did not come.
    static let repairLimit = 2

    let proof: Proof
    var sending: Sending
    /// How often it was sent again because the tokens did not come.
    var repairs: Int
}

extension SenseCryptSignIn {
    mutating func sendCompletion(
        _ proof: Proof, repairs: Int = 0, attempt: Int = 1, nonceAnswered: Bool = false
    ) -> [Effect] {
        let name = config.wire.members.challengeForm
        let form = FormFields([
            ("response_type", "code"), ("client_id", config.clientID), ("auth_session", proof.session.handle),
            (name.ceremonyProof, proof.ceremonyProof), (name.faceToken, proof.faceToken),
        ])
        let effect = emit(
            .call(
                Call(
                    purpose: .completion, attempt: attempt, url: proof.session.endpoints.challenge, body: .form(form),
                    needsDPoP: true, bestEffort: false)))
        let sending = Sending(effect: effect.id, attempt: attempt, nonceAnswered: nonceAnswered)
        phase = .completing(Completing(proof: proof, sending: sending, repairs: repairs))
        return [effect]
    }

    mutating func completing(_ phase: Completing, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .responded(_, let response): return completed(phase, response, at: now)
        case .lost:
            guard phase.sending.attempt < 2 else { return park(phase.proof, .network) }
            return sendCompletion(phase.proof, repairs: phase.repairs, attempt: phase.sending.attempt + 1)
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.proof.session)
        case .cancel: return fail(.cancelled, in: phase.proof.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .ceremonySigned, .captured,
            .faceTokenOpened, .faceTokenNotOpened,
            .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            return []
        }
    }

    private mutating func completed(_ phase: Completing, _ response: CallResponse, at now: Instant) -> [Effect] {
        let session = phase.proof.session
        if let trouble = response.trouble(at: now) { return park(phase.proof, ParkCause(trouble)) }
        do throws(AnswerError) {
            switch try ChallengeAnswer(response) {
            case .code(let code): return redeem(code, phase.proof, repairs: phase.repairs)
            case .goOn:
                return fail(.server(message: "the completion was answered with another challenge"), in: session)
            case .refused(let error) where error.code == .useDPoPNonce:
                if let reason = response.brokenNonceChallenge(answeredBefore: phase.sending.nonceAnswered) {
                    return fail(.server(message: reason), in: session)
                }
                return sendCompletion(
                    phase.proof, repairs: phase.repairs, attempt: phase.sending.attempt, nonceAnswered: true)
            case .refused(let error): return fail(.refusal(of: .completion, error, wire: config.wire), in: session)
            }
        } catch {
            return fail(.server(message: "completion: \(error.description)"), in: session)
        }
    }
}
