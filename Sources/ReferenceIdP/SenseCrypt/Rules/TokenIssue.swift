import Encoding
import HTTP
import Profiles

/// What a token answer is made of.
struct TokenIssue: Sendable {
    let grant: Grant
    let application: Application
    let user: User
    /// The scope of this access token: all that was granted, or less.
    let scope: [String]
    /// The nonce of the start, for the ID token of a sign-in; a refreshed one has none.
    let nonce: String?
    let refreshToken: String?
}

extension Realm {
    /// Seconds an access token of an application lives.
    func accessTokenLifetime(_ application: Application, _ turn: Turn) -> Int64 {
        application.accessTokenLifetime ?? turn.profile.lifetimes.accessToken
    }

    /// The answer of the token endpoint, with its tokens yet to be signed.
    func tokenReply(_ issue: TokenIssue, _ turn: inout Turn) -> PendingReply {
        var members = JSONObject([
            ("access_token", .null), ("token_type", "DPoP"),
            ("expires_in", .int(accessTokenLifetime(issue.application, turn))),
        ])
        var tokens = [(member: "access_token", token: accessToken(issue, &turn))]
        if issue.scope.contains("openid") {
            members["id_token"] = .null
            tokens.append((member: "id_token", token: idToken(issue, turn)))
        }
        members["scope"] = .string(issue.scope.joined(separator: " "))
        members["refresh_token"] = issue.refreshToken.map(JSON.string)
        return PendingReply(
            status: 200, fields: HTTPFields([("Content-Type", "application/json")]),
            body: .signed(members, tokens: tokens))
    }

    /// RFC 9068 with the binding of RFC 9449 section 6.1.
    ///
    /// The `jti` begins with the grant, so that the grant's end is the token's.
    private func accessToken(_ issue: TokenIssue, _ turn: inout Turn) -> UnsignedJWT {
        let issuer = turn.settings.issuer(tenant.id)
        let now = turn.now.seconds
        return UnsignedJWT(
            algorithm: .es256, type: "at+jwt",
            claims: JSONObject([
                ("iss", .string(issuer)), ("sub", .string(issue.user.id)),
                ("aud", .string(issue.grant.resource ?? issuer)),
                ("client_id", .string(issue.application.clientID)),
                ("iat", .int(now)), ("exp", .int(now + accessTokenLifetime(issue.application, turn))),
                ("jti", .string("\(issue.grant.id).\(turn.identifier())")),
                ("scope", .string(issue.scope.joined(separator: " "))),
                ("auth_time", .int(issue.grant.authTime.seconds)),
                ("cnf", ["jkt": .string(issue.grant.jkt)]),
            ]))
    }

    /// OpenID Connect Core section 2; there is one audience, so `azp` is not needed.
    private func idToken(_ issue: TokenIssue, _ turn: Turn) -> UnsignedJWT {
        let now = turn.now.seconds
        var claims = JSONObject([
            ("iss", .string(turn.settings.issuer(tenant.id))), ("sub", .string(issue.user.id)),
            ("aud", .string(issue.application.clientID)),
            ("iat", .int(now)), ("exp", .int(now + turn.profile.lifetimes.idToken)),
            ("auth_time", .int(issue.grant.authTime.seconds)),
        ])
        claims["nonce"] = issue.nonce.map(JSON.string)
        if issue.scope.contains("email") { claims["email"] = .string(issue.user.email) }
        return UnsignedJWT(algorithm: issue.application.idTokenAlgorithm, type: "JWT", claims: claims)
    }
}
