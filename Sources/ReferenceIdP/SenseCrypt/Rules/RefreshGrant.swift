import Encoding
import Profiles

extension Realm {
    /// Renews an access token without a face scan.
    ///
    /// A spent token of a rotating family revokes the family.
    mutating func refresh(_ request: RefreshGrantRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let client = try authenticated(request.client, turn)
        let application = client.application
        try preconditions(of: application, turn)
        let proof = try accepted(request.proof, nonce: .required, turn)
        try sameInstance(client, proof, turn)
        try firstUse(of: client, turn)
        try firstUse(of: proof, turn)
        let (found, family) = try family(request, application, proof, turn)
        try ownership(of: found, request, application, proof, turn)
        guard found.instance == client.attestation?.instance else {
            throw invalidGrant(turn, "refresh.instance", expected: "the instance of the grant", actual: "another")
        }
        let (grant, selector) = try notSpent(request, family, found, &turn)
        let user = try access(of: grant, &turn)
        let scope = try scope(request, within: grant, turn)
        try resource(request, of: grant, turn)
        return renew(selector, grant.bound(to: proof), application, user, scope, &turn)
    }

    private func family(
        _ request: RefreshGrantRequest, _ application: Application, _ proof: AcceptedProof, _ turn: Turn
    ) throws(Refusal) -> (Grant, RefreshFamily) {
        if let standIn = grantStandIn(request, application, proof, turn) { return standIn }
        guard let grant = liveGrant(request.grantID), let family = grant.refresh else {
            throw invalidGrant(turn, "refresh.known", expected: "a live refresh token", actual: "unknown or revoked")
        }
        guard turn.now < family.expiresAt else {
            throw invalidGrant(turn, "refresh.lifetime", expected: "a family in time", actual: "an expired one")
        }
        return (grant, family)
    }

    /// Before anything is spent: a token in wrong hands changes nothing for the right ones.
    private func ownership(
        of grant: Grant, _ request: RefreshGrantRequest, _ application: Application, _ proof: AcceptedProof,
        _ turn: Turn
    ) throws(Refusal) {
        guard grant.clientID == request.client.id || skips(.refreshClient) else {
            throw invalidGrant(turn, "refresh.client", expected: "the client of the grant", actual: "another")
        }
        // RFC 9449 section 5: the token of a confidential client is bound to its authentication, not to a key.
        guard grant.jkt == proof.jkt || isConfidential(application) || skips(.refreshProofKey) else {
            throw invalidGrant(turn, "refresh.dpop_key", expected: "the DPoP key of the grant", actual: "another key")
        }
    }

    /// The grant and the name of its family, for a token that was not used before.
    private mutating func notSpent(
        _ request: RefreshGrantRequest, _ family: RefreshFamily, _ grant: Grant, _ turn: inout Turn
    ) throws(Refusal) -> (Grant, selector: String) {
        guard request.tokenHash != family.currentHash else { return (grant, request.selector) }
        if !skips(.refreshReuseRevokes) { revoke(grantID: grant.id, &turn) }
        // A spent token that is taken begins a family of its own, so that the end of the old one still shows.
        if skips(.refreshOnce) {
            let selector = turn.identifier()
            return (grant.renamed(Grant.id(selector: selector)), selector)
        }
        throw invalidGrant(turn, "refresh.once", expected: "the newest token of the family", actual: "a spent one")
    }

    private mutating func access(of grant: Grant, _ turn: inout Turn) throws(Refusal) -> User {
        if skips(.refreshAccess), let user = users[grant.userID] { return user }
        guard let user = userWhoMaySignIn(grant.userID, to: grant.clientID) else {
            revoke(grantID: grant.id, &turn)
            throw invalidGrant(
                turn, "refresh.access", expected: "a user who may sign in", actual: "one who may not any more")
        }
        return user
    }

    private func scope(
        _ request: RefreshGrantRequest, within grant: Grant, _ turn: Turn
    ) throws(Refusal) -> [String] {
        guard let asked = request.scope else { return grant.scope }
        guard !asked.isEmpty, asked.allSatisfy(grant.scope.contains) || skips(.refreshScope) else {
            throw Refusal(
                turn.errors.invalidScope, rule: "refresh.scope", expected: grant.scope.joined(separator: " "),
                actual: Clipped.text(asked.joined(separator: " ")))
        }
        return asked
    }

    private func resource(
        _ request: RefreshGrantRequest, of grant: Grant, _ turn: Turn
    ) throws(Refusal) {
        guard let asked = request.resource, asked != grant.resource, !skips(.refreshResource) else { return }
        throw Refusal(
            turn.errors.invalidTarget, rule: "refresh.resource", expected: grant.resource ?? "no resource",
            actual: Clipped.text(asked))
    }

    private mutating func renew(
        _ selector: String, _ grant: Grant, _ application: Application, _ user: User, _ scope: [String],
        _ turn: inout Turn
    ) -> PendingReply {
        var grant = grant
        var successor: String?
        if application.rotatesRefreshTokens {
            let token = RefreshTokenText.make(selector: selector, secret: turn.secret())
            grant.refresh?.currentHash = storedHash(token)
            successor = token
        }
        let endsAt = turn.now.adding(seconds: accessTokenLifetime(application, turn))
        grant.accessEndsAt = max(grant.accessEndsAt, endsAt)
        save(grant, &turn)
        return tokenReply(
            TokenIssue(
                grant: grant, application: application, user: user, scope: scope, nonce: nil,
                refreshToken: successor), &turn)
    }
}

extension Grant {
    /// The same grant under another name.
    fileprivate func renamed(_ id: String) -> Grant {
        Grant(
            id: id, userID: userID, clientID: clientID, applicationSerial: applicationSerial, jkt: jkt, scope: scope,
            resource: resource, authTime: authTime, epoch: epoch, refresh: refresh, accessEndsAt: accessEndsAt)
    }

    /// The grant with what it issues from now on bound to the key of a proof.
    fileprivate func bound(to proof: AcceptedProof) -> Grant {
        var grant = self
        grant.jkt = proof.jkt
        return grant
    }
}
