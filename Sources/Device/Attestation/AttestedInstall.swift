/// What an install of an app remembers of its evidence: one per virtual device, kept in its store.
public struct AttestedInstall: Codable, Sendable, Hashable {
    /// What it remembers of one issuer.
    public struct Record: Codable, Sendable, Hashable {
        /// The issuer.
        public let issuer: String
        /// Whether the issuer has taken an attestation of the App Attest key.
        public internal(set) var isAttested = false
        /// The last evidence of each format made for it.
        public internal(set) var last: [Evidence] = []
    }

    /// So many issuers are remembered; the one longest not heard of goes first, and gets an attestation anew.
    public static let issuerLimit = 32

    /// The App Attest key, once there is one.
    public var appAttestKey: KeyHandle?
    /// The App Attest key's counter: how many assertions it has made, for whichever issuer.
    public internal(set) var counter: UInt32 = 0
    /// The issuers, the latest last.
    public private(set) var records: [Record] = []

    /// An install that has given no evidence yet.
    public init(appAttestKey: KeyHandle? = nil) { self.appAttestKey = appAttestKey }

    /// What it remembers of an issuer, or nil.
    public func record(of issuer: String) -> Record? { records.first { $0.issuer == issuer } }

    /// App Attest's format for the next evidence: an attestation until the issuer has taken one, then assertions.
    public func appAttestFormat(for issuer: String) -> EvidenceFormat {
        record(of: issuer)?.isAttested == true ? .appAttestAssertion : .appAttest
    }

    /// Notes that an issuer has taken an attestation: from now on it gets assertions.
    public mutating func markAttested(at issuer: String) {
        change(issuer) { $0.isAttested = true }
    }

    /// Forgets that an issuer knows the key, as an app does when it is told so: it attests anew.
    public mutating func forgetAttestation(at issuer: String) {
        change(issuer) { $0.isAttested = false }
    }

    mutating func remember(_ evidence: Evidence, for issuer: String) {
        change(issuer) { record in
            record.last.removeAll { $0.format == evidence.format }
            record.last.append(evidence)
        }
    }

    private mutating func change(_ issuer: String, _ change: (inout Record) -> Void) {
        var record = record(of: issuer) ?? Record(issuer: issuer)
        change(&record)
        records.removeAll { $0.issuer == issuer }
        records.append(record)
        if records.count > Self.issuerLimit { records.removeFirst(records.count - Self.issuerLimit) }
    }
}
