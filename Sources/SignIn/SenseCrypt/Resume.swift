public import Encoding

extension SenseCryptSignIn {
    /// Takes up a stored flow after a kill and returns what is to be done.
    ///
    /// A network effect that was under way counts as a lost reply, by the rule of its call. A local effect is asked for
    /// again under a new id, since no answer to the old one will come; a face that was being matched is asked for
    /// again at no cost. A parked flow stays parked, and one that has not started stays idle.
    public mutating func resume(at now: Instant) -> [Effect] {
        let detail = "the flow was interrupted"
        switch phase {
        case .idle, .parked, .signedIn: return []
        case .discovering(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .challenging(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .attesting(let phase):
            return send(phase.plan, attempt: phase.attempt, nonceAnswered: phase.nonceAnswered)
        case .opening(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .fetching(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .reporting(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .completing(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .redeeming(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .signingFetch(let phase): return signFetch(phase.session, attempt: phase.attempt)
        case .capturing(let phase): return askCamera(phase.check, after: phase.lastOutcome)
        // The picture, and what a face opened, were in memory alone: the person shows the face once more.
        case .matching(let phase): return openCamera(phase.check, after: nil)
        case .operating(let phase): return openCamera(phase.check, after: nil)
        case .rotating(let phase): return openCamera(phase.check, after: nil)
        case .signingReport(let phase): return signReport(phase.check)
        case .signingProof(let phase):
            return signProof(phase.session, fetched: phase.generation, rotated: phase.rotated, phase.pki)
        case .committing(let phase): return store(phase.tokens, phase.summary, phase.session)
        case .failed(let phase): return phase.isFinished ? [] : resumeEnded(phase)
        }
    }
}
