import Encoding

/// Rules that are known to fail, from a file.
struct ExpectedRows: Sendable, Equatable {
    /// Why each is expected, by rule.
    let reasons: [String: String]

    /// None.
    static let none = ExpectedRows(reasons: [:])

    private init(reasons: [String: String]) { self.reasons = reasons }

    /// Reads a file; none where there is no file.
    init(file: String?) throws(CommandFailure) {
        guard let file else {
            self = .none
            return
        }
        try self.init(document: try TextFile.read(file, option: "expected-failures"))
    }

    /// Reads a JSON array of objects with `rule` and `why`, both there and not empty.
    init(document: [UInt8]) throws(CommandFailure) {
        guard let entries = (try? JSON(parsing: document))?.array else {
            throw .badValue("expected-failures", "the file holds no JSON array")
        }
        var reasons: [String: String] = [:]
        for entry in entries {
            guard let rule = entry["rule"]?.string, !rule.isEmpty, let why = entry["why"]?.string, !why.isEmpty else {
                throw .badValue("expected-failures", "each entry needs a rule and a why")
            }
            reasons[rule] = why
        }
        self.reasons = reasons
    }
}

/// The rows of a matrix beside what was expected of them.
struct ConformanceVerdicts: Sendable {
    /// The rows as the control API gives them.
    let rows: [JSON]
    /// The server.
    let issuer: String
    let expected: ExpectedRows

    init(_ matrix: JSON, _ expected: ExpectedRows) {
        rows = matrix.records("rows")
        issuer = matrix.shown("issuer")
        self.expected = expected
    }

    /// What makes the run a failure, in the order of the rows: rules that failed, rules that passed although they were
    /// expected to fail, and expectations that name no rule of the run.
    var unexpected: [String] {
        let judged = rows.compactMap { row -> String? in
            let rule = row.shown("rule")
            let isExpected = expected.reasons[rule] != nil
            switch row["verdict"]?.string {
            case "fail": return isExpected ? nil : "\(rule) failed"
            case "skipped": return nil
            default: return isExpected ? "\(rule) was expected to fail" : nil
            }
        }
        let known = Set(rows.map { $0.shown("rule") })
        let unknown = expected.reasons.keys.filter { !known.contains($0) }.sorted()
        return judged + unknown.map { "\($0) was expected to fail and is no rule of this run" }
    }

    /// How many rows came to a verdict.
    func count(_ verdict: String) -> Int { rows.count { $0["verdict"]?.string == verdict } }
}
