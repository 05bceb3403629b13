/// Writes a run as JUnit XML, the form test servers read: failures, errors of the set-up and skipped cases apart.
public enum JUnit {
    /// The document.
    public static func text(_ report: Report, key: [UInt8]) -> String {
        let counts = report.counts
        let head =
            "name=\"\(XML.escaped(report.title))\" tests=\"\(counts.all)\" failures=\"\(counts.failed)\" "
            + "errors=\"\(counts.errors)\" skipped=\"\(counts.skipped + counts.expectedFailures)\" "
            + "time=\"\(seconds(report.cases))\" timestamp=\"\(HTTPArchive.time(report.startedAt))\""
        let suites = report.groups.map { suite($0.name, $0.cases, report, key) }.joined()
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(head)>\n\(suites)</testsuites>\n"
    }

    private static func suite(_ name: String, _ cases: [Report.Case], _ report: Report, _ key: [UInt8]) -> String {
        var part = report
        part.cases = cases
        let counts = part.counts
        let head =
            "name=\"\(XML.escaped(name))\" tests=\"\(counts.all)\" failures=\"\(counts.failed)\" "
            + "errors=\"\(counts.errors)\" skipped=\"\(counts.skipped + counts.expectedFailures)\" "
            + "time=\"\(seconds(cases))\" timestamp=\"\(HTTPArchive.time(report.startedAt))\""
        return "  <testsuite \(head)>\n\(cases.map { testCase($0, key) }.joined())  </testsuite>\n"
    }

    private static func testCase(_ each: Report.Case, _ key: [UInt8]) -> String {
        var head = "name=\"\(XML.escaped("\(each.name): \(each.title)"))\" classname=\"\(XML.escaped(each.group))\""
        if let file = each.file { head += " file=\"\(XML.escaped(file))\"" }
        head += " time=\"\(seconds([each]))\""
        let body = outcome(each, Redactor(knowing: each, key: key))
        return body.isEmpty ? "    <testcase \(head)/>\n" : "    <testcase \(head)>\n\(body)    </testcase>\n"
    }

    private static func outcome(_ each: Report.Case, _ redactor: Redactor) -> String {
        func element(_ name: String, _ message: String, _ text: String = "") -> String {
            let message = XML.escaped(redactor.text(message))
            return
                "      <\(name) message=\"\(message)\"\(text.isEmpty ? "/>" : ">\(XML.escaped(redactor.text(text)))</\(name)>")\n"
        }
        switch each.outcome {
        case .passed: return ""
        case .failed(let found): return element("failure", found.description, found.text(in: each.file))
        case .error(let reason): return element("error", firstLine(reason), reason)
        case .skipped(let reason): return element("skipped", reason)
        case .expectedFailure(let reason, let found):
            return element("skipped", "expected to fail: \(reason); \(found.description)")
        }
    }

    private static func firstLine(_ text: String) -> String {
        text.split(separator: "\n").first.map(String.init) ?? text
    }

    private static func seconds(_ cases: [Report.Case]) -> String {
        let milliseconds = Int(cases.reduce(0) { $0 + $1.milliseconds }.rounded())
        return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
    }
}

extension Disappointment {
    /// Several lines that say what was expected where, and what came.
    public func text(in file: String?) -> String {
        """
        step:     \(number > 0 ? "\(number), " : "")\(step)
        what:     \(what)
        expected: \(expected)
        got:      \(got)
        at:       \(file.map { "\($0):" } ?? "")\(place)
        """
    }
}

/// Text in XML and HTML.
enum XML {
    /// The text with what means something there written out, and without what may not stand there at all.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            default:
                let isAllowed =
                    scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
                    && !(0xFFFE...0xFFFF).contains(scalar.value)
                escaped.unicodeScalars.append(isAllowed ? scalar : "\u{FFFD}")
            }
        }
        return escaped
    }
}
