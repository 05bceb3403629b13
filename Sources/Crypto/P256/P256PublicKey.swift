import COpenSSL

extension P256 {
    /// A P-256 public key: a point of the curve, checked when it was made.
    public struct PublicKey: Sendable {
        /// The point as 65 bytes: 04, x, y (ANSI X9.63, SEC 1).
        public let x963: [UInt8]
        let key: AsymmetricKey

        /// The key whose point is these 65 bytes.
        ///
        /// Compressed, hybrid and infinite points and other lengths are `CryptoError.pointEncoding`,
        /// points beside the curve `CryptoError.pointNotOnCurve`.
        public init(x963: [UInt8]) throws(CryptoError) {
            guard x963.count == 65, x963[0] == 4 else { throw .pointEncoding }
            let key = try AsymmetricKey.p256WithoutPoint.copy()
            guard EVP_PKEY_set1_encoded_public_key(key.pointer, x963, x963.count) == 1 else {
                ErrorQueue.clear()
                throw .pointNotOnCurve
            }
            self.x963 = x963
            self.key = key
        }

        /// The key with these coordinates, 32 bytes each, leading zeros included.
        ///
        /// A shorter or longer coordinate is `CryptoError.pointEncoding`: it is refused, never repaired.
        public init(x: [UInt8], y: [UInt8]) throws(CryptoError) {
            guard x.count == 32, y.count == 32 else { throw .pointEncoding }
            try self.init(x963: [4] + x + y)
        }

        /// Both halves of one OpenSSL key; `x963` must be its point.
        init(x963: [UInt8], key: AsymmetricKey) {
            self.x963 = x963
            self.key = key
        }

        /// The 32 bytes of the x coordinate.
        public var x: [UInt8] { [UInt8](x963[1...32]) }
        /// The 32 bytes of the y coordinate.
        public var y: [UInt8] { [UInt8](x963[33...64]) }
    }
}

extension P256.PublicKey {
    /// Whether `signature`, exactly 64 bytes of r and s, signs `message` under ES256 (RFC 7518 3.4).
    ///
    /// Any other length or form, DER included, is simply no signature.
    public func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        verify(signature, digest: SHA256.hash(message))
    }

    /// Whether `signature`, 64 bytes of r and s, signs a message of this digest.
    ///
    /// Of a digest longer than 32 bytes ECDSA uses the first 32 only (FIPS 186-4 6.4), so the rest is
    /// not protected; a shorter one is no digest of P-256's strength and never verifies.
    public func verify(_ signature: [UInt8], digest: [UInt8]) -> Bool {
        guard digest.count >= 32, let der = try? P256.ECDSASignature.der(raw: signature) else { return false }
        guard let context = try? KeyContext(key), EVP_PKEY_verify_init(context.pointer) == 1 else {
            ErrorQueue.clear()
            return false
        }
        guard EVP_PKEY_verify(context.pointer, der, der.count, digest, digest.count) == 1 else {
            ErrorQueue.clear()
            return false
        }
        return true
    }
}

extension P256.PublicKey {
    /// What precedes the point in a SubjectPublicKeyInfo of P-256 (RFC 5480).
    ///
    /// DER leaves no choice, so the 26 bytes are always these.
    private static let spkiPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// The key as the 91 bytes of a DER SubjectPublicKeyInfo (RFC 5480).
    public var spki: [UInt8] { Self.spkiPrefix + x963 }

    /// The key of a DER SubjectPublicKeyInfo with an uncompressed point.
    ///
    /// Another algorithm, curve or encoding is `CryptoError.der`; a bad point as in `init(x963:)`.
    public init(spki: [UInt8]) throws(CryptoError) {
        guard spki.count == 91, spki.starts(with: Self.spkiPrefix) else { throw .der }
        try self.init(x963: [UInt8](spki.dropFirst(Self.spkiPrefix.count)))
    }

    /// The key as PEM text (RFC 7468), with a line feed at the end of every line.
    public var pem: String { PEM.encode(spki, label: "PUBLIC KEY") }
}

extension P256.PublicKey: Hashable {
    /// Keys are equal when their points are.
    public static func == (left: Self, right: Self) -> Bool { left.x963 == right.x963 }

    /// Hashes the point.
    public func hash(into hasher: inout Hasher) { hasher.combine(x963) }
}
