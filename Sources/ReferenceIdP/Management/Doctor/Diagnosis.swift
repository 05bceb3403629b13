import Encoding

/// One thing the doctor found: what is wrong and what to do about it.
struct Diagnosis: Sendable, Hashable {
    /// How bad it is.
    enum Severity: String, Sendable, Hashable, CaseIterable {
        /// In-app sign-in cannot work.
        case error
        /// It works, and yet not as it should in production.
        case warning
        /// Worth knowing.
        case notice
    }

    let severity: Severity
    /// A stable dotted name, such as `tenant.attestation`.
    let rule: String
    /// Nil where the whole IdP is meant.
    let tenant: String?
    let clientID: String?
    /// What is so, in a sentence.
    let problem: String
    /// What to do, in a sentence.
    let remedy: String

    init(
        _ severity: Severity, _ rule: String, tenant: String? = nil, clientID: String? = nil, _ problem: String,
        remedy: String
    ) {
        self.severity = severity
        self.rule = rule
        self.tenant = tenant
        self.clientID = clientID
        self.problem = problem
        self.remedy = remedy
    }

    var json: JSON {
        .object([
            ("severity", .string(severity.rawValue)), ("rule", .string(rule)),
            ("tenant", tenant.map(JSON.string) ?? .null), ("client_id", clientID.map(JSON.string) ?? .null),
            ("problem", .string(problem)), ("remedy", .string(remedy)),
        ])
    }
}
