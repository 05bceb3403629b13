import COpenSSL

extension P256 {
    /// A P-256 private key with its public half.
    ///
    /// Its description shows nothing of it.
    public struct PrivateKey: Sendable {
        /// The public half.
        public let publicKey: PublicKey
        private var key: AsymmetricKey { publicKey.key }

        /// A fresh key out of `entropy`: the same key for the same seed.
        public static func generate(_ entropy: Entropy) throws(CryptoError) -> PrivateKey {
            // A draw misses with probability 2^-32; rejecting it keeps all scalars equally likely.
            while true {
                let scalar = entropy.bytes(32)
                if Curve.p256.isScalar(scalar) { return try PrivateKey(scalar: scalar) }
            }
        }

        /// The key with this secret scalar, 32 big-endian bytes.
        ///
        /// Another length is `CryptoError.scalarLength`; zero, or the group order and above, is
        /// `CryptoError.scalarRange`.
        public init(scalar: [UInt8]) throws(CryptoError) {
            guard scalar.count == 32 else { throw .scalarLength(scalar.count) }
            guard Curve.p256.isScalar(scalar) else { throw .scalarRange }
            let pair = try Curve.p256.keyPair(scalar: scalar)
            publicKey = PublicKey(x963: pair.point, key: pair.key)
        }

        /// The secret scalar, 32 big-endian bytes: for the store, never for a log.
        public var scalar: [UInt8] {
            get throws(CryptoError) { try key.number(OSSL_PKEY_PARAM_PRIV_KEY, width: 32) }
        }
    }
}

extension P256.PrivateKey {
    /// Signs `message` as ES256 does (RFC 7518 3.4): 64 bytes, r and s of 32 each.
    public func sign(
        _ message: [UInt8], nonce: P256.SigningNonce = .random
    ) throws(CryptoError) -> [UInt8] {
        try sign(digest: SHA256.hash(message), nonce: nonce)
    }

    /// Signs a 32-byte digest: 64 bytes, r and s of 32 each.
    ///
    /// Another length is `CryptoError.digestLength`: ECDSA would leave what exceeds 32 bytes unprotected.
    public func sign(
        digest: [UInt8], nonce: P256.SigningNonce = .random
    ) throws(CryptoError) -> [UInt8] {
        guard digest.count == 32 else { throw .digestLength(digest.count) }
        switch nonce {
        case .random: return try RandomECDSA.sign(digest: digest, key: key, curve: .p256)
        case .rfc6979: return try DeterministicECDSA.sign(digest: digest, scalar: scalar, curve: .p256)
        }
    }

    /// The 32 bytes both sides of a key agreement get (SP 800-56A 5.7.1.2): the x coordinate of the
    /// shared point, leading zeros included.
    public func sharedSecret(with peer: P256.PublicKey) throws(CryptoError) -> [UInt8] {
        let context = try KeyContext(key)
        try check(EVP_PKEY_derive_init(context.pointer), "EVP_PKEY_derive_init")
        // 0: a `PublicKey` is known to be on the curve, and P-256 has no points of small order.
        try check(EVP_PKEY_derive_set_peer_ex(context.pointer, peer.key.pointer, 0), "EVP_PKEY_derive_set_peer_ex")
        var secret = [UInt8](repeating: 0, count: 32)
        var count = secret.count
        try check(EVP_PKEY_derive(context.pointer, &secret, &count), "EVP_PKEY_derive")
        precondition(count == 32, "P-256 key agreement gives 32 bytes")
        return secret
    }
}

extension P256.PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is and nothing of its value.
    public var description: String { "P-256 private key ‹redacted›" }
    /// Says what it is and nothing of its value.
    public var debugDescription: String { description }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
