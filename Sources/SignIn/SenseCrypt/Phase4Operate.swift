internal import Device

// After the match and before the rotation: the key operation, where the app asked for one. The server is not told.

/// Waits for the key operation to run.
struct Operating: Codable, Sendable, Equatable {
    let check: FaceCheck
    let operation: PKIOperation
    var effect: EffectID
}

extension SenseCryptSignIn {
    /// Goes on from a match: the key operation first, then the rotation.
    mutating func matched(_ check: FaceCheck) -> [Effect] {
        guard let operation = check.operation else { return rotate(check, nil) }
        let effect = emit(.runPKI(operation))
        phase = .operating(Operating(check: check, operation: operation, effect: effect.id))
        return [effect]
    }

    mutating func operating(_ phase: Operating, _ event: Event) -> [Effect] {
        switch event {
        case .pkiRan(_, let output): return rotate(phase.check, SignInPKIResult(phase.operation.request, output))
        case .pkiKeysNotReady: return fail(.pkiKeysNotReady, in: phase.check.session)
        case .faceTokenUnusable(_, let rule):
            return fail(.server(message: "the face token: \(rule)"), in: phase.check.session)
        case .keyUnavailable: return fail(.keyUnavailable, in: phase.check.session)
        case .cancel: return fail(.cancelled, in: phase.check.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost,
            .ceremonySigned, .captured,
            .faceTokenOpened, .faceTokenNotOpened, .faceTokenRotated, .committed, .retry:
            return []
        }
    }
}
