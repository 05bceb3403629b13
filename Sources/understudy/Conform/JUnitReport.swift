import Encoding

/// The matrix as a JUnit report: one test case a rule.
struct JUnitReport {
    private let verdicts: ConformanceVerdicts

    init(_ verdicts: ConformanceVerdicts) { self.verdicts = verdicts }

    /// The XML.
    var text: String {
        let failed = verdicts.rows.filter(isFailure).count
        let name = Self.escaped("conformance of \(verdicts.issuer)")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites>
              <testsuite name="\(name)" tests="\(verdicts.rows.count)" failures="\(failed)" \
            skipped="\(verdicts.count("skipped"))">
            \(verdicts.rows.map(testCase).joined(separator: "\n"))
              </testsuite>
            </testsuites>

            """
    }

    private func isFailure(_ row: JSON) -> Bool {
        let isExpected = verdicts.expected.reasons[row.shown("rule")] != nil
        switch row["verdict"]?.string {
        case "fail": return !isExpected
        case "skipped": return false
        default: return isExpected
        }
    }

    private func testCase(_ row: JSON) -> String {
        let rule = row.shown("rule")
        let head = "    <testcase classname=\"\(Self.escaped(row.shown("source")))\" name=\"\(Self.escaped(rule))\""
        let told = row.records("probes").filter { $0["verdict"]?.string != "pass" }.map {
            "\($0.shown("probe")): expected \($0.shown("expected")), got \($0.shown("got"))"
        }
        if isFailure(row) {
            let message = told.first ?? "expected to fail, and passed"
            return """
                \(head)>
                      <failure message="\(Self.escaped(message))">\(Self.escaped(told.joined(separator: "\n")))</failure>
                    </testcase>
                """
        }
        if row["verdict"]?.string == "skipped" {
            return "\(head)><skipped message=\"\(Self.escaped(row["reason"]?.string ?? ""))\"/></testcase>"
        }
        guard !told.isEmpty else { return "\(head)/>" }
        let why = verdicts.expected.reasons[rule].map { ["expected: \($0)"] } ?? []
        let lines = (why + told).joined(separator: "\n")
        return "\(head)><system-out>\(Self.escaped(lines))</system-out></testcase>"
    }

    /// Text as XML takes it: what has no place in XML is a question mark.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            default:
                let isXML = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                escaped.unicodeScalars.append(isXML ? scalar : "?")
            }
        }
        return escaped
    }
}
