import Encoding
import Scenario

/// The rows of a matrix beside what was expected of them.
struct ConformanceVerdicts: Sendable {
    /// The rows as the control API gives them.
    let rows: [JSON]
    /// The server.
    let issuer: String
    private let expected: ExpectedRules?
    private let today: String

    /// Takes a matrix, and what is known to fail in it on a day such as `2026-11-30`.
    init(_ matrix: JSON, _ expected: ExpectedRules?, today: String) {
        rows = matrix.records("rows")
        issuer = matrix.shown("issuer")
        self.expected = expected
        self.today = today
    }

    /// How a row counts: a warning passes, and what is known of the rule is taken into account.
    func outcome(of row: JSON) -> Report.Case.Outcome {
        let outcome: Report.Case.Outcome =
            switch row["verdict"]?.string {
            case "skipped": .skipped(row["reason"]?.string ?? "")
            case "fail": .failed(found(in: row))
            default: .passed
            }
        return expected?.judged(outcome, of: row.shown("rule"), today: today) ?? outcome
    }

    /// What makes the run a failure, in the order of the rows: rules that failed, although nobody expected it or the day
    /// is over, and rules that passed although they were expected to fail.
    var unexpected: [String] {
        rows.compactMap { row in
            guard case .failed(let found) = outcome(of: row) else { return nil }
            let rule = row.shown("rule")
            return found == self.found(in: row) ? "\(rule) failed" : "\(rule): \(found.got)"
        }
    }

    /// The rules that failed as expected.
    var expectedFailures: [String] {
        rows.compactMap { row in
            if case .expectedFailure = outcome(of: row) { row.shown("rule") } else { nil }
        }
    }

    /// How many rows came to a verdict.
    func count(_ verdict: String) -> Int { rows.count { $0["verdict"]?.string == verdict } }

    /// The first probe that did not come out as it should.
    private func found(in row: JSON) -> Disappointment {
        let probe = row.records("probes").first { $0["verdict"]?.string != "pass" } ?? .null
        return Disappointment(
            place: TextPlace(line: 1, column: 1), number: 0, step: row.shown("rule"), what: probe.shown("probe"),
            expected: probe.shown("expected"), got: probe.shown("got"))
    }
}
