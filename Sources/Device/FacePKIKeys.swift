public import Crypto

/// The Face PKI keys an opened face token holds, of one owner.
///
/// Nothing but the seeds is stored: a key is derived when it is used, and the same seed, class, owner and context give
/// the same key on whichever device the token is opened. RFC 9180 DeriveKeyPair does it, over these parts, each
/// after its length in four bytes: "understudy face pki v1", the class, "app" or "tenant", the client id or the issuer,
/// the context, the seed.
/// Source: SenseCrypt description, "Face-PKI operations during sign-in"; the derivation is assumed.
public struct FacePKIKeys: Sendable {
    /// The most bytes a context has.
    public static let longestContext = 255

    private let contents: FaceTokenContents
    private let owner: FacePKIOwner

    /// The keys of an opened face token that belong to this owner.
    public init(_ contents: FaceTokenContents, owner: FacePKIOwner) {
        self.contents = contents
        self.owner = owner
    }

    /// The public key of a class under a context of 0 to 255 bytes.
    ///
    /// Throws `keysNotReady` where the token holds no seed of the class, `contextLength`, or `crypto`.
    public func publicKey(_ name: FacePKIClass, context: [UInt8]) throws(FacePKIError) -> P256.PublicKey {
        try key(name, context: context).publicKey
    }

    /// Signs a hash of 32 or 64 bytes with the key of class `p256-ecdsa`: 64 bytes, r and s of 32 each.
    ///
    /// What of a 64-byte hash is signed is up to `rule`. Throws as `publicKey` does, and `operandLength`.
    public func sign(
        _ operand: [UInt8], context: [UInt8], rule: LongOperandRule, nonce: P256.SigningNonce = .random
    ) throws(FacePKIError) -> [UInt8] {
        let digest = try rule.digest(of: operand)
        let key = try key(.ecdsa, context: context)
        return try crypto { () throws(CryptoError) in try key.sign(digest: digest, nonce: nonce) }
    }

    /// The shared secret of 32 bytes that a 65-byte encapsulation carries to the key of class `p256-dhkem`.
    ///
    /// Throws as `publicKey` does, and `crypto` for bytes that are no point of the curve.
    public func decapsulate(_ encapsulation: [UInt8], context: [UInt8]) throws(FacePKIError) -> SecretBytes {
        let key = try key(.dhkem, context: context)
        return try crypto { () throws(CryptoError) in try DHKEM.decapsulate(encapsulation, with: key) }
    }

    private func key(_ name: FacePKIClass, context: [UInt8]) throws(FacePKIError) -> P256.PrivateKey {
        guard context.count <= Self.longestContext else { throw .contextLength(context.count) }
        guard let seed = contents.seed(of: name) else { throw .keysNotReady(name) }
        let (word, ownerName) = owner.parts
        let parts = [
            Array("understudy face pki v1".utf8), Array(name.rawValue.utf8), Array(word.utf8),
            Array(ownerName.utf8), context, seed,
        ]
        let material = parts.flatMap { part in
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { [UInt8]($0) } + part
        }
        return try crypto { () throws(CryptoError) in try DHKEM.deriveKeyPair(ikm: material) }
    }

    private func crypto<T>(_ body: () throws(CryptoError) -> T) throws(FacePKIError) -> T {
        do { return try body() } catch { throw .crypto(error) }
    }
}

extension FacePKIKeys: CustomStringConvertible, CustomReflectable {
    /// Says what it is and nothing of its value.
    public var description: String { "Face PKI keys ‹redacted›" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension LongOperandRule {
    /// The 32 bytes that are signed for a hash of 32 or 64 bytes; throws `operandLength` for any other.
    public func digest(of operand: [UInt8]) throws(FacePKIError) -> [UInt8] {
        switch (operand.count, self) {
        case (32, _): operand
        case (64, .leftmost): Array(operand.prefix(32))
        case (64, .sha256): SHA256.hash(operand)
        default: throw .operandLength(operand.count)
        }
    }
}

extension FaceTokenContents {
    /// The length of a seed that is drawn, and the least that is used, in bytes.
    public static let seedLength = 32

    /// The seed of a class, or nil where there is none that can be used.
    func seed(of name: FacePKIClass) -> [UInt8]? {
        seeds[name.rawValue].flatMap { $0.count >= Self.seedLength ? $0 : nil }
    }

    /// Draws the seeds of these classes that are missing; the others stay, and with them their keys.
    public mutating func addMissingSeeds(of classes: [FacePKIClass], from entropy: Entropy) {
        for name in classes where seed(of: name) == nil { seeds[name.rawValue] = entropy.bytes(Self.seedLength) }
    }
}
