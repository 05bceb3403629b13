import Encoding
import Profiles

/// A ceremony request that fits a live session: whose it is and which device asks.
struct FittingCeremony: Sendable {
    let session: Session
    let device: EnrolledDevice
    let user: User
    let application: Application
}

extension Realm {
    /// What the three ceremony calls check alike, in this order: the session's application, the time of the request,
    /// and that everything fits.
    ///
    /// Whether the session still lives is asked after that, since a repeated report is answered by a dead session too.
    func fitting(_ ceremony: CeremonyJWS, _ turn: Turn) throws(Refusal) -> FittingCeremony {
        guard let session = sessions[ceremony.sessionKey] ?? sessionStandIn(for: ceremony) else {
            throw uniformRefusal(turn, "ceremony.session", expected: "a session of this tenant", actual: "no session")
        }
        // Before anything that depends on the hint, so that a withdrawn switch tells nothing about it.
        let application = try client(session.clientID, turn)
        try preconditions(of: application, turn)
        try time(of: ceremony, fits: session, turn)
        let (device, user) = try everything(of: ceremony, fits: session, turn)
        return FittingCeremony(session: session, device: device, user: user, application: application)
    }

    /// A session past its lifetime, dead, aborted or completed takes no more ceremony requests.
    func live(_ session: Session, _ turn: Turn) throws(Refusal) {
        var end = end(of: session, at: turn.now)
        if case .completed = session.progress, !skips(.sessionLive) { end = end ?? "completed" }
        guard let end else { return }
        throw Refusal(turn.errors.invalidSession, rule: "session.live", expected: "a live session", actual: end)
    }

    /// `iat` from a little before the session was opened to a little after now.
    func time(of ceremony: CeremonyJWS, fits session: Session, _ turn: Turn) throws(Refusal) {
        guard let wrong = timeFault(ceremony, session, turn), !skips(.ceremonyTime) else { return }
        throw Refusal(
            turn.errors.invalidRequest, rule: "ceremony.iat", expected: "iat between the session's start and now",
            actual: wrong, detail: "iat is outside the accepted window")
    }

    func timeFault(_ ceremony: CeremonyJWS, _ session: Session, _ turn: Turn) -> String? {
        let windows = turn.profile.windows
        let iat = ceremony.issuedAt.seconds
        let early = session.openedAt.seconds - windows.ceremonyBeforeSession - iat
        let late = iat - turn.now.seconds - windows.ceremonyAhead
        return early > 0 ? "\(early) s too early" : late > 0 ? "\(late) s too late" : nil
    }

    /// The key, the session, the challenge and the person.
    ///
    /// All of it is looked at before any of it is refused, and every refusal is the same, so neither the answer nor its
    /// time says which part failed.
    private func everything(
        of ceremony: CeremonyJWS, fits session: Session, _ turn: Turn
    ) throws(Refusal) -> (EnrolledDevice, User) {
        let device = devices[ceremony.kid] ?? deviceStandIn(in: session)
        let signature = ceremony.signature == .unknownKey && device != nil ? .good : ceremony.signature
        let user = users[device?.userID ?? ""]
        let kid = device?.kid ?? ceremony.kid
        let faults: [(rule: RuleSwitch, expected: String, broken: Bool)] = [
            (.ceremonyKey, "a key of an enrolled device", device == nil),
            (.ceremonySignature, "a signature of the device key", signature != .good),
            (.ceremonyID, "the ceremony of the session", ceremony.ceremonyID != session.ceremonyID),
            (
                .ceremonyChallenge, "the challenge of the session",
                ceremony.ceremonyChallenge != session.ceremonyChallenge
            ),
            (.ceremonyProofKey, "the DPoP key of the session", ceremony.jkt != session.jkt),
            (.ceremonyDevice, "the device the session is bound to", (session.deviceKey ?? kid) != kid),
            (.ceremonyUser, "the user of the session", !session.subject.allows(device?.userID ?? "")),
            (.ceremonyAccess, "a user who may sign in", !(user?.maySignIn(to: session.clientID) ?? false)),
        ]
        let fault = faults.first { $0.broken && !skips($0.rule) }
        if fault == nil, let device, let user { return (device, user) }
        let (rule, expected) = fault.map { ($0.rule, $0.expected) } ?? (.ceremonyKey, "a key of an enrolled device")
        throw uniformRefusal(turn, rule.rawValue, expected: expected, actual: "another or none")
    }

    /// The one refusal of a ceremony that cannot go on.
    ///
    /// Only the finding says why.
    private func uniformRefusal(_ turn: Turn, _ rule: String, expected: String, actual: String) -> Refusal {
        let detail = skips(.ceremonyUniform) ? "\(rule): expected \(expected)" : nil
        return Refusal(turn.errors.uniformRefusal, rule: rule, expected: expected, actual: actual, detail: detail)
    }

    /// Binds a session to the device that served it first, and to its user.
    mutating func bind(_ fitting: FittingCeremony, _ turn: inout Turn) {
        update(session: fitting.session.key, &turn) { session in
            session.deviceKey = fitting.device.kid
            session.subject = .user(fitting.user.id)
        }
    }
}

extension Session.Subject {
    /// Whether the session may be served by a device of this user.
    func allows(_ userID: String) -> Bool {
        switch self {
        case .anyone: true
        case .user(let wanted): wanted == userID
        case .decoy: false
        }
    }
}
