// The one place where the app's UI is needed: the proof is kept, and only its delivery failed.

/// Holds the proof and waits for a person.
struct Parked: Codable, Sendable, Equatable {
    let proof: Proof
    let cause: ParkCause
}

extension SenseCryptSignIn {
    mutating func park(_ proof: Proof, _ cause: ParkCause) -> [Effect] {
        phase = .parked(Parked(proof: proof, cause: cause))
        return []
    }

    mutating func parked(_ phase: Parked, _ event: Event) -> [Effect] {
        switch event {
        // Allowed however late: whether the session still lives is for the server to say.
        case .retry: sendCompletion(phase.proof)
        case .cancel: fail(.cancelled, in: phase.proof.session)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost,
            .ceremonySigned, .keyUnavailable, .captured,
            .faceTokenOpened, .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable,
            .committed:
            []
        }
    }
}
