internal import Device
internal import Encoding
internal import OAuth

/// A token response that was accepted: the session as it is stored, and what is told of it.
struct EarnedSession {
    /// What was asked of whom.
    struct Order {
        let issuer: String
        let clientID: String
        let resource: String?
        /// The scopes that were asked for; a response without `scope` grants them all (RFC 6749, section 5.1).
        let scopes: [String]
        let tokenEndpoint: String
        let revocationEndpoint: String?
    }

    let stored: TokenSession
    let summary: SignedInSummary

    init(_ tokens: TokenResponse, _ claims: IDTokenClaims?, _ order: Order, pki: SignInPKIResult?, at now: Instant) {
        let scope = tokens.scope ?? order.scopes
        stored = TokenSession(
            issuer: order.issuer, clientID: order.clientID, resource: order.resource,
            accessToken: tokens.accessToken, expiresAt: now.adding(seconds: tokens.expiresInSeconds),
            refreshToken: tokens.refreshToken, scope: scope, claims: claims?.json, subject: claims?.subject,
            createdAt: now, tokenEndpoint: order.tokenEndpoint, revocationEndpoint: order.revocationEndpoint)
        summary = SignedInSummary(
            issuer: order.issuer, subject: claims?.subject, email: claims?.email, scope: scope,
            expiresAt: stored.expiresAt, canRefresh: tokens.refreshToken != nil, pki: pki)
    }
}

extension IssuedGrant {
    /// The grant behind tokens that could not be stored.
    init(of tokens: TokenSession) {
        if let refreshToken = tokens.refreshToken {
            self.init(token: refreshToken, kind: .refreshToken)
        } else {
            self.init(token: tokens.accessToken, kind: .accessToken)
        }
    }
}
