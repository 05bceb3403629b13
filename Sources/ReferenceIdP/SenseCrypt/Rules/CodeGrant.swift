import Crypto
import Encoding
import Profiles

extension Realm {
    /// Call 4: redeems a code.
    ///
    /// A code that was redeemed before takes with it what it issued.
    mutating func redeem(_ request: CodeGrantRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let client = try authenticated(request.client, turn)
        let application = client.application
        try preconditions(of: application, turn)
        let proof = try acceptedProof(of: request, &turn)
        try sameInstance(client, proof, turn)
        try firstUse(of: client, turn)
        try firstUse(of: proof, turn)
        let code = try code(request, application, proof, turn)
        try notRedeemed(code, &turn)
        try ownership(of: code, request, proof, turn)
        guard code.instance == client.attestation?.instance else {
            throw invalidGrant(turn, "code.instance", expected: "the instance of the session", actual: "another")
        }
        try verifier(of: request, opens: code, turn)
        let user = try access(of: code, turn)
        return redeemFirst(request, code, application, user, &turn)
    }

    /// The proof, accepted before anything is touched.
    private mutating func acceptedProof(
        of request: CodeGrantRequest, _ turn: inout Turn
    ) throws(Refusal) -> AcceptedProof {
        do throws(Refusal) {
            return try accepted(request.proof, nonce: .required, turn)
        } catch {
            let isChallenge = error.answer.code == turn.errors.useDpopNonce.code
            if skips(.proofBeforeUse), !isChallenge { withdraw(codeHash: request.codeHash, &turn) }
            throw error
        }
    }

    private func code(
        _ request: CodeGrantRequest, _ application: Application, _ proof: AcceptedProof, _ turn: Turn
    ) throws(Refusal) -> AuthorizationCode {
        guard let code = codes[request.codeHash] ?? codeStandIn(application, proof, turn) else {
            throw invalidGrant(turn, "code.known", expected: "a code of this tenant", actual: "no code")
        }
        return code
    }

    /// RFC 6749 section 4.1.2: whoever brings a redeemed code may have stolen it, or may have been robbed.
    private mutating func notRedeemed(_ code: AuthorizationCode, _ turn: inout Turn) throws(Refusal) {
        guard case .redeemed(let grantID) = code.progress else { return }
        if !skips(.codeReuseRevokes) { revoke(grantID: grantID, &turn) }
        guard !skips(.codeOnce) else { return }
        throw invalidGrant(turn, "code.once", expected: "a code not used before", actual: "a second use")
    }

    private func ownership(
        of code: AuthorizationCode, _ request: CodeGrantRequest, _ proof: AcceptedProof, _ turn: Turn
    ) throws(Refusal) {
        guard code.clientID == request.client.id || skips(.codeClient) else {
            throw invalidGrant(turn, "code.client", expected: "the client the code was given to", actual: "another")
        }
        guard code.jkt == proof.jkt || skips(.codeProofKey) else {
            throw invalidGrant(turn, "code.dpop_key", expected: "the DPoP key of the session", actual: "another key")
        }
        guard code.progress != .withdrawn || skips(.codeLive) else {
            throw invalidGrant(
                turn, "code.live", expected: "the newest code of a live session", actual: "a withdrawn one")
        }
        guard stillHolds(code.permit, for: code.clientID) || skips(.codePermit) else {
            throw invalidGrant(
                turn, "code.permit", expected: "a code of a session that is allowed",
                actual: "one from before the feature was withdrawn")
        }
        guard turn.now < code.expiresAt || skips(.codeLifetime) else {
            let late = turn.now.seconds(since: code.expiresAt)
            throw invalidGrant(turn, "code.lifetime", expected: "a code in time", actual: "\(late) s too late")
        }
    }

    /// RFC 7636 section 4.6.
    private func verifier(
        of request: CodeGrantRequest, opens code: AuthorizationCode, _ turn: Turn
    ) throws(Refusal) {
        // Without a challenge only where the start was let through without one.
        guard !code.codeChallenge.isEmpty, !skips(.codeVerifier) else { return }
        guard let verifier = request.codeVerifier else {
            throw invalidGrant(turn, "code.verifier", expected: "code_verifier", actual: "nothing")
        }
        guard CodeVerifier.isWellFormed(verifier) else {
            throw invalidGrant(
                turn, "code.verifier", expected: "43 to 128 unreserved characters",
                actual: "\(verifier.utf8.count) characters")
        }
        guard storedHash(verifier) == code.codeChallenge else {
            throw invalidGrant(turn, "code.verifier", expected: "the verifier of code_challenge", actual: "another")
        }
    }

    private func access(of code: AuthorizationCode, _ turn: Turn) throws(Refusal) -> User {
        if skips(.codeAccess), let user = users[code.userID] { return user }
        guard let user = userWhoMaySignIn(code.userID, to: code.clientID) else {
            throw invalidGrant(
                turn, "code.access", expected: "a user who may sign in", actual: "one who may not any more")
        }
        return user
    }

    private mutating func redeemFirst(
        _ request: CodeGrantRequest, _ code: AuthorizationCode, _ application: Application, _ user: User,
        _ turn: inout Turn
    ) -> PendingReply {
        let selector = turn.identifier()
        var grant = Grant(
            id: Grant.id(selector: selector), userID: user.id, clientID: code.clientID,
            applicationSerial: application.serial, jkt: code.jkt, scope: code.scope, resource: code.resource,
            authTime: code.authTime,
            instance: code.instance, epoch: user.grantEpoch, refresh: nil, accessEndsAt: turn.now)
        var refreshToken: String?
        if code.scope.contains("offline_access") {
            let token = RefreshTokenText.make(selector: selector, secret: turn.secret())
            grant.refresh = RefreshFamily(
                currentHash: storedHash(token),
                expiresAt: turn.now.adding(seconds: turn.profile.lifetimes.refreshToken))
            refreshToken = token
        }
        grant.accessEndsAt = turn.now.adding(seconds: accessTokenLifetime(application, turn))
        let grantID = grant.id
        update(code: request.codeHash, &turn) { $0.progress = .redeemed(grantID: grantID) }
        rememberGrant(grantID, of: code, request.codeHash, &turn)
        save(grant, &turn)
        return tokenReply(
            TokenIssue(
                grant: grant, application: application, user: user, scope: grant.scope, nonce: code.nonce,
                refreshToken: refreshToken), &turn)
    }

    /// So that a replacement code can revoke what this one issued.
    private mutating func rememberGrant(
        _ grantID: String, of code: AuthorizationCode, _ codeHash: String, _ turn: inout Turn
    ) {
        guard case .completed(var completion)? = sessions[code.sessionKey]?.progress,
            completion.codeHash == codeHash
        else { return }
        completion.grantID = grantID
        update(session: code.sessionKey, &turn) { $0.progress = .completed(completion) }
    }

    /// The refusal of a code or a refresh token.
    func invalidGrant(_ turn: Turn, _ rule: String, expected: String, actual: String) -> Refusal {
        Refusal(turn.errors.invalidGrant, rule: rule, expected: expected, actual: actual)
    }
}

/// The syntax of a PKCE verifier (RFC 7636 section 4.1).
enum CodeVerifier {
    static func isWellFormed(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count) && text.utf8.allSatisfy(PercentCoding.isUnreserved)
    }
}
