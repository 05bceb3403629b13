import Encoding

/// Writes a run as one page a person can read anywhere: nothing is loaded from elsewhere, nothing runs in it.
public enum HTMLReport {
    /// The page.
    public static func text(_ report: Report, key: [UInt8]) -> String {
        let title = XML.escaped(report.title)
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(title): \(verdict(report.counts))</title>
            <style>\(HTMLStyle.text)</style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            <p class="faint">\(XML.escaped(facts(report)))</p>
            \(summary(report.counts))
            </header>
            <main>
            \(report.groups.map { group($0.name, $0.cases, key) }.joined())
            </main>
            </body>
            </html>

            """
    }

    private static func verdict(_ counts: Report.Counts) -> String {
        let red = counts.failed + counts.errors
        return red == 0 ? "\(counts.passed) passed" : "\(red) of \(counts.all) red"
    }

    private static func facts(_ report: Report) -> String {
        "understudy \(report.version), \(CalendarTime(report.startedAt).iso8601), against \(report.opponent)"
    }

    private static func summary(_ counts: Report.Counts) -> String {
        let tiles = [
            ("passed", counts.passed), ("failed", counts.failed), ("error", counts.errors),
            ("skipped", counts.skipped), ("expected failure", counts.expectedFailures),
        ]
        let shown = tiles.map { word, count in
            "<li class=\"\(count > 0 ? mark(word) : "none")\"><b>\(count)</b> \(word)</li>"
        }
        return "<ul class=\"tiles\">\(shown.joined())</ul>"
    }

    private static func group(_ name: String, _ cases: [Report.Case], _ key: [UInt8]) -> String {
        """
        <section>
        <h2>\(XML.escaped(name)) <span class="faint">\(cases.count)</span></h2>
        \(cases.map { HTMLCase($0, key: key).text }.joined())
        </section>

        """
    }

    /// The class of a word for an outcome.
    static func mark(_ word: String) -> String { word == "expected failure" ? "expected" : word }
}

/// One case on the page.
private struct HTMLCase {
    private let each: Report.Case
    private let redactor: Redactor

    init(_ each: Report.Case, key: [UInt8]) {
        self.each = each
        redactor = Redactor(knowing: each, key: key)
    }

    var text: String {
        """
        <details class="case \(HTMLReport.mark(each.outcome.word))"\(isRed ? " open" : "")>
        <summary><span class="mark">\(each.outcome.word)</span> \(safe(each.title)) \
        <span class="faint">\(safe(each.name))</span></summary>
        \(outcome)
        \(facts)
        \(each.parts.map(part).joined())
        </details>

        """
    }

    private var isRed: Bool {
        switch each.outcome {
        case .failed, .error: true
        case .passed, .skipped, .expectedFailure: false
        }
    }

    private func safe(_ text: String) -> String { XML.escaped(redactor.text(text)) }

    private var facts: String {
        let facts = [
            each.source.isEmpty ? nil : "rule: \(each.source)", each.file.map { "file: \($0)" },
            each.seed.map { "seed: \($0)" }, "\(Int(each.milliseconds.rounded())) ms",
        ]
        return "<p class=\"faint\">\(safe(facts.compactMap { $0 }.joined(separator: " · ")))</p>"
    }

    private var outcome: String {
        switch each.outcome {
        case .passed: return ""
        case .failed(let found): return "<pre class=\"found\">\(safe(found.text(in: each.file)))</pre>"
        case .error(let reason): return "<pre class=\"found\">\(safe(reason))</pre>"
        case .skipped(let reason): return "<p>\(safe(reason))</p>"
        case .expectedFailure(let reason, let found):
            return "<p>Expected to fail: \(safe(reason))</p><pre>\(safe(found.text(in: each.file)))</pre>"
        }
    }

    private func part(_ part: Report.Case.Part) -> String {
        let rows = part.journal.compactMap { HTMLRow(redactor.journal($0["step"] ?? $0))?.text }
        let table = rows.isEmpty ? "" : "<table>\(rows.joined())</table>"
        let findings = part.findings.map { finding in
            let words = ["rule", "expected", "actual", "endpoint"].map { finding[$0]?.string ?? "" }
            return "<li><code>\(safe(words[0]))</code> wanted \(safe(words[1])), got \(safe(words[2])) "
                + "<span class=\"faint\">at \(safe(words[3]))</span></li>"
        }
        let list = findings.isEmpty ? "" : "<p>The identity provider found:</p><ul>\(findings.joined())</ul>"
        let place = part.place.map { " <span class=\"faint\">line \($0.line)</span>" } ?? ""
        return "<h3 class=\"\(part.holds ? "passed" : "failed")\">\(safe(part.title))\(place)</h3>\(table)\(list)"
    }
}

/// One thing that happened, as a row of the timeline.
private struct HTMLRow {
    let text: String

    /// Nil for what is not worth a row.
    init?(_ step: JSON) {
        let kind = step["kind"]?.string ?? "?"
        switch kind {
        case "call": text = Self.call(step)
        case "state":
            let words = ["state", "reason", "cause", "outcome", "message"].compactMap { step[$0]?.string }
            text = Self.row(kind, XML.escaped(words.joined(separator: ": ")))
        case "scan": text = Self.row(kind, XML.escaped(step["outcome"]?.string ?? ""))
        case "fault":
            let words = ["fault", "call", "at"].compactMap { step[$0]?.string }
            text = Self.row(kind, XML.escaped(words.joined(separator: " at ")))
        default:
            let rest = (step.object?.members ?? []).filter { !["n", "kind"].contains($0.name) }
            let words = rest.map { "\($0.name) \($0.value.string ?? $0.value.text)" }
            text = Self.row(kind, XML.escaped(words.joined(separator: ", ")))
        }
    }

    private static func call(_ step: JSON) -> String {
        let status = step["status"]?.int
        let answer =
            status.map { "<b class=\"\($0 < 400 ? "good" : "bad")\">\($0)</b>" }
            ?? "<b class=\"bad\">lost</b> \(XML.escaped(step["lost"]?.string ?? ""))"
        let error = step["error"]?.string.map { " \(XML.escaped($0))" } ?? ""
        let description = step["error_description"]?.string.map { " <span class=\"faint\">\(XML.escaped($0))</span>" }
        let attempt = (step["attempt"]?.int ?? 1) > 1 ? " again" : ""
        let name = XML.escaped((step["call"]?.string ?? "") + attempt)
        let address = XML.escaped("\(step["method"]?.string ?? "") \(step["url"]?.string ?? "")")
        let proofs = (step["proved"]?.array ?? []).map(proof).joined()
        let time = milliseconds(step["milliseconds"])
        return "<tr><th>\(name)</th><td>\(answer)\(error)\(description ?? "")"
            + " <span class=\"faint\">\(address)</span>\(proofs)</td><td class=\"time\">\(time)</td></tr>"
    }

    private static func proof(_ proof: JSON) -> String {
        let place = (proof["header"] ?? proof["body"])?.string ?? "proof"
        let by = proof["by"]?.string ?? ""
        let claims = XML.escaped((proof["claims"] ?? .null).prettyText)
        return "<details><summary>\(XML.escaped(place)) by \(XML.escaped(by))</summary><pre>\(claims)</pre></details>"
    }

    private static func milliseconds(_ value: JSON?) -> String {
        switch value {
        case .int(let number)?: "\(number) ms"
        case .double(let number)?: "\(number) ms"
        default: ""
        }
    }

    private static func row(_ name: String, _ text: String) -> String {
        "<tr class=\"quiet\"><th>\(XML.escaped(name))</th><td>\(text)</td><td></td></tr>"
    }
}
