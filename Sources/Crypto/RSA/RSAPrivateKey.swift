import COpenSSL

extension RSA {
    /// An RSA private key with its public half.
    ///
    /// Its description shows nothing of it.
    public struct PrivateKey: Sendable {
        /// The public half.
        public let publicKey: PublicKey
        private let key: AsymmetricKey

        /// A fresh key of 2048 to 8192 bits with exponent 65537, from the system's randomness.
        ///
        /// Takes a good part of a second for 2048 bits, and cannot be repeated from a seed: a run that
        /// must repeat brings its key as PKCS#8.
        public static func generate(bits: Int) throws(CryptoError) -> PrivateKey {
            guard RSA.modulusBits.contains(bits) else { throw .modulusBits(bits) }
            let context = try KeyContext(making: "RSA")
            try check(EVP_PKEY_keygen_init(context.pointer), "EVP_PKEY_keygen_init")
            try check(
                EVP_PKEY_CTX_set_rsa_keygen_bits(context.pointer, Int32(bits)), "EVP_PKEY_CTX_set_rsa_keygen_bits")
            var made: OpaquePointer?
            try check(EVP_PKEY_generate(context.pointer, &made), "EVP_PKEY_generate")
            return try PrivateKey(AsymmetricKey(adopting: check(made, "EVP_PKEY_generate")))
        }

        /// The key of an unencrypted DER PrivateKeyInfo (PKCS#8, RFC 5208).
        ///
        /// Anything else, trailing bytes included, is `CryptoError.der`; a small or impossible key as in
        /// `RSA.PublicKey.init(n:e:)`.
        public init(pkcs8: [UInt8]) throws(CryptoError) {
            let parsed = pkcs8.withUnsafeBufferPointer { pkcs8 -> OpaquePointer? in
                var next = pkcs8.baseAddress
                guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &next, pkcs8.count) else { return nil }
                defer { PKCS8_PRIV_KEY_INFO_free(info) }
                guard next == pkcs8.baseAddress.map({ $0 + pkcs8.count }) else { return nil }
                return EVP_PKCS82PKEY(info)
            }
            guard let parsed else {
                ErrorQueue.clear()
                throw .der
            }
            let key = AsymmetricKey(adopting: parsed)
            guard EVP_PKEY_is_a(parsed, "RSA") == 1 else { throw .der }
            try self.init(key)
        }

        init(_ key: AsymmetricKey) throws(CryptoError) {
            publicKey = try PublicKey(n: key.number(OSSL_PKEY_PARAM_RSA_N), e: key.number(OSSL_PKEY_PARAM_RSA_E))
            self.key = key
        }

        /// The key as an unencrypted DER PrivateKeyInfo (PKCS#8): for the store, never for a log.
        public var pkcs8: [UInt8] {
            get throws(CryptoError) {
                let info = try check(EVP_PKEY2PKCS8(key.pointer), "EVP_PKEY2PKCS8")
                defer { PKCS8_PRIV_KEY_INFO_free(info) }
                let count = i2d_PKCS8_PRIV_KEY_INFO(info, nil)
                guard count > 0 else { throw ErrorQueue.drain("i2d_PKCS8_PRIV_KEY_INFO") }
                return [UInt8](unsafeUninitializedCapacity: Int(count)) { der, filled in
                    var next = der.baseAddress
                    filled = Int(i2d_PKCS8_PRIV_KEY_INFO(info, &next))
                }
            }
        }

        /// Signs `message` with this padding and SHA-256: as many bytes as the modulus has.
        public func sign(_ message: [UInt8], padding: Padding) throws(CryptoError) -> [UInt8] {
            let digest = SHA256.hash(message)
            let context = try KeyContext(key)
            try check(EVP_PKEY_sign_init(context.pointer), "EVP_PKEY_sign_init")
            try context.usePadding(padding)
            var signature = [UInt8](repeating: 0, count: publicKey.n.count)
            var count = signature.count
            try check(EVP_PKEY_sign(context.pointer, &signature, &count, digest, digest.count), "EVP_PKEY_sign")
            precondition(count == signature.count, "an RSA signature is as long as its modulus")
            return signature
        }
    }
}

extension RSA.PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is and nothing of its value.
    public var description: String { "RSA private key of \(publicKey.n.count * 8) bits ‹redacted›" }
    /// Says what it is and nothing of its value.
    public var debugDescription: String { description }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
