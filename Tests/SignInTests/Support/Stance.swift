import Device
import Encoding
import OAuth

@testable import SignIn

/// A flow at a step, in one of the conditions that decide what an event does.
struct Stance {
    let flow: SenseCryptSignIn
    let awaited: EffectID
    /// The step, and the condition where it matters.
    let words: String
}

extension PhaseTable {
    /// Every step, and those that count twice: before and after a loss, with one attempt left, with repairs used up.
    static func stances() throws -> [Stance] {
        var stances: [Stance] = []
        for sample in try Steps.all() {
            let name = sample.flow.phase.name
            stances.append(Stance(flow: sample.flow, awaited: sample.awaited, words: name))
            if let second = try again(name) { stances.append(second) }
        }
        return stances
    }

    private static func again(_ name: String) throws -> Stance? {
        var script: Script
        var words = name + ", sent again"
        switch name {
        case "discovering":
            script = try Steps.script(at: "discover")
            try script.send(.discoveryFailed(script.awaited(), .unreachable(detail: "gone")))
        case "opening":
            script = try Steps.script(at: "call(start)")
            try script.lose()
        case "challenging":
            script = try Steps.script(at: "call(attestationChallenge)", metadata: Phone.attestingMetadata)
            try script.lose()
        case "attesting":
            script = try Steps.script(at: "call(start)")
            try script.respond(Replies.evidenceWanted)
            words = name + ", after a refusal"
        case "fetching":
            script = try Steps.script(at: "call(faceToken)")
            try script.lose()
            try script.send(.ceremonySigned(script.awaited(), jws: "j.w.s"))
        case "capturing":
            script = try Steps.script(at: "capture")
            try script.capture(.livenessFailed(reason: "photo"))
            words = name + ", after a liveness failure"
        case "reporting":
            script = try Steps.script(at: "openFaceToken")
            for number in 1...3 {
                try script.send(.faceTokenNotOpened(script.awaited()))
                try script.send(.ceremonySigned(script.awaited(), jws: "j.w.s"))
                if number == 3 { break }
                try script.respond(Replies.attemptsLeft(Int64(3 - number)))
                try script.capture(.live(SampleID(rawValue: "stranger")))
            }
            words = name + ", the third"
        case "completing":
            script = try Steps.script(at: "call(completion)")
            try script.lose()
        case "redeeming":
            script = try Steps.script(at: "call(token)")
            for _ in 0..<2 {
                try script.lose()
                try script.respond(Replies.code())
            }
            words = name + ", repairs used up"
        default: return nil
        }
        return Stance(flow: script.flow, awaited: try script.awaited(), words: words)
    }

    /// The events a stance takes, each in the variants that lead to different places, with their words.
    static func stimuli(for stance: Stance) -> [(Event, String)] {
        let id = stance.awaited
        let taken = Legality.table[stance.flow.phase.name, default: []]
        return Steps.everyEvent(about: id).filter { taken.contains($0.name) }.flatMap { event in
            variants(of: event, id, at: stance.flow.phase.name)
        }
    }

    private static func variants(of event: Event, _ id: EffectID, at step: String) -> [(Event, String)] {
        switch event {
        case .responded: return answers(at: step).map { (.responded(id, $0.0), $0.1) }
        case .captured:
            return [
                (.captured(id, .live(SampleID(rawValue: "self"))), "captured: a live face"),
                (.captured(id, .livenessFailed(reason: "photo")), "captured: liveness failed"),
                (.captured(id, .badCapture(.blurred)), "captured: a bad capture"),
                (.captured(id, .closed), "captured: closed"),
            ]
        case .discoveryFailed:
            return [
                (.discoveryFailed(id, .unreachable(detail: "gone")), "discoveryFailed: unreachable"),
                (.discoveryFailed(id, .unavailable(status: 503, retryAfter: nil)), "discoveryFailed: 5xx"),
                (.discoveryFailed(id, .unavailable(status: 429, retryAfter: nil)), "discoveryFailed: 429"),
                (
                    .discoveryFailed(id, .invalid(.answer(.missing(member: "token_endpoint")))),
                    "discoveryFailed: invalid"
                ),
            ]
        case .lost, .start, .discovered, .attested, .attestationUnavailable, .ceremonySigned, .keyUnavailable,
            .faceTokenOpened, .faceTokenNotOpened,
            .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry, .cancel:
            return [(event, event.name)]
        }
    }

    private static func answers(at step: String) -> [(CallResponse, String)] {
        var answers: [(CallResponse, String)] = []
        switch step {
        case "challenging":
            answers = [
                (Replies.attestationChallenge, "200"), (Replies.noAttestationChallenge, "200 without a challenge"),
            ]
        case "opening":
            answers = [
                (Replies.started, "403 insufficient_authorization"),
                (Replies.evidenceWanted, "attestation_required with a challenge"),
                (Replies.error(400, "attestation_required"), "attestation_required without a challenge"),
                (Replies.challengeStale, "use_attestation_challenge with a challenge"),
                (Replies.evidenceBad, "attestation_failed"),
            ]
        case "fetching":
            answers = [
                (Replies.faceToken(), "200"), (Replies.faceToken(passwordProtected: true), "200, password-protected"),
                (Replies.faceToken(attemptsLeft: 0), "200, no attempts left"),
            ]
        case "reporting":
            answers = [(Replies.attemptsLeft(2), "200, 2 left"), (Replies.attemptsLeft(0), "200, 0 left")]
        case "completing":
            answers = [(Replies.code(), "200"), (Replies.error(400, "face_token_stale"), "face_token_stale")]
        case "redeeming":
            answers = [
                (Replies.goodTokens, "200"), (Replies.bearerTokens, "200, tokens not to be trusted"),
                (Replies.error(400, "invalid_grant"), "invalid_grant"),
            ]
        default: break
        }
        if ["opening", "completing", "redeeming"].contains(step) {
            answers.append((Replies.nonceWanted, "use_dpop_nonce"))
        }
        answers += [
            (Replies.error(400, "invalid_session"), "invalid_session"),
            (Replies.error(403, "access_denied"), "access_denied"),
            (Replies.error(400, "unauthorized_client"), "unauthorized_client"),
            (Replies.error(400, "invalid_request"), "another error"),
            (Replies.json(200, ["odd": true]), "a malformed 200"),
            (CallResponse(status: 429, mediaType: nil, body: []), "429"),
            (CallResponse(status: 503, mediaType: nil, body: []), "5xx"),
        ]
        return answers.map { ($0.0, "responded: " + $0.1) }
    }
}
