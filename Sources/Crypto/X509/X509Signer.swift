import Encoding

/// A private key that signs certificates.
public enum X509Signer: Sendable {
    /// A key on P-256, signing with SHA-256.
    case p256(P256.PrivateKey)
    /// A key on P-384, signing with the digest named.
    case p384(P384.PrivateKey, P384.Digest)

    /// The public half as a DER SubjectPublicKeyInfo.
    public var spki: [UInt8] {
        switch self {
        case .p256(let key): key.publicKey.spki
        case .p384(let key, _): key.spki
        }
    }

    /// The AlgorithmIdentifier of its signatures (RFC 5758), without parameters.
    public var algorithm: [UInt8] {
        switch self {
        case .p256, .p384(_, .sha256): DER.sequence([DER.oid("1.2.840.10045.4.3.2")])
        case .p384(_, .sha384): DER.sequence([DER.oid("1.2.840.10045.4.3.3")])
        }
    }

    /// Signs a message: a DER SEQUENCE of r and s.
    public func sign(_ message: [UInt8], nonce: P256.SigningNonce) throws(CryptoError) -> [UInt8] {
        let raw: [UInt8]
        switch self {
        case .p256(let key): raw = try key.sign(message, nonce: nonce)
        case .p384(let key, let digest): raw = try key.sign(message, digest: digest, nonce: nonce)
        }
        let half = raw.count / 2
        return DER.sequence([
            DER.integer(magnitude: Array(raw.prefix(half))), DER.integer(magnitude: Array(raw.suffix(half))),
        ])
    }
}

extension X509Signer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is and nothing of its value.
    public var description: String {
        switch self {
        case .p256(let key): key.description
        case .p384(let key, _): key.description
        }
    }
    /// Says what it is and nothing of its value.
    public var debugDescription: String { description }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
