public import Crypto
public import Encoding
public import JOSE

/// Whose word is taken about the calling app: roots, the store's keys, and attesters of OAuth clients.
///
/// All of it is public but the key the store's tokens are decrypted with.
public struct AttestationTrust: Sendable, Hashable {
    /// Roots of App Attest.
    public var appleRoots: [X509Certificate]
    /// Roots of Android key attestation.
    public var androidRoots: [X509Certificate]
    /// The AES key that opens Play Integrity tokens, 32 bytes.
    public var playDecryptionKey: [UInt8]?
    /// The key that signs them.
    public var playVerificationKey: P256.PublicKey?
    /// Who may attest OAuth clients.
    public var attesters: JWKSet

    /// Trusts what is given, and nobody where nothing is.
    public init(
        appleRoots: [X509Certificate] = [], androidRoots: [X509Certificate] = [], playDecryptionKey: [UInt8]? = nil,
        playVerificationKey: P256.PublicKey? = nil, attesters: JWKSet = JWKSet([])
    ) {
        self.appleRoots = appleRoots
        self.androidRoots = androidRoots
        self.playDecryptionKey = playDecryptionKey
        self.playVerificationKey = playVerificationKey
        self.attesters = attesters
    }

    /// Reads each kind as its operator gives it: roots as PEM, Play's keys as the console shows them, in base64, and
    /// attesters as a JWK Set.
    ///
    /// Nil trusts nobody of that kind. Throws ``AttestationTrustError`` with the name of the part at fault.
    public init(
        appleRoots: String?, androidRoots: String?, playDecryptionKey: String?, playVerificationKey: String?,
        attesters: JSON?
    ) throws(AttestationTrustError) {
        self.init(
            appleRoots: try appleRoots.map { text throws(AttestationTrustError) in try Self.roots(text, "apple_roots") }
                ?? [],
            androidRoots: try androidRoots.map { text throws(AttestationTrustError) in
                try Self.roots(text, "android_roots")
            } ?? [],
            playDecryptionKey: try playDecryptionKey.map(Self.decryptionKey),
            playVerificationKey: try playVerificationKey.map(Self.verificationKey),
            attesters: try attesters.map(Self.keySet) ?? JWKSet([]))
    }

    static func roots(_ pem: String, _ part: String) throws(AttestationTrustError) -> [X509Certificate] {
        do throws(X509Error) {
            return try X509Certificate.all(pem: pem)
        } catch {
            throw AttestationTrustError(part: part, reason: error.description)
        }
    }

    static func decryptionKey(_ text: String) throws(AttestationTrustError) -> [UInt8] {
        guard let key = try? Base64.decode(text), key.count == 32 else {
            throw AttestationTrustError(part: "play_decryption_key", reason: "32 bytes in base64 are wanted")
        }
        return key
    }

    static func verificationKey(_ text: String) throws(AttestationTrustError) -> P256.PublicKey {
        guard let spki = try? Base64.decode(text), let key = try? P256.PublicKey(spki: spki) else {
            throw AttestationTrustError(
                part: "play_verification_key", reason: "a P-256 SubjectPublicKeyInfo in base64 is wanted")
        }
        return key
    }

    private static func keySet(_ json: JSON) throws(AttestationTrustError) -> JWKSet {
        do throws(JOSEError) {
            return try JWKSet(json)
        } catch {
            throw AttestationTrustError(part: "attesters", reason: error.description)
        }
    }
}

/// A trust anchor that cannot be read.
public struct AttestationTrustError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which: `apple_roots`, `android_roots`, `play_decryption_key`, `play_verification_key` or `attesters`.
    public let part: String
    /// What is wrong.
    public let reason: String

    /// A stable name for this error.
    public var code: String { "attestation.trust.\(part)" }
    /// Which part and what is wrong.
    public var description: String { "\(part): \(reason)" }
}

extension AttestationTrust: CustomStringConvertible, CustomReflectable {
    /// How many of each kind; the decryption key stays unsaid.
    public var description: String {
        "trust in \(appleRoots.count) Apple roots, \(androidRoots.count) Android roots, "
            + "\(attesters.entries.count) attesters"
    }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The anchors of a tenant: its own where it has some, else the server's.
struct TenantAnchors: Sendable, Hashable {
    var appleRoots: [X509Certificate]?
    var androidRoots: [X509Certificate]?
    var playDecryptionKey: [UInt8]?
    var playVerificationKey: P256.PublicKey?
    var attesters: JWKSet?

    /// Whom the tenant trusts at a server that trusts these by itself.
    func resolved(_ standard: AttestationTrust) -> AttestationTrust {
        AttestationTrust(
            appleRoots: appleRoots ?? standard.appleRoots, androidRoots: androidRoots ?? standard.androidRoots,
            playDecryptionKey: playDecryptionKey ?? standard.playDecryptionKey,
            playVerificationKey: playVerificationKey ?? standard.playVerificationKey,
            attesters: attesters ?? standard.attesters)
    }
}
