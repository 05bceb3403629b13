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

    private func outcome(of row: JSON) -> Report.Case.Outcome {
        let reason = expected.reasons[row.shown("rule")]
        switch (row["verdict"]?.string, reason) {
        case ("skipped"?, _): return .skipped(row["reason"]?.string ?? "")
        case ("fail"?, let reason?): return .expectedFailure(reason, found(in: row))
        case ("fail"?, nil): return .failed(found(in: row))
        case (_, _?):
            return .failed(
                Disappointment(
                    place: TextPlace(line: 1, column: 1), number: 0, step: row.shown("rule"), what: "the rule",
                    expected: "failing, as the file of expected failures says", got: "passing"))
        case (_, nil): return .passed
        }
    }

    /// The first probe that did not come out as it should.
    private func found(in row: JSON) -> Disappointment {
        let probe = row.records("probes").first { $0["verdict"]?.string != "pass" } ?? .null
        return Disappointment(
            place: TextPlace(line: 1, column: 1), number: 0, step: row.shown("rule"), what: probe.shown("probe"),
            expected: probe.shown("expected"), got: probe.shown("got"))
    }
}
