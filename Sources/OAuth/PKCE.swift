internal import Crypto
internal import Encoding

/// Proof Key for Code Exchange with the only method in use, `S256` (RFC 7636).
public enum PKCE {
    /// The value of `code_challenge_method`.
    public static let method = "S256"

    /// The `code_challenge` of a verifier: base64url(SHA-256(ASCII(verifier))).
    public static func challenge(for verifier: String) -> String {
        Base64URL.encode(SHA256.hash(Array(verifier.utf8)))
    }

    /// Whether a text may be a `code_verifier`: 43 to 128 unreserved characters (RFC 7636 section 4.1).
    public static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count) && text.utf8.allSatisfy(isUnreserved)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
