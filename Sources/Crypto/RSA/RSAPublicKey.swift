import COpenSSL

extension RSA {
    /// An RSA public key of 2048 to 8192 bits.
    public struct PublicKey: Sendable {
        /// The modulus, big-endian, without leading zeros.
        public let n: [UInt8]
        /// The public exponent, big-endian, without leading zeros.
        public let e: [UInt8]
        let key: AsymmetricKey

        /// The key with this modulus and exponent, both big-endian without leading zeros.
        ///
        /// A modulus outside 2048...8192 bits is `CryptoError.modulusBits`. Leading zeros, even
        /// numbers and exponents under 3 or over 8 bytes are `CryptoError.rsaNumbers`.
        public init(n: [UInt8], e: [UInt8]) throws(CryptoError) {
            guard let top = n.first, top != 0, let last = n.last, last & 1 == 1 else { throw .rsaNumbers }
            let bits = n.count * 8 - top.leadingZeroBitCount
            guard RSA.modulusBits.contains(bits) else { throw .modulusBits(bits) }
            guard let high = e.first, high != 0, let low = e.last, low & 1 == 1, e.count <= 8, e != [1] else {
                throw .rsaNumbers
            }
            var modulus = [UInt8](n.reversed())
            var exponent = [UInt8](e.reversed())
            let pointer = try check(
                understudy_rsa_key(&modulus, modulus.count, &exponent, exponent.count), "EVP_PKEY_fromdata")
            self.n = n
            self.e = e
            key = AsymmetricKey(adopting: pointer)
        }

        /// Whether `signature`, exactly as long as the modulus, signs `message` with this padding.
        public func verify(_ signature: [UInt8], of message: [UInt8], padding: Padding) -> Bool {
            guard signature.count == n.count else { return false }
            let digest = SHA256.hash(message)
            do throws(CryptoError) {
                let context = try KeyContext(key)
                try check(EVP_PKEY_verify_init(context.pointer), "EVP_PKEY_verify_init")
                try context.usePadding(padding)
                try check(
                    EVP_PKEY_verify(context.pointer, signature, signature.count, digest, digest.count),
                    "EVP_PKEY_verify")
                return true
            } catch {
                return false
            }
        }
    }
}

extension RSA.PublicKey: Hashable {
    /// Keys are equal when modulus and exponent are.
    public static func == (left: Self, right: Self) -> Bool { left.n == right.n && left.e == right.e }

    /// Hashes modulus and exponent.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(n)
        hasher.combine(e)
    }
}

extension KeyContext {
    /// Sets the padding, and SHA-256 wherever a digest is used.
    func usePadding(_ padding: RSA.Padding) throws(CryptoError) {
        let mode = padding == .pkcs1 ? RSA_PKCS1_PADDING : RSA_PKCS1_PSS_PADDING
        try check(EVP_PKEY_CTX_set_rsa_padding(pointer, mode), "EVP_PKEY_CTX_set_rsa_padding")
        let digest = FetchedDigest.sha256.pointer
        try check(EVP_PKEY_CTX_set_signature_md(pointer, digest), "EVP_PKEY_CTX_set_signature_md")
        guard padding == .pss else { return }
        try check(EVP_PKEY_CTX_set_rsa_mgf1_md(pointer, digest), "EVP_PKEY_CTX_set_rsa_mgf1_md")
        // Fixed by RFC 7518 3.5: as many bytes as the digest.
        try check(EVP_PKEY_CTX_set_rsa_pss_saltlen(pointer, 32), "EVP_PKEY_CTX_set_rsa_pss_saltlen")
    }
}
