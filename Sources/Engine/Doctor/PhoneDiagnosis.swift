public import Encoding

/// One thing that is wrong about the virtual phones of a state directory, and what to do about it.
public struct PhoneDiagnosis: Sendable, Hashable {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// What it is about cannot work.
        case error
        /// It may fail.
        case warning
        /// Worth knowing.
        case notice
    }

    /// How bad it is.
    public let severity: Severity
    /// A stable dotted name, such as `device.clock`.
    public let rule: String
    /// The device it is about, where it is about one.
    public let device: String?
    /// The issuer it is about, where it is about one.
    public let issuer: String?
    /// What is so, in a sentence.
    public let problem: String
    /// What to do, in a sentence.
    public let remedy: String

    /// Makes a diagnosis.
    public init(
        _ severity: Severity, _ rule: String, device: String? = nil, issuer: String? = nil, _ problem: String,
        remedy: String
    ) {
        self.severity = severity
        self.rule = rule
        self.device = device
        self.issuer = issuer
        self.problem = problem
        self.remedy = remedy
    }

    /// The diagnosis as the control API shows it.
    public var json: JSON {
        .object([
            ("severity", .string(severity.rawValue)), ("rule", .string(rule)),
            ("device", device.map(JSON.string) ?? .null), ("issuer", issuer.map(JSON.string) ?? .null),
            ("problem", .string(problem)), ("remedy", .string(remedy)),
        ])
    }
}

/// What a look at the phones came to.
public struct PhoneReport: Sendable {
    /// What is wrong, worst first.
    public let diagnoses: [PhoneDiagnosis]
    /// How many devices were looked at: the first by their ids.
    public let devices: Int
    /// Whether there are devices that were not looked at.
    public let isPartial: Bool
}
