public import Crypto

/// One question of an app to its platform: evidence of a format, bound to client data, for an issuer.
public struct EvidenceRequest: Sendable, Hashable {
    /// The format wanted.
    public var format: EvidenceFormat
    /// What it is bound to.
    public var clientData: ClientData
    /// Whom it is for: what the install remembers, it remembers by issuer.
    public var issuer: String
    /// A challenge the issuer gave out too long ago, for `staleChallenge`; without one it is one that never was.
    public var staleChallenge: String?

    /// Asks for evidence.
    public init(format: EvidenceFormat, clientData: ClientData, issuer: String, staleChallenge: String? = nil) {
        self.format = format
        self.clientData = clientData
        self.issuer = issuer
        self.staleChallenge = staleChallenge
    }
}

/// The keys a piece of evidence needs, out of the store.
///
/// Its description shows nothing of them.
public struct EvidenceKeys: Sendable, CustomStringConvertible, CustomReflectable {
    /// The install's App Attest key; for App Attest's two formats.
    public var appAttest: P256.PrivateKey?
    /// The key the request is about, DPoP key or device key; for `android-key`.
    public var subject: P256.PublicKey?
    /// A key of another install, for `clonedDevice`; without one it is a key nobody has seen.
    public var other: P256.PrivateKey?

    /// Takes the keys.
    public init(appAttest: P256.PrivateKey? = nil, subject: P256.PublicKey? = nil, other: P256.PrivateKey? = nil) {
        self.appAttest = appAttest
        self.subject = subject
        self.other = other
    }

    /// Says what it is and nothing of its value.
    public var description: String { "keys of a piece of evidence ‹redacted›" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
