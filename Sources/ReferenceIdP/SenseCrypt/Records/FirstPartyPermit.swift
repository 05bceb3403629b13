import Encoding

/// Which run of the feature a session belongs to.
///
/// Withdrawing a switch stops the feature at once, and granting it again begins anew: a session that was open in between
/// stays dead. Every withdrawal raises a number, so no session has to be looked for; the serial tells an application
/// that was deleted and made again.
struct FirstPartyPermit: Sendable, Hashable {
    var tenant: Int64 = 0
    var application: Int64 = 0
    var serial: Int64 = 0
}

extension Realm {
    /// What allows a session of an application to be opened now.
    func permit(of application: Application) -> FirstPartyPermit {
        FirstPartyPermit(
            tenant: tenant.withdrawals, application: application.withdrawals, serial: application.serial)
    }

    /// Whether what was allowed under a permit still is.
    func stillHolds(_ permit: FirstPartyPermit, for clientID: String) -> Bool {
        applications[clientID].map { self.permit(of: $0) == permit } ?? false
    }

    /// Why nothing may happen in a session any more, or nil while something may.
    func end(of session: Session, at now: Instant) -> String? {
        if let end = session.end(at: now), !skips(endedBy: session, at: now) { return end }
        guard !skips(.sessionPermit), !stillHolds(session.permit, for: session.clientID) else { return nil }
        return "opened before the feature was withdrawn"
    }

    /// Whether the rule that ended a session is switched off.
    private func skips(endedBy session: Session, at now: Instant) -> Bool {
        guard !tenant.rulesOff.isEmpty else { return false }
        guard case .dead(let cause) = session.progress else { return skips(.sessionLifetime) }
        let isOver = now >= session.expiresAt && !skips(.sessionLifetime)
        return cause != Session.outOfMismatches && skips(.sessionLive) && !isOver
    }
}

extension Application {
    /// Whether the application's own switches hold.
    var allowsFirstParty: Bool {
        requireDPoP && !certificateBoundTokens && firstPartyChallenge && !redirectURIs.isEmpty
    }
}
