extension Realm {
    /// A grant that was not revoked, by itself, with its user's others, or with its application.
    func liveGrant(_ id: String) -> Grant? {
        guard let grant = grants[id], let user = users[grant.userID], user.grantEpoch == grant.epoch,
            applications[grant.clientID]?.serial == grant.applicationSerial
        else { return nil }
        return grant
    }

    /// Ends a grant: its refresh token and all its access tokens.
    mutating func revoke(grantID: String, _ turn: inout Turn) {
        guard grants.remove(grantID) != nil else { return }
        turn.changes.append(RecordChange(kind: .grant, key: key(grantID), value: nil))
    }

    /// RFC 7009: the answer is the same for tokens of ours, of others, and of nobody.
    ///
    /// A client that is attested with its DPoP key needs a proof of that. Else neither a proof nor the preconditions are asked for: who lost the key, or whose feature was turned
    /// off, must still be able to sign out.
    mutating func revoke(_ request: RevocationRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let client = try authenticated(request.client, turn)
        if client.application.authentication == .attestationWithDPoP, client.attestation != nil {
            let proof = try accepted(request.proof, nonce: .required, turn)
            try sameInstance(client, proof, turn)
            try firstUse(of: proof, turn)
        }
        try firstUse(of: client, turn)
        switch request.token {
        case .access(let jti, let clientID, let expiresAt) where clientID == request.client.id && turn.now < expiresAt:
            save(RevokedToken(expiresAt: expiresAt), jti: jti, &turn)
        case .opaque(let grantID) where grants[grantID]?.clientID == request.client.id:
            revoke(grantID: grantID, &turn)
        case .access, .opaque:
            break
        }
        return .empty(200)
    }
}
