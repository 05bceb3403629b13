/// RSA (RFC 8017) with SHA-256: the signatures RS256 and PS256 of RFC 7518.
public enum RSA {
    /// The moduli accepted, in bits: fewer are unsafe (RFC 7518 3.3), more only cost the verifier time.
    public static let modulusBits = 2048...8192

    /// Which padding a signature has.
    public enum Padding: Sendable, Hashable {
        /// RSASSA-PKCS1-v1_5 with SHA-256, `RS256`.
        case pkcs1
        /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes, `PS256`.
        case pss
    }
}
