internal import Device
internal import Encoding
internal import OAuth

// Between discovery and call 1, where evidence about the app is wanted: a challenge, and the evidence for it (SenseCrypt
// wire, section 14). Evidence is made for one send, as a proof is: a server takes none twice.

/// A start before it is sent: where it goes, and how it is vouched for.
struct StartPlan: Codable, Sendable, Equatable {
    let ground: Ground
    let endpoints: Endpoints
    let sending: AttestationSettings.Sending
    /// The challenge its evidence is for; nil where it carries none.
    var challenge: String?
    /// Whether a refusal that asked for evidence for another challenge was answered.
    var isRepeated = false
    /// Why the phone could make no evidence, if it could not.
    var unavailable: String?
}

/// Waits for a challenge.
struct Challenging: Codable, Sendable, Equatable {
    let plan: StartPlan
    let url: String
    var sending: Sending
}

/// Waits for the evidence of one send of a start.
struct Attesting: Codable, Sendable, Equatable {
    let plan: StartPlan
    let effect: EffectID
    /// The send it is for.
    let attempt: Int
    let nonceAnswered: Bool
}

extension SenseCryptSignIn {
    /// Begins with the challenge where evidence is wanted, and with the start where it is not.
    mutating func vouch(_ ground: Ground, _ endpoints: Endpoints, _ facts: DeviceFacts.Attestation) -> [Effect] {
        var plan = StartPlan(ground: ground, endpoints: endpoints, sending: facts.sending)
        if facts.sending == .never { return send(plan, attempt: 1) }
        if let known = facts.challenge, endpoints.attestationChallenge != nil || facts.sending == .always {
            plan.challenge = known
        } else if let url = endpoints.attestationChallenge {
            return fetchChallenge(plan, url, attempt: 1)
        } else if facts.sending == .always {
            // There is no one to ask: the evidence is for no challenge, and a server that looks at it will say so.
            plan.challenge = ""
        }
        return send(plan, attempt: 1)
    }

    private mutating func fetchChallenge(_ plan: StartPlan, _ url: String, attempt: Int) -> [Effect] {
        let effect = emit(
            .call(
                Call(
                    purpose: .attestationChallenge, attempt: attempt, url: url, body: .form(FormFields([])),
                    needsDPoP: false, bestEffort: false)))
        phase = .challenging(
            Challenging(plan: plan, url: url, sending: Sending(effect: effect.id, attempt: attempt)))
        return [effect]
    }

    mutating func challenging(_ phase: Challenging, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .responded(_, let response): return challenged(phase.plan, response, at: now)
        case .lost(_, let detail):
            guard phase.sending.attempt < 2 else { return fail(.network(lost: "attestation challenge", detail)) }
            return fetchChallenge(phase.plan, phase.url, attempt: phase.sending.attempt + 1)
        case .keyUnavailable: return fail(.keyUnavailable)
        case .cancel: return fail(.cancelled)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .ceremonySigned, .captured,
            .faceTokenOpened, .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable,
            .committed, .retry:
            return []
        }
    }

    private mutating func challenged(_ plan: StartPlan, _ response: CallResponse, at now: Instant) -> [Effect] {
        switch response.trouble(at: now) {
        case .rateLimited(let seconds): return fail(.rateLimited(retryAfterSeconds: seconds))
        case .unavailable(let status):
            return fail(.server(message: "the request for an attestation challenge was answered \(status)"))
        case nil: break
        }
        do throws(AnswerError) {
            var plan = plan
            plan.challenge = try AttestationChallenge.challenge(
                status: response.status, mediaType: response.mediaType, body: response.body)
            return send(plan, attempt: 1)
        } catch {
            return fail(.server(message: "attestation challenge: \(error.description)"))
        }
    }

    /// Sends a start, once there is evidence for this send where it carries any.
    mutating func send(_ plan: StartPlan, attempt: Int, nonceAnswered: Bool = false) -> [Effect] {
        guard let challenge = plan.challenge else {
            return sendStart(plan, evidence: nil, attempt: attempt, nonceAnswered: nonceAnswered)
        }
        let effect = emit(.attest(binding(of: plan.ground, challenge)))
        phase = .attesting(
            Attesting(plan: plan, effect: effect.id, attempt: attempt, nonceAnswered: nonceAnswered))
        return [effect]
    }

    private func binding(of ground: Ground, _ challenge: String) -> StartBinding {
        StartBinding(
            issuer: config.issuer, challenge: challenge, clientID: config.clientID,
            codeChallenge: PKCE.challenge(for: ground.secrets.codeVerifier),
            installThumbprint: ground.installThumbprint)
    }

    mutating func attesting(_ phase: Attesting, _ event: Event) -> [Effect] {
        switch event {
        case .attested(_, let evidence):
            return sendStart(
                phase.plan, evidence: evidence, attempt: phase.attempt, nonceAnswered: phase.nonceAnswered)
        case .attestationUnavailable(_, let rule):
            // Whether it can do without is for the server to say.
            var plan = phase.plan
            plan.challenge = nil
            plan.unavailable = rule
            return sendStart(plan, evidence: nil, attempt: phase.attempt, nonceAnswered: phase.nonceAnswered)
        case .keyUnavailable: return fail(.keyUnavailable)
        case .cancel: return fail(.cancelled)
        case .start, .discovered, .discoveryFailed, .responded, .lost, .ceremonySigned, .captured, .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            return []
        }
    }

    /// Repeats a start that was refused for want of evidence, once, with evidence for the challenge the refusal brought.
    ///
    /// Nil where that cannot be done: it was done before, it brought no challenge, or this app sends no evidence.
    mutating func repeatStart(
        _ phase: Opening, refused error: OAuthErrorBody, _ response: CallResponse
    ) -> [Effect]? {
        guard error.code == .useAttestationChallenge || error.code.rawValue == config.wire.attestationRequired,
            phase.plan.sending != .never, !phase.plan.isRepeated, phase.plan.unavailable == nil,
            let challenge = response.attestationChallenge
        else { return nil }
        var plan = phase.plan
        plan.challenge = challenge
        plan.isRepeated = true
        return send(plan, attempt: phase.sending.attempt, nonceAnswered: phase.sending.nonceAnswered)
    }
}

/// What the evidence of one start is bound to.
///
/// Source: SenseCrypt wire, section 14; assumed.
public struct StartBinding: Codable, Sendable, Hashable {
    /// The issuer the start goes to.
    public let issuer: String
    /// The server's challenge, as given; empty where there is none.
    public let challenge: String
    /// The client that starts.
    public let clientID: String
    /// The start's `code_challenge`.
    public let codeChallenge: String
    /// The RFC 7638 thumbprint of the install's DPoP key.
    public let installThumbprint: String
}
