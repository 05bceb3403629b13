/// A kind of evidence about the calling app, by the name it has on the wire (SenseCrypt wire, section 14).
public enum EvidenceFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// An App Attest attestation object: a new key of an install, vouched for by the platform's authority.
    case appAttest = "apple-appattest"
    /// An App Attest assertion: a signature by an attested key.
    case appAttestAssertion = "apple-appattest-assertion"
    /// An Android key attestation chain.
    case androidKey = "android-key"
    /// A Play Integrity token of a classic request, bound by its nonce.
    case playIntegrityClassic = "play-integrity-classic"
    /// A Play Integrity token of a standard request, bound by its request hash.
    case playIntegrity = "play-integrity"
}

extension EvidenceFormat {
    /// Whether it is a token of Play Integrity's, of either kind of request.
    public var isPlayIntegrity: Bool { self == .playIntegrity || self == .playIntegrityClassic }

    /// Whether it comes of an install's App Attest key.
    public var isAppAttest: Bool { self == .appAttest || self == .appAttestAssertion }
}
