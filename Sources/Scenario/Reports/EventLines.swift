import Encoding

/// Writes the journals of a run as lines of JSON: an entry a line, with the case it belongs to in front.
public enum EventLines {
    /// The lines, each with its end.
    public static func text(_ report: Report, key: [UInt8]) -> String {
        report.cases.map { each in
            let redactor = Redactor(knowing: each, key: key)
            return each.journal.map { entry in
                var members = JSONObject([
                    ("case", .string("\(each.group)/\(each.name)")), ("outcome", .string(each.outcome.word)),
                ])
                for member in redactor.journal(entry).object?.members ?? [] { members[member.name] = member.value }
                return JSON.object(members).text + "\n"
            }.joined()
        }.joined()
    }
}
