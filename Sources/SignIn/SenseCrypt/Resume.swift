public import Encoding

extension SenseCryptSignIn {
    /// Takes up a stored flow after a kill and returns what is to be done.
    ///
    /// A network effect that was under way counts as a lost reply, by the rule of its call. A local effect is asked for
    /// again under a new id, since no answer to the old one will come. A parked flow stays parked, and one that has
    /// not started stays idle.
    public mutating func resume(at now: Instant) -> [Effect] {
        let detail = "the flow was interrupted"
        switch phase {
        case .idle, .parked, .signedIn: return []
        case .discovering(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .opening(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .fetching(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .reporting(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .completing(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .redeeming(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .signingFetch(let phase): return signFetch(phase.session, attempt: phase.attempt)
        case .capturing(let phase): return askCamera(phase.check, after: phase.lastOutcome)
        case .matching(let phase): return match(phase.check, phase.sample)
        case .signingReport(let phase): return signReport(phase.check)
        case .rotating(let phase): return rotate(phase.session, fetched: phase.generation)
        case .signingProof(let phase):
            return signProof(phase.session, fetched: phase.generation, rotated: phase.rotated)
        case .committing(let phase): return store(phase.tokens, phase.summary)
        case .failed(let phase): return phase.isFinished ? [] : resumeEnded(phase)
        }
    }
}
