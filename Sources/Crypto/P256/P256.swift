/// The curve P-256 (FIPS 186-4, also secp256r1): keys, ES256 signatures and key agreement.
public enum P256 {
    /// Where a signature's secret nonce comes from.
    public enum SigningNonce: Sendable, Hashable {
        /// From the system, another one for each signature. For keys that matter.
        case random
        /// From the key and the message (RFC 6979), so that a run can be repeated byte for byte.
        ///
        /// The arithmetic is not hardened against timing: for test keys, which all of a seeded run's are.
        case rfc6979
    }
}
