/// DHKEM(P-256, HKDF-SHA256), the key encapsulation of RFC 9180 section 4.1 (KEM id 0x0010).
///
/// By hand over key agreement and HMAC: OpenSSL 3.0 has no DHKEM of its own.
public enum DHKEM {
    /// The length of an encapsulation: an uncompressed point, 65 bytes.
    public static let encapsulationLength = 65
    /// The length of a shared secret, in bytes.
    public static let secretLength = 32
    /// The least input of ``deriveKeyPair(ikm:)``, in bytes (RFC 9180 section 7.1.3).
    public static let ikmLeast = 32

    private static let kdf = LabeledKDF(suite: [UInt8]("KEM".utf8) + [0x00, 0x10])

    /// DeriveKeyPair (RFC 9180 section 7.1.3): the key pair of this input, always the same one.
    ///
    /// Input of fewer than ``ikmLeast`` bytes is `CryptoError.keyMaterialLength`.
    public static func deriveKeyPair(ikm: [UInt8]) throws(CryptoError) -> P256.PrivateKey {
        guard ikm.count >= ikmLeast else { throw .keyMaterialLength(ikm.count) }
        var key = kdf.extract(label: "dkp_prk", ikm: ikm)
        defer { key.wipe() }
        // A candidate misses with probability 2^-32. P-256 masks no bits of it.
        for counter: UInt8 in 0...255 {
            var candidate = kdf.expand(key, label: "candidate", info: [counter])
            defer { candidate.wipe() }
            if Curve.p256.isScalar(candidate) { return try P256.PrivateKey(scalar: candidate) }
        }
        preconditionFailure("256 candidates in a row above the group order: probability 2^-8192")
    }

    /// Encap: a shared secret of 32 bytes for the holder of `recipient`, and the encapsulation that takes it there.
    ///
    /// `ephemeral` must be drawn for this one encapsulation.
    public static func encapsulate(
        to recipient: P256.PublicKey, ephemeral: P256.PrivateKey
    ) throws(CryptoError) -> (secret: [UInt8], encapsulation: [UInt8]) {
        let encapsulation = ephemeral.publicKey.x963
        let secret = try secret(ephemeral, recipient, context: encapsulation + recipient.x963)
        return (secret, encapsulation)
    }

    /// Decap: the shared secret an encapsulation carries to this key.
    ///
    /// Bytes that are no point in uncompressed form are `CryptoError.pointEncoding`, those of a point beside the
    /// curve `CryptoError.pointNotOnCurve`. Any point of the curve gives some secret: whether it is the sender's shows
    /// only where it is used.
    public static func decapsulate(
        _ encapsulation: [UInt8], with key: P256.PrivateKey
    ) throws(CryptoError) -> SecretBytes {
        let sender = try P256.PublicKey(x963: encapsulation)
        var secret = try secret(key, sender, context: encapsulation + key.publicKey.x963)
        return SecretBytes(wiping: &secret)
    }

    /// ExtractAndExpand over the agreed point.
    private static func secret(
        _ own: P256.PrivateKey, _ other: P256.PublicKey, context: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        var agreed = try own.sharedSecret(with: other)
        defer { agreed.wipe() }
        var key = kdf.extract(label: "eae_prk", ikm: agreed)
        defer { key.wipe() }
        return kdf.expand(key, label: "shared_secret", info: context)
    }
}
