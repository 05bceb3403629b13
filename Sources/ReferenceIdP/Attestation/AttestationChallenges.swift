import Crypto
import Encoding

/// Challenges for evidence, which need no storage: a second's number and an HMAC of it under the server's secret.
///
/// One is good for so many seconds, as often as it is used, at the tenant it was given out for.
struct AttestationChallenges: Sendable {
    private let secret: [UInt8]
    private let lifetime: Int64

    init(secret: [UInt8], lifetime: Int64) {
        self.secret = secret
        self.lifetime = lifetime
    }

    /// The tenant's challenge of this second: 43 characters of base64url.
    func issue(for tenant: String, now: Instant) -> String {
        Base64URL.encode(challenge(tenant, second: now.seconds))
    }

    /// Whether a challenge was given out for the tenant, and not too long ago.
    func isFresh(_ challenge: String, for tenant: String, now: Instant) -> Bool {
        guard challenge.utf8.count == 43, let bytes = try? Base64URL.decode(challenge), bytes.count == 32 else {
            return false
        }
        let second = Int64(bitPattern: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard second <= now.seconds, second >= now.seconds - lifetime else { return false }
        return HMAC.equal(bytes, self.challenge(tenant, second: second))
    }

    private func challenge(_ tenant: String, second: Int64) -> [UInt8] {
        let number = withUnsafeBytes(of: second.bigEndian) { [UInt8]($0) }
        let message = Array("understudy attestation challenge v1".utf8) + number + Array(tenant.utf8)
        return number + HMAC.sha256(key: secret, message: message).prefix(24)
    }
}
