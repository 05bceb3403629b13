import Encoding
import Profiles

/// What stands in for a thing that is not there, where the rule that asks for it is switched off.
///
/// A server that forgot such a rule would go on with something; these are the likeliest somethings.
extension Realm {
    /// The session a ceremony request may mean, by its ceremony's name.
    ///
    /// Costs as much as there are sessions, and only where `ceremony.session` is off.
    func sessionStandIn(for ceremony: CeremonyJWS) -> Session? {
        guard skips(.ceremonySession) else { return nil }
        return sessions.entries.values.first { $0.ceremonyID == ceremony.ceremonyID }
    }

    /// The session whose handle a completion does not have, by its ceremony proof.
    func sessionStandIn(for completion: CompletionRequest) -> Session? {
        skips(.completionSession) ? sessions[completion.ceremony.sessionKey] : nil
    }

    /// The device a session would be served by, for a request signed with an unknown key.
    func deviceStandIn(in session: Session) -> EnrolledDevice? {
        guard skips(.ceremonyKey) else { return nil }
        if let kid = session.deviceKey { return devices[kid] }
        switch session.subject {
        case .user(let id): return users[id]?.devices.first.flatMap { devices[$0] }
        case .anyone: return devices.values.first
        case .decoy: return nil
        }
    }

    /// A removed device as it may have been.
    func removedDeviceStandIn(in session: Session, _ request: CompletionRequest) -> EnrolledDevice? {
        guard skips(.completionDevice), case .user(let id) = session.subject else { return nil }
        return EnrolledDevice(
            kid: request.ceremony.kid, userID: id, publicKey: [], platform: "ios", enrolledAt: session.openedAt,
            faceToken: FaceTokenRecord(
                sealed: [], generation: request.ceremony.generation, passwordProtected: false))
    }

    /// What an unknown code might have been for: somebody of the tenant.
    func codeStandIn(_ application: Application, _ proof: AcceptedProof, _ turn: Turn) -> AuthorizationCode? {
        guard skips(.codeKnown), let user = anybody(at: application) else { return nil }
        return AuthorizationCode(
            sessionKey: "", userID: user.id, clientID: application.clientID, jkt: proof.jkt, codeChallenge: "",
            scope: ["openid"], resource: nil, nonce: "", authTime: turn.now,
            expiresAt: turn.now.adding(seconds: 60), forgottenAt: turn.now.adding(seconds: 60),
            permit: permit(of: application))
    }

    /// What a refresh token of nobody might have been for.
    ///
    /// One that looks like the tenant's own is passed over: it was revoked, which is another rule.
    func grantStandIn(
        _ request: RefreshGrantRequest, _ application: Application, _ proof: AcceptedProof, _ turn: Turn
    ) -> (Grant, RefreshFamily)? {
        guard skips(.refreshKnown), !request.looksLikeOurs, let user = anybody(at: application) else { return nil }
        let family = RefreshFamily(
            currentHash: request.tokenHash, expiresAt: turn.now.adding(seconds: turn.profile.lifetimes.refreshToken))
        let grant = Grant(
            id: request.grantID, userID: user.id, clientID: application.clientID,
            applicationSerial: application.serial, jkt: proof.jkt, scope: ["openid"], resource: nil,
            authTime: turn.now, epoch: user.grantEpoch, refresh: family, accessEndsAt: turn.now)
        return (grant, family)
    }

    /// Whom an unknown ticket might have been for: somebody of the tenant.
    ///
    /// One that looks like the tenant's own is passed over: it was used, which is another rule.
    func ticketStandIn(looksLikeOurs: Bool, _ turn: Turn) -> Ticket? {
        guard skips(.enrollTicket), !looksLikeOurs else { return nil }
        return users.page(after: nil, limit: 1).first.map {
            Ticket(userID: $0.value.id, expiresAt: turn.now.adding(seconds: 60))
        }
    }

    /// The mail code an address might have been sent.
    func codeStandIn(address: String, _ turn: Turn) -> SignupCode? {
        guard skips(.enrollCode) else { return nil }
        return SignupCode(email: address, codeHash: "", expiresAt: turn.now.adding(seconds: 60))
    }

    private func anybody(at application: Application) -> User? {
        users.page(after: nil, limit: 64).lazy.map(\.value).first { $0.maySignIn(to: application.clientID) }
    }
}
