import Encoding
import HTTP
import JOSE
import Profiles

extension Realm {
    /// A call of the resource API (RFC 9449 section 7).
    ///
    /// The token first, since a proof says nothing about a token that is none; then the proof, then that the two belong
    /// together.
    mutating func serve(_ request: ResourceRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        if case .none = request.credentials, skips(.apiToken) {
            return content(of: request, subject: "", scope: "", turn)
        }
        let token = try presentedToken(request, turn)
        try audience(of: token, turn)
        try lifetime(of: token, turn)
        try notRevoked(token, turn)
        if case .bearer = request.credentials {
            return content(of: request, subject: token.subject, scope: token.scope, turn)
        }
        let proof = try accepted(
            request.proof, nonce: tenant.policy.nonceAtResource ? .required : .optional,
            nonces: turn.settings.apiNonces, turn)
        try sameKey(proof, token, turn)
        try firstUseAtAPI(of: proof, turn)
        return content(of: request, subject: token.subject, scope: token.scope, turn)
    }

    private func presentedToken(_ request: ResourceRequest, _ turn: Turn) throws(Refusal) -> AccessToken {
        switch request.credentials {
        case .dpop(.success(let token)): return token
        case .dpop(.failure(let fault)):
            throw invalidToken(turn, fault.rule, expected: fault.expected, actual: fault.actual)
        case .bearer(.success(let token)) where skips(.apiScheme): return token
        case .bearer:
            throw invalidToken(
                turn, "api.scheme", expected: "the DPoP scheme: every token of this API is bound", actual: "Bearer")
        case .none:
            var refusal = invalidToken(turn, "api.authorization", expected: "an access token", actual: "none")
            refusal.isBareChallenge = true
            throw refusal
        case .unusable(let scheme):
            var refusal = invalidToken(
                turn, "api.authorization", expected: "DPoP and a token", actual: Clipped.text(scheme))
            refusal.isBareChallenge = true
            throw refusal
        case .several:
            throw Refusal(
                turn.errors.invalidRequest, rule: "api.authorization", expected: "one Authorization field",
                actual: "several")
        }
    }

    private func audience(of token: AccessToken, _ turn: Turn) throws(Refusal) {
        let wanted = turn.settings.apiAudience(tenant.id)
        guard !token.audiences.contains(wanted), !skips(.tokenAudience) else { return }
        throw invalidToken(turn, "access_token.aud", expected: wanted, actual: "another audience")
    }

    private func lifetime(of token: AccessToken, _ turn: Turn) throws(Refusal) {
        guard turn.now >= token.expiresAt, !skips(.tokenExpiry) else { return }
        let late = turn.now.seconds(since: token.expiresAt)
        throw invalidToken(turn, "access_token.exp", expected: "a token in time", actual: "\(late) s too late")
    }

    private func notRevoked(_ token: AccessToken, _ turn: Turn) throws(Refusal) {
        guard liveGrant(token.grantID) == nil || revokedTokens[token.jti] != nil, !skips(.tokenRevoked) else { return }
        throw invalidToken(turn, "access_token.revoked", expected: "a live grant", actual: "a revoked one")
    }

    private func sameKey(_ proof: AcceptedProof, _ token: AccessToken, _ turn: Turn) throws(Refusal) {
        guard proof.jkt != token.jkt, !skips(.tokenProofKey) else { return }
        throw invalidToken(
            turn, "access_token.cnf", expected: "a proof by the key of cnf.jkt", actual: "a proof by another key")
    }

    private func content(
        of request: ResourceRequest, subject: String, scope: String, _ turn: Turn
    ) -> PendingReply {
        if request.method == "GET", request.localPath == turn.profile.paths.accounts {
            return .json(200, ["accounts": .array(accounts(of: subject))])
        }
        return .json(
            200,
            .object([
                ("method", .string(request.method)), ("path", .string(request.path)), ("sub", .string(subject)),
                ("scope", .string(scope)), ("body_bytes", .int(Int64(request.bodyBytes))),
            ]))
    }

    /// Two accounts whose numbers and balances follow from the `sub`, so that a test knows them again.
    private func accounts(of subject: String) -> [JSON] {
        let digest = storedHash(subject).utf8.map(Int64.init)
        return [("Current account", 0), ("Savings", 8)].map { name, start in
            let number = digest[start..<(start + 8)].reduce(Int64(0)) { ($0 * 31 + $1) % 100_000_000 }
            return [
                "id": .string("acc_\(number)"), "name": .string(name), "currency": "EUR",
                "balance_cents": .int(number % 1_000_000),
            ]
        }
    }

    private func invalidToken(_ turn: Turn, _ rule: String, expected: String, actual: String) -> Refusal {
        Refusal(turn.errors.invalidToken, rule: rule, expected: expected, actual: actual)
    }
}

extension Refusal {
    /// RFC 9449 section 7.1: the error in a challenge, none where no token was presented.
    func challenge() -> PendingReply {
        guard answer.status == 401 || answer.code.hasSuffix("dpop_proof") || answer.code.hasSuffix("dpop_nonce") else {
            return with(.json(answer.status, ["error": .string(answer.code)]))
        }
        var reply = PendingReply.empty(401)
        if isBareChallenge {
            reply.fields.append("WWW-Authenticate", "DPoP algs=\"ES256\"")
        } else {
            reply = .json(401, ["error": .string(answer.code)])
            reply.fields.append("WWW-Authenticate", "DPoP error=\"\(answer.code)\", algs=\"ES256\"")
        }
        return with(reply)
    }
}
