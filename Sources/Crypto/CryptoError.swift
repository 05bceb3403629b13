/// Why a cryptographic operation did not give a result.
///
/// No case carries a key, a secret or a message; lengths and names of operations only.
public enum CryptoError: Error, Sendable, Hashable {
    /// A symmetric key of the wrong length, in bytes. Give 16 or 32 for AES-GCM.
    case keyLength(Int)
    /// An AES-GCM nonce that is not 12 bytes long.
    case nonceLength(Int)
    /// The ciphertext is shorter than its tag, or key, nonce, data or tag do not belong together.
    case notAuthentic
    /// More key material was asked of HKDF than RFC 5869 allows (255 blocks), or a negative amount.
    case outputLength(Int)
    /// Something to wrap, or wrapped, that is not some eights of bytes: 16 or more of a key, 24 or more wrapped.
    case wrapLength(Int)
    /// A private scalar that is not 32 bytes long on P-256, or 48 on P-384.
    case scalarLength(Int)
    /// A private scalar that is zero or not below the group order.
    case scalarRange
    /// A P-256 point that is not 65 bytes beginning with 04, or a coordinate that is not 32 bytes.
    case pointEncoding
    /// A point whose coordinates are not a point of P-256.
    case pointNotOnCurve
    /// Too little key material to derive a key pair from, in bytes. Give 32 or more.
    case keyMaterialLength(Int)
    /// A digest of the wrong length for the algorithm.
    case digestLength(Int)
    /// An ECDSA signature that is not exactly 64 bytes of r and s.
    case signatureLength(Int)
    /// Bytes that are not the DER of what was asked for, or not its only DER.
    case der
    /// An RSA modulus outside 2048...8192 bits.
    case modulusBits(Int)
    /// An RSA modulus or public exponent that cannot be one: even, too small, too large or padded.
    case rsaNumbers
    /// A private key that is protected by a passphrase.
    case encryptedKey
    /// A private key that is neither on P-256 nor of RSA.
    case keyKind
    /// OpenSSL refused for a reason of its own: the call, and the reason it queued.
    case openSSL(call: String, reason: String)

    /// A stable dotted name of the rule that was broken.
    public var code: String {
        switch self {
        case .keyLength: "crypto.key.length"
        case .nonceLength: "crypto.nonce.length"
        case .notAuthentic: "crypto.aead.not_authentic"
        case .outputLength: "crypto.hkdf.length"
        case .wrapLength: "crypto.wrap.length"
        case .scalarLength: "crypto.p256.scalar_length"
        case .scalarRange: "crypto.p256.scalar_range"
        case .pointEncoding: "crypto.p256.point_encoding"
        case .pointNotOnCurve: "crypto.p256.not_on_curve"
        case .keyMaterialLength: "crypto.dhkem.key_material"
        case .digestLength: "crypto.digest.length"
        case .signatureLength: "crypto.signature.length"
        case .der: "crypto.der"
        case .modulusBits: "crypto.rsa.modulus_bits"
        case .rsaNumbers: "crypto.rsa.numbers"
        case .encryptedKey: "crypto.key.encrypted"
        case .keyKind: "crypto.key.kind"
        case .openSSL: "crypto.openssl"
        }
    }
}

extension CryptoError: CustomStringConvertible {
    /// The rule and the value that broke it, for a person.
    public var description: String {
        switch self {
        case .keyLength(let count): "the key must be 16 or 32 bytes long, not \(count)"
        case .nonceLength(let count): "the nonce must be 12 bytes long, not \(count)"
        case .notAuthentic: "the ciphertext does not belong to this key, nonce and associated data"
        case .outputLength(let count): "HKDF-SHA256 gives 0 to 8160 bytes, not \(count)"
        case .wrapLength(let count): "what is wrapped must be eights of bytes, two at least, not \(count) bytes"
        case .scalarLength(let count): "a private scalar must be 32 bytes long on P-256 and 48 on P-384, not \(count)"
        case .scalarRange: "a private scalar must be at least 1 and below the group order"
        case .pointEncoding: "a P-256 public key must be 04 followed by two coordinates of 32 bytes"
        case .pointNotOnCurve: "the coordinates are not a point of P-256"
        case .keyMaterialLength(let count): "a key pair is derived from 32 bytes or more, not \(count)"
        case .digestLength(let count): "the digest must be 32 bytes long, or 48 for P-384, not \(count)"
        case .signatureLength(let count): "an ES256 signature must be 64 bytes long, not \(count)"
        case .der: "the bytes are not the DER encoding of what was asked for"
        case .modulusBits(let bits): "an RSA modulus must have 2048 to 8192 bits, not \(bits)"
        case .rsaNumbers: "these numbers are no RSA public key"
        case .encryptedKey: "the private key is encrypted; give it without a passphrase"
        case .keyKind: "the private key must be one on P-256 or of RSA"
        case .openSSL(let call, let reason): "OpenSSL refused \(call): \(reason)"
        }
    }
}
