import Crypto
import Encoding
public import JOSE

/// What a server needs of the roots to check the virtual phones' evidence: certificates, and keys as consoles give them.
///
/// Play Integrity's decryption key is a secret of the app's backend, as it is in the console; all else is public.
public struct PublishedRoots: Sendable {
    /// App Attest's root, in PEM.
    public let appleRoot: String
    /// The root that App Attest's receipts go back to, in PEM.
    public let receiptRoot: String
    /// The root of Android's key attestation, in PEM.
    public let androidRoot: String
    /// What Play Integrity tokens are decrypted with: 32 bytes in standard base64.
    public let playDecryptionKey: String
    /// What Play Integrity tokens are verified with: a DER SubjectPublicKeyInfo in standard base64.
    public let playVerificationKey: String
    /// The keys of the attester of OAuth clients.
    public let attesters: JWKSet
    /// SHA-256 of App Attest's root, in hexadecimal.
    public let appleFingerprint: String
    /// SHA-256 of Android's root, in hexadecimal.
    public let androidFingerprint: String
}

extension AttestationRoots {
    /// What a server needs to check evidence.
    public var published: PublishedRoots {
        PublishedRoots(
            appleRoot: apple.root.certificate.pem, receiptRoot: apple.receiptRoot.certificate.pem,
            androidRoot: android.root.certificate.pem, playDecryptionKey: Base64.encode(playDecryptionKey),
            playVerificationKey: Base64.encode(playSigningKey.publicKey.spki),
            attesters: JWKSet([.init(keyID: attesterKeyID, key: .p256(attesterKey.publicKey), algorithm: .es256)]),
            appleFingerprint: apple.root.certificate.fingerprint,
            androidFingerprint: android.root.certificate.fingerprint)
    }

    /// The name of the attester's key: its RFC 7638 thumbprint.
    public var attesterKeyID: String { JWK.p256(attesterKey.publicKey).thumbprint }
}

extension PublishedRoots: CustomStringConvertible, CustomReflectable {
    /// Says which they are, by the fingerprints of the two roots.
    public var description: String {
        "published roots \(appleFingerprint.prefix(16)), \(androidFingerprint.prefix(16))"
    }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["roots": description]) }
}
