extension Phase {
    /// What the app sees of this phase.
    var state: SignInState {
        switch self {
        case .idle: .idle
        case .discovering, .challenging, .attesting, .opening: .starting
        case .signingFetch, .fetching: .fetchingFaceToken
        case .capturing(let phase):
            .awaitingFace(attemptsLeft: phase.check.attemptsLeft, lastOutcome: phase.lastOutcome)
        case .matching(let phase): .checkingFace(attemptsLeft: phase.check.attemptsLeft)
        case .signingReport(let phase): .checkingFace(attemptsLeft: phase.check.attemptsLeft)
        case .reporting(let phase): .checkingFace(attemptsLeft: phase.check.attemptsLeft)
        case .operating: .runningPki
        case .rotating, .signingProof, .completing, .redeeming, .committing: .postingResult
        case .parked(let phase): .postingResultFailed(phase.cause)
        case .signedIn(let summary): .signedIn(summary)
        case .failed(let phase): .failed(phase.failure)
        }
    }

    /// Whether an answer to this effect is awaited.
    func awaits(_ effect: EffectID) -> Bool {
        switch self {
        case .idle, .parked, .signedIn: false
        case .discovering(let phase): phase.sending.effect == effect
        case .challenging(let phase): phase.sending.effect == effect
        case .attesting(let phase): phase.effect == effect
        case .opening(let phase): phase.sending.effect == effect
        case .signingFetch(let phase): phase.effect == effect
        case .fetching(let phase): phase.sending.effect == effect
        case .capturing(let phase): phase.effect == effect
        case .matching(let phase): phase.effect == effect
        case .operating(let phase): phase.effect == effect
        case .signingReport(let phase): phase.effect == effect
        case .reporting(let phase): phase.sending.effect == effect
        case .rotating(let phase): phase.effect == effect
        case .signingProof(let phase): phase.effect == effect
        case .completing(let phase): phase.sending.effect == effect
        case .redeeming(let phase): phase.sending.effect == effect
        case .committing(let phase): phase.effect == effect
        case .failed(let phase): phase.awaits(effect)
        }
    }

    /// The name of the step, finer than the state's.
    var name: String {
        switch self {
        case .idle: "idle"
        case .discovering: "discovering"
        case .challenging: "challenging"
        case .attesting: "attesting"
        case .opening: "opening"
        case .signingFetch: "signingFetch"
        case .fetching: "fetching"
        case .capturing: "capturing"
        case .matching: "matching"
        case .operating: "operating"
        case .signingReport: "signingReport"
        case .reporting: "reporting"
        case .rotating: "rotating"
        case .signingProof: "signingProof"
        case .completing: "completing"
        case .redeeming: "redeeming"
        case .committing: "committing"
        case .parked: "parked"
        case .signedIn: "signedIn"
        case .failed: "failed"
        }
    }
}
