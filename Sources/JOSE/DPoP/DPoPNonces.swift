import Crypto
public import Encoding

/// Nonces for DPoP proofs (RFC 9449 section 8) that need no storage.
///
/// A nonce is the number of a stretch of time and an HMAC of it under the server's secret, so the server
/// recognises its own, and tells their age, without keeping any. It is good in its own stretch and the
/// next one, and may be used more than once.
public struct DPoPNonces: Sendable {
    private let secret: [UInt8]
    private let audience: [UInt8]
    private let bucketMilliseconds: Int64

    /// The nonces of one server.
    ///
    /// `secret` has 32 random bytes or more and is shared by all who must accept each other's nonces;
    /// `audience` tells servers with one secret apart (an issuer, an API); a nonce lives for one to two
    /// times `bucketSeconds`.
    public init(secret: [UInt8], audience: String, bucketSeconds: Int64 = 60) {
        precondition(secret.count >= 16 && bucketSeconds > 0)
        self.secret = secret
        self.audience = Array(audience.utf8)
        bucketMilliseconds = bucketSeconds * 1000
    }

    /// The nonce of this moment, 32 characters of base64url.
    public func issue(now: Instant) -> String { Base64URL.encode(nonce(bucket(now))) }

    /// Whether this server gave out `nonce` in the current stretch of time or the one before.
    public func isFresh(_ nonce: String, now: Instant) -> Bool {
        guard nonce.utf8.count == 32, let bytes = try? Base64URL.decode(nonce) else { return false }
        let claimed = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let current = bucket(now)
        guard claimed == UInt64(bitPattern: current) || claimed == UInt64(bitPattern: current - 1) else { return false }
        return HMAC.equal(bytes, self.nonce(Int64(bitPattern: claimed)))
    }

    private func bucket(_ now: Instant) -> Int64 {
        let (quotient, remainder) = now.milliseconds.quotientAndRemainder(dividingBy: bucketMilliseconds)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// 8 bytes of stretch number and 16 of its code.
    private func nonce(_ bucket: Int64) -> [UInt8] {
        let number = withUnsafeBytes(of: bucket.bigEndian) { [UInt8]($0) }
        let message = Array("understudy dpop nonce v1".utf8) + number + audience
        return number + HMAC.sha256(key: secret, message: message).prefix(16)
    }
}

extension DPoPNonces: CustomStringConvertible, CustomReflectable {
    /// Says whose nonces these are; the secret stays unsaid.
    public var description: String { "DPoPNonces(\(String(decoding: audience, as: UTF8.self)))" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
