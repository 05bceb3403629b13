import Encoding

/// The matrix for people to read.
enum ConformanceLines {
    /// One row: its verdict and rule; below it what was expected and found, where it did not pass.
    static func row(_ row: JSON, _ style: Style, verbose: Bool) -> [String] {
        let verdict = row.shown("verdict")
        let word = verdict + String(repeating: " ", count: max(0, 8 - verdict.count))
        let shown = verdict == "pass" ? style.good(word) : verdict == "fail" ? style.bad(word) : style.faint(word)
        let rule = row.shown("rule")
        let gap = String(repeating: " ", count: max(1, 32 - rule.count))
        var lines = ["\(shown)\(rule)\(gap)\(row.shown("source"))"]
        for probe in row.records("probes") where verbose || probe["verdict"]?.string != "pass" {
            let mark = probe["verdict"]?.string == "pass" ? "" : "\(probe.shown("verdict")): "
            lines.append(
                "          \(mark)\(probe.shown("probe")): expected \(probe.shown("expected")), got \(probe.shown("got"))"
            )
        }
        if let reason = row["reason"]?.string { lines.append("          not judged: \(reason)") }
        return lines
    }

    /// The counts, and what makes the run a failure.
    static func summary(_ verdicts: ConformanceVerdicts, _ style: Style) -> [String] {
        var counts = ["pass", "warn", "fail", "skipped"].map { "\(verdicts.count($0)) \($0)" }
        let asExpected = verdicts.expectedFailures.count
        if asExpected > 0 { counts.append("\(asExpected) failed as expected") }
        let head = style.strong("\(verdicts.rows.count) rules at \(verdicts.issuer): \(counts.joined(separator: ", "))")
        return [head] + verdicts.unexpected.map { style.bad("  \($0)") }
    }
}
