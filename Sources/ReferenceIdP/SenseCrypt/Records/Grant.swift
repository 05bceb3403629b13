import Encoding

/// What one sign-in issued: a line of access tokens and, with `offline_access`, a refresh token family.
///
/// The grant's id is in the `jti` of its access tokens, so removing the grant revokes them all at once.
/// A refresh token is `selector.secret`; the id is the hash of the selector. Whoever sees an access
/// token therefore cannot name the family, and a spent refresh token still can.
struct Grant: Expiring, Hashable {
    let id: String
    let userID: String
    let clientID: String
    let applicationSerial: Int64
    /// The key everything issued is bound to; for a confidential client, what is issued next.
    var jkt: String
    let scope: [String]
    let resource: String?
    let authTime: Instant
    /// The key of the client's instance, which refreshing needs where the client authenticates by attestation.
    var instance: String?
    /// ``User/grantEpoch`` when it was issued.
    let epoch: Int64
    var refresh: RefreshFamily?
    /// When its newest access token ends.
    var accessEndsAt: Instant

    var forgottenAt: Instant { max(accessEndsAt, refresh?.expiresAt ?? accessEndsAt) }

    /// The id of the grant whose refresh tokens begin with a selector.
    static func id(selector: String) -> String { String(storedHash(selector).prefix(32)) }
}

/// The refresh tokens of a grant, of which one is good.
struct RefreshFamily: Sendable, Hashable {
    /// The hash of the good one.
    var currentHash: String
    let expiresAt: Instant
}

/// An access token that was revoked alone, stored under its `jti` for as long as it would have lived.
struct RevokedToken: Expiring, Hashable {
    let expiresAt: Instant
    var forgottenAt: Instant { expiresAt }
}
