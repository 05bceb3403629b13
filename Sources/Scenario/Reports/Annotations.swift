import Encoding

/// Writes what is red as workflow commands, which GitHub shows beside the line of the file.
public enum Annotations {
    /// A line for each failure and error.
    public static func lines(_ report: Report, key: [UInt8]) -> [String] {
        report.cases.flatMap { each -> [String] in
            let redactor = Redactor(knowing: each, key: key)
            switch each.outcome {
            case .failed(let found):
                return [
                    line(each, line: found.place.line, column: found.place.column, redactor.text(found.description))
                ]
            case .error(let reason): return [line(each, line: 1, column: 1, redactor.text(reason))]
            case .passed, .skipped, .expectedFailure: return []
            }
        }
    }

    /// A line for each fault of a file that is no scenario.
    public static func lines(_ broken: BrokenFile) -> [String] {
        broken.faults.map { fault in
            command(file: fault.file, line: fault.place.line, column: fault.place.column, "broken file", fault.message)
        }
    }

    private static func line(_ each: Report.Case, line: Int, column: Int, _ message: String) -> String {
        command(file: each.file, line: line, column: column, "\(each.group)/\(each.name)", message)
    }

    private static func command(file: String?, line: Int, column: Int, _ title: String, _ message: String) -> String {
        let place = file.map { "file=\(property($0)),line=\(line),col=\(column)," } ?? ""
        return "::error \(place)title=\(property(title))::\(data(message))"
    }

    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
