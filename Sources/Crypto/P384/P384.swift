/// The curve P-384 (FIPS 186-4, also secp384r1): what platforms' certificate authorities sign with.
public enum P384 {
    /// The digests an authority signs.
    public enum Digest: Sendable, Hashable, CaseIterable {
        /// SHA-256, as Apple's authority does with its P-384 key.
        case sha256
        /// SHA-384.
        case sha384

        func hash(_ message: [UInt8]) -> [UInt8] {
            switch self {
            case .sha256: SHA256.hash(message)
            case .sha384: SHA384.hash(message)
            }
        }
    }

    /// What precedes the point in a SubjectPublicKeyInfo of P-384 (RFC 5480).
    ///
    /// DER leaves no choice, so the 23 bytes are always these.
    private static let spkiPrefix: [UInt8] = [
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04,
        0x00, 0x22, 0x03, 0x62, 0x00,
    ]

    /// A P-384 private key, which signs.
    ///
    /// Its description shows nothing of it.
    public struct PrivateKey: Sendable {
        /// The public point as 97 bytes: 04, x, y.
        public let x963: [UInt8]
        private let key: AsymmetricKey

        /// A fresh key out of `entropy`: the same key for the same seed.
        public static func generate(_ entropy: Entropy) throws(CryptoError) -> PrivateKey {
            while true {
                let scalar = entropy.bytes(48)
                if Curve.p384.isScalar(scalar) { return try PrivateKey(scalar: scalar) }
            }
        }

        /// The key with this secret scalar, 48 big-endian bytes.
        ///
        /// Another length is `CryptoError.scalarLength`; zero, or the group order and above, is
        /// `CryptoError.scalarRange`.
        public init(scalar: [UInt8]) throws(CryptoError) {
            guard scalar.count == 48 else { throw .scalarLength(scalar.count) }
            guard Curve.p384.isScalar(scalar) else { throw .scalarRange }
            (x963, key) = try Curve.p384.keyPair(scalar: scalar)
        }

        /// The secret scalar, 48 big-endian bytes: for the store, never for a log.
        public var scalar: [UInt8] {
            get throws(CryptoError) { try key.number("priv", width: 48) }
        }

        /// The public half as the 120 bytes of a DER SubjectPublicKeyInfo (RFC 5480).
        public var spki: [UInt8] { P384.spkiPrefix + x963 }

        /// Signs a message: 96 bytes, r and s of 48 each.
        public func sign(
            _ message: [UInt8], digest: Digest = .sha384, nonce: P256.SigningNonce = .random
        ) throws(CryptoError) -> [UInt8] {
            let hash = digest.hash(message)
            switch nonce {
            case .random: return try RandomECDSA.sign(digest: hash, key: key, curve: .p384)
            case .rfc6979: return try DeterministicECDSA.sign(digest: hash, scalar: scalar, curve: .p384)
            }
        }
    }
}

extension P384.PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is and nothing of its value.
    public var description: String { "P-384 private key ‹redacted›" }
    /// Says what it is and nothing of its value.
    public var debugDescription: String { description }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
