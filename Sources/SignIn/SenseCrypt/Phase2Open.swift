internal import Device
internal import Encoding
internal import OAuth
internal import Profiles

// Call 1: the start, which opens a session (SenseCrypt wire, section 3).

/// Waits for the answer to call 1.
struct Opening: Codable, Sendable, Equatable {
    let plan: StartPlan
    var sending: Sending
}

extension SenseCryptSignIn {
    mutating func sendStart(_ plan: StartPlan, evidence: String?, attempt: Int, nonceAnswered: Bool) -> [Effect] {
        var form = startForm(plan.ground)
        if let evidence { form.append(config.wire.members.challengeForm.attestation, evidence) }
        let effect = emit(
            .call(
                Call(
                    purpose: .start, attempt: attempt, url: plan.endpoints.challenge, body: .form(form),
                    needsDPoP: true, bestEffort: false)))
        let sending = Sending(effect: effect.id, attempt: attempt, nonceAnswered: nonceAnswered)
        phase = .opening(Opening(plan: plan, sending: sending))
        return [effect]
    }

    /// The absence of `auth_session` is what makes it a start.
    private func startForm(_ ground: Ground) -> FormFields {
        var form = FormFields([
            ("response_type", "code"), ("client_id", config.clientID),
            ("scope", config.requestedScopes.joined(separator: " ")),
        ])
        if let resource = config.resource { form.append("resource", resource) }
        if let hint = config.loginHint { form.append("login_hint", hint) }
        form.append("nonce", ground.secrets.nonce)
        form.append("code_challenge", PKCE.challenge(for: ground.secrets.codeVerifier))
        form.append("code_challenge_method", PKCE.method)
        return form
    }

    mutating func opening(_ phase: Opening, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .responded(_, let response): opened(phase, response, at: now)
        case .lost(_, let detail):
            phase.sending.attempt < 2
                ? send(phase.plan, attempt: phase.sending.attempt + 1)
                : fail(.network(lost: "start", detail))
        case .keyUnavailable: fail(.keyUnavailable)
        case .cancel: fail(.cancelled)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .ceremonySigned, .captured,
            .faceTokenOpened, .faceTokenNotOpened,
            .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            []
        }
    }

    private mutating func opened(_ phase: Opening, _ response: CallResponse, at now: Instant) -> [Effect] {
        switch response.trouble(at: now) {
        case .rateLimited(let seconds): return fail(.rateLimited(retryAfterSeconds: seconds))
        case .unavailable(let status): return fail(.server(message: "the start was answered \(status)"))
        case nil: break
        }
        do throws(AnswerError) {
            switch try ChallengeAnswer(response) {
            case .goOn(let challenge): return try goOn(phase, challenge)
            case .code: return fail(.server(message: "the start was answered with a code, before any face scan"))
            case .refused(let error) where error.code == .useDPoPNonce:
                if let reason = response.brokenNonceChallenge(answeredBefore: phase.sending.nonceAnswered) {
                    return fail(.server(message: reason))
                }
                return send(phase.plan, attempt: phase.sending.attempt, nonceAnswered: true)
            case .refused(let error):
                return repeatStart(phase, refused: error, response)
                    ?? fail(.refusal(of: .start, error, wire: config.wire, unavailable: phase.plan.unavailable))
            }
        } catch {
            return fail(.server(message: "start: \(error.description)"))
        }
    }

    private mutating func goOn(_ phase: Opening, _ challenge: ChallengeSession) throws(AnswerError) -> [Effect] {
        let names = config.wire.members
        let ceremony = try challenge.members.members(names.startAnswer.ceremony)
        let session = OpenSession(
            ground: phase.plan.ground, endpoints: phase.plan.endpoints, handle: challenge.handle,
            ceremony: try ceremony.string(names.ceremony.id),
            challenge: try ceremony.string(names.ceremony.challenge))
        if challenge.status != 403 {
            note(ProtocolNote(rule: "oauth.challenge.status", expected: "403", actual: "\(challenge.status)"))
        }
        return signFetch(session, attempt: 1)
    }
}

extension OpenSession {
    /// The claims of a ceremony of this session.
    func claims(_ act: CeremonyAct, issuer: String) -> CeremonyClaims {
        CeremonyClaims(
            issuer: issuer, ceremony: ceremony, challenge: challenge,
            authSessionHash: CeremonyHash.of(ascii: handle),
            installThumbprint: ground.installThumbprint, act: act)
    }
}
