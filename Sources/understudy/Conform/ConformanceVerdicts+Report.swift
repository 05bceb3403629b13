import Encoding
import Engine
import Scenario

/// The matrix as a run of cases, one for each rule, for the reports that scenarios have as well.
extension ConformanceVerdicts {
    /// The run; warnings are told in the lines and the document, and pass here.
    func report(version: String) -> Report {
        Report(
            title: "conformance of \(issuer)", version: version, startedAt: SystemClock().now(), opponent: issuer,
            cases: rows.map(reportCase))
    }

    private func reportCase(_ row: JSON) -> Report.Case {
        var each = Report.Case(
            name: row.shown("rule"), group: row.shown("source"), title: row["wanted"]?.string ?? row.shown("rule"),
            outcome: outcome(of: row))
        each.source = row.shown("source")
        return each
    }
}
