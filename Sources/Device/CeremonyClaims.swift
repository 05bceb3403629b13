/// What one signed device ceremony says, all but the `iat` and `jti` that are stamped when it is signed.
///
/// Source: the SenseCrypt wire, section 2.
public struct CeremonyClaims: Codable, Sendable, Hashable {
    /// `aud`: the issuer.
    public var issuer: String
    /// `cer`: the ceremony id.
    public var ceremony: String
    /// `chl`: the ceremony challenge.
    public var challenge: String
    /// `ash`: base64url(SHA-256(ASCII of `auth_session`)).
    public var authSessionHash: String
    /// `jkt`: RFC 7638 thumbprint of the install's DPoP key.
    public var installThumbprint: String
    /// `act`, with the claims that go with it.
    public var act: CeremonyAct

    /// Makes the claims from their wire values.
    public init(
        issuer: String, ceremony: String, challenge: String, authSessionHash: String, installThumbprint: String,
        act: CeremonyAct
    ) {
        self.issuer = issuer
        self.ceremony = ceremony
        self.challenge = challenge
        self.authSessionHash = authSessionHash
        self.installThumbprint = installThumbprint
        self.act = act
    }
}

/// What a signed ceremony does (`act`).
public enum CeremonyAct: Codable, Sendable, Hashable {
    /// `face-token`: fetches the sealed face token.
    case faceToken
    /// `attempt`: reports the session's mismatch number `n`, beginning with 1.
    case attempt(number: Int)
    /// `complete`: proves the match. `gen` is the generation fetched; `fth` is base64url(SHA-256(rotated face token)).
    case complete(generation: UInt32, faceTokenHash: String)
    /// `abort`: ends the session, for a one-word reason such as `cancelled`.
    case abort(reason: String)

    /// The `act` claim.
    public var name: String {
        switch self {
        case .faceToken: "face-token"
        case .attempt: "attempt"
        case .complete: "complete"
        case .abort: "abort"
        }
    }
}
