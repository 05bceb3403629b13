import Crypto
import Encoding

/// The hash the ceremony's claims are made of: base64url(SHA-256(x)), the wire's `H(x)`.
public enum CeremonyHash {
    /// The hash of a text's bytes, for `ash` (an `auth_session`) and `tkt` (a ticket or code).
    public static func of(ascii text: String) -> String {
        Base64URL.encode(SHA256.hash(ascii: text))
    }

    /// The hash of bytes, for `fth` (a sealed face token).
    public static func of(_ bytes: [UInt8]) -> String {
        Base64URL.encode(SHA256.hash(bytes))
    }
}
