public import Crypto
import Encoding

/// The authorities that vouch for the virtual phones of one state directory, all made here and named as tests.
///
/// App Attest's, its receipts', Android's, Play Integrity's two keys, and the attester of OAuth clients. Encoding them
/// writes their private keys: for the store only. Their descriptions show nothing of them.
public struct AttestationRoots: Sendable {
    /// The authorities for App Attest.
    let apple: AppleAuthorities
    /// The authorities for Android keys.
    let android: AndroidAuthorities
    /// What Play Integrity tokens are encrypted with: 32 bytes, which the app's backend has as well.
    let playDecryptionKey: [UInt8]
    /// What Play Integrity tokens are signed with.
    let playSigningKey: P256.PrivateKey
    /// What the attester of OAuth clients signs with (ES256).
    public let attesterKey: P256.PrivateKey

    private let scalars: Scalars

    /// New roots out of `entropy`: the same for the same seed.
    ///
    /// Throws `CryptoError` where OpenSSL cannot make a key.
    public static func generate(_ entropy: Entropy) throws(CryptoError) -> AttestationRoots {
        try AttestationRoots(Scalars.generate(entropy.derived("attestation roots v1")))
    }

    init(_ scalars: Scalars) throws(CryptoError) {
        self.scalars = scalars
        apple = try AppleAuthorities(scalars)
        android = try AndroidAuthorities(scalars)
        playDecryptionKey = scalars.playDecryptionKey
        playSigningKey = try P256.PrivateKey(scalar: scalars.playSigningKey)
        attesterKey = try P256.PrivateKey(scalar: scalars.attesterKey)
    }

    /// The private halves: all that is stored, since certificates follow from them.
    struct Scalars: Codable, Sendable {
        /// What the certificates look like; another number would be another look.
        var version = 1
        var appleRoot, appleAuthority, receiptRoot, receiptSigner: [UInt8]
        var androidRoot, software, factoryTEE, factoryStrongBox, batchTEE, batchStrongBox: [UInt8]
        var remoteUpper, remoteLower: [UInt8]
        var playDecryptionKey, playSigningKey, attesterKey: [UInt8]

        static func generate(_ entropy: Entropy) throws(CryptoError) -> Scalars {
            // Each key has a source of its own, so that one more key some day leaves the others as they are.
            func p256(_ name: String) throws(CryptoError) -> [UInt8] {
                try P256.PrivateKey.generate(entropy.derived(name)).scalar
            }
            func p384(_ name: String) throws(CryptoError) -> [UInt8] {
                try P384.PrivateKey.generate(entropy.derived(name)).scalar
            }
            return Scalars(
                appleRoot: try p384("apple root"), appleAuthority: try p384("apple authority"),
                receiptRoot: try p384("receipt root"), receiptSigner: try p256("receipt signer"),
                androidRoot: try p384("android root"), software: try p256("android software"),
                factoryTEE: try p384("android factory tee"), factoryStrongBox: try p384("android factory strongbox"),
                batchTEE: try p256("android batch tee"), batchStrongBox: try p256("android batch strongbox"),
                remoteUpper: try p384("android remote upper"), remoteLower: try p384("android remote lower"),
                playDecryptionKey: entropy.derived("play decryption").bytes(32),
                playSigningKey: try p256("play signing"), attesterKey: try p256("attester"))
        }
    }
}

extension AttestationRoots: Codable {
    /// Reads the private keys and makes the certificates anew, which come out the same.
    public init(from decoder: any Decoder) throws {
        let scalars = try Scalars(from: decoder)
        guard scalars.version == 1, scalars.playDecryptionKey.count == 32 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "attestation roots of an unknown version"))
        }
        try self.init(scalars)
    }

    /// Writes the private keys: for the store only.
    public func encode(to encoder: any Encoder) throws { try scalars.encode(to: encoder) }
}

extension AttestationRoots: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what they are, by the fingerprints of the two roots.
    public var description: String {
        "attestation roots \(apple.root.certificate.fingerprint.prefix(16)),"
            + " \(android.root.certificate.fingerprint.prefix(16))"
    }
    /// Says what they are, by the fingerprints of the two roots.
    public var debugDescription: String { description }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
