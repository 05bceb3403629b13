import Device
import Encoding
import OAuth

@testable import SignIn

/// A world where anything may come back, well more often than not.
struct RandomWorld {
    var dice: Dice
    /// How often, of a hundred, an answer is a good one.
    let luck: Int

    private static let troubles: [CallResponse] = [
        CallResponse(status: 503, mediaType: nil, body: []),
        CallResponse(status: 429, mediaType: nil, retryAfter: "3", body: []), Replies.nonceWanted,
        Replies.error(400, "use_dpop_nonce"), Replies.html, Replies.json(200, [:]), Replies.json(200, []),
        Replies.error(400, "invalid_session"), Replies.error(403, "access_denied"),
        Replies.evidenceWanted, Replies.challengeStale, Replies.evidenceBad,
        Replies.error(400, "attestation_required"), Replies.error(400, "unauthorized_client"),
        Replies.error(400, "face_token_stale"),
        Replies.error(400, "invalid_grant"), Replies.error(418, "teapot"), Replies.started, Replies.code("another"),
        Replies.faceToken(attemptsLeft: 1), Replies.faceToken(passwordProtected: true), Replies.attemptsLeft(0),
        CallResponse(status: 204, mediaType: nil, body: []), CallResponse(status: 100, mediaType: nil, body: []),
    ]

    /// An answer to an effect, of the right kind but perhaps a bad one.
    mutating func answer(to effect: Effect) throws -> Event? {
        if dice.chance(luck), let good = try GoodWorld.answer(to: effect) {
            // Good fortune still fails to match now and then.
            if case .faceTokenOpened(let id) = good, dice.chance(40) { return .faceTokenNotOpened(id) }
            if case .discovered(let id, _) = good, dice.chance(50) { return .discovered(id, Phone.attestingMetadata) }
            if case .captured(let id, _) = good, dice.chance(30) { return .captured(id, capture()) }
            return good
        }
        let id = effect.id
        switch effect.action {
        case .discover:
            return .discoveryFailed(
                id, dice.pick([.unreachable(detail: "gone"), .unavailable(status: 503, retryAfter: nil)]))
        case .call(let call):
            if dice.chance(40) { return .lost(id, detail: "gone") }
            if call.purpose == .token, dice.chance(30) {
                return .responded(id, Replies.bearerTokens)
            }
            return .responded(id, dice.pick(Self.troubles))
        case .attest:
            return dice.pick([.attestationUnavailable(id, rule: "no such format"), .keyUnavailable(id)])
        case .signCeremony, .commit: return .keyUnavailable(id)
        case .capture: return .captured(id, capture())
        case .openFaceToken: return dice.chance(80) ? .faceTokenNotOpened(id) : .faceTokenUnusable(id, rule: "bent")
        case .runPKI:
            return dice.pick([.pkiKeysNotReady(id), .faceTokenUnusable(id, rule: "bent"), .keyUnavailable(id)])
        case .rotateFaceToken: return .faceTokenUnusable(id, rule: "bent")
        case .done: return nil
        }
    }

    private mutating func capture() -> Capture {
        dice.pick([
            .livenessFailed(reason: "photo"), .badCapture(.blurred), .badCapture(.noFace), .closed,
            .live(SampleID(rawValue: "self")),
        ])
    }

    /// Any event at all that quotes this id, fitting or not.
    mutating func anything(about id: EffectID) -> Event {
        dice.pick([
            .discovered(id, Phone.goodMetadata), .discoveryFailed(id, .unreachable(detail: "late")),
            .responded(id, Replies.goodTokens), .responded(id, Replies.code()), .responded(id, Replies.started),
            .lost(id, detail: "late"), .attested(id, evidence: "bGF0ZQ"), .attestationUnavailable(id, rule: "late"),
            .ceremonySigned(id, jws: "l.a.te"), .captured(id, capture()),
            .faceTokenOpened(id), .faceTokenNotOpened(id), .faceTokenRotated(id, sealed: [9]), .committed(id),
            .pkiRan(id, PKIOutput(keys: [])), .pkiKeysNotReady(id),
        ])
    }
}
