public import Crypto
public import Encoding

/// A DPoP proof whose form, signature, method, URL and token hash were checked.
///
/// Its time, its nonce and whether it was seen before are not: `DPoPVerifier.accept` and `ReplayCache`.
public struct CheckedProof: Sendable, Hashable {
    /// The key that signed it.
    public let key: P256.PublicKey
    /// The RFC 7638 thumbprint of the key, to be compared with what the request is bound to.
    public let jkt: String
    /// The proof's identifier.
    public let jti: String
    /// When it says it was made, in seconds since 1970.
    public let issuedAt: Int64
    /// Whether `issuedAt` was readable; always so, except where the rule on its form is not applied.
    let isDated: Bool
    /// The nonce it carries.
    public let nonce: String?

    /// Until when it must be remembered: as long as this or any later instant could find it in time.
    public func memoryDeadline(now: Instant, times: ProofTimes = .standard) -> Instant {
        Instant(seconds: max(now.seconds, issuedAt)).adding(seconds: times.window + times.skew)
    }
}

/// How far a proof's `iat` may be from the server's clock, in seconds.
public struct ProofTimes: Sendable, Hashable {
    /// How far back without a nonce.
    public var window: Int64
    /// How far ahead without a nonce.
    public var skew: Int64
    /// How far ahead with a fresh nonce, which dates the proof by itself.
    public var skewWithNonce: Int64

    /// The bounds given.
    public init(window: Int64, skew: Int64, skewWithNonce: Int64) {
        self.window = window
        self.skew = skew
        self.skewWithNonce = skewWithNonce
    }

    /// 60 s back and 10 s ahead; 60 s ahead with a nonce (FAPI 2.0 5.3.2.1).
    public static let standard = ProofTimes(window: 60, skew: 10, skewWithNonce: 60)
}

/// What a server wants with nonces.
public enum NoncePolicy: Sendable {
    /// None given, none read.
    case ignored
    /// Proofs need none, but one that is there must be fresh.
    case accepted(DPoPNonces)
    /// Proofs need a fresh one.
    case required(DPoPNonces)
}
