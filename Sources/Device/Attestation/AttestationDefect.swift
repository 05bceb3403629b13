/// One thing wrong on purpose with a piece of evidence, named as a script asks for it.
///
/// A verifier refuses each for a reason of its own. Which formats can have which is ``applies(to:)``.
public enum AttestationDefect: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing is wrong.
    case none
    /// The chain ends at a root of the same names whose key is another.
    case wrongRoot
    /// A certificate that is no authority has signed the one that counts.
    case leafAsIssuer
    /// The leaf's validity is over.
    case expiredLeaf
    /// The server's challenge is one it gave out too long ago, or never.
    case staleChallenge
    /// What the evidence is bound to is another request.
    case wrongChallenge
    /// The client data stand where their hash belongs.
    case rawChallenge
    /// An assertion's signature is over the nonce as a digest, not as a message.
    case singleHash
    /// The app is another one.
    case wrongAppId
    /// App Attest: the other environment; Play Integrity: another package in the request.
    case wrongEnvironment
    /// The key that is attested, or that signs, is not the key the request is about.
    case wrongKey
    /// An assertion's counter is not above the last one.
    case counterRollback
    /// The same bytes as the last time.
    case replayedEvidence
    /// Evidence of another install of the app.
    case clonedDevice
    /// The key lives in software.
    case softwareLevel
    /// The bootloader is unlocked.
    case unlockedBoot
    /// The operating system is not verified.
    case unverifiedBoot
    /// The app is none the store knows.
    case unrecognizedVersion
    /// The device meets no integrity level.
    case noDeviceIntegrity
    /// The app is signed with another certificate.
    case wrongCertDigest
    /// The last bytes are missing.
    case truncated
    /// There are bytes behind the end.
    case trailingBytes
}

extension AttestationDefect {
    /// Whether evidence of a format can have it.
    public func applies(to format: EvidenceFormat) -> Bool {
        switch self {
        case .none, .staleChallenge, .wrongChallenge, .rawChallenge, .wrongAppId, .wrongKey, .replayedEvidence,
            .clonedDevice, .truncated, .trailingBytes:
            true
        case .wrongRoot, .leafAsIssuer, .expiredLeaf: format == .appAttest || format == .androidKey
        case .singleHash, .counterRollback: format == .appAttestAssertion
        case .wrongEnvironment: format == .appAttest || format.isPlayIntegrity
        case .softwareLevel, .unlockedBoot, .unverifiedBoot: format == .androidKey
        case .unrecognizedVersion, .noDeviceIntegrity: format.isPlayIntegrity
        case .wrongCertDigest: format == .androidKey || format.isPlayIntegrity
        }
    }
}
