public import Device

/// What vouches for the phones of a run where a server wants evidence about the app.
///
/// Source: the SenseCrypt wire, section 14.
public struct Vouching: Sendable {
    /// The platform, with the test roots of a state directory.
    public let attestor: Attestor
    /// What the platform says of phone and app; nothing is wrong on purpose in it.
    public let settings: AttestationSettings
    /// What a start brings; App Attest is an attestation first, and assertions once the server has taken that.
    public let startFormat: EvidenceFormat

    /// Takes the roots; a defect of the settings is left out, and an assertion stands for App Attest.
    public init(
        roots: AttestationRoots, settings: AttestationSettings = AttestationSettings(), startFormat: EvidenceFormat
    ) {
        attestor = Attestor(roots: roots)
        var genuine = settings
        genuine.defect = .none
        self.settings = genuine
        self.startFormat = startFormat.isAppAttest ? .appAttest : startFormat
    }

    /// What an enrolment brings: an Android phone attests its device key there, whatever it sends with a start.
    var enrolmentFormat: EvidenceFormat { startFormat.isAppAttest ? .appAttest : .androidKey }
}
