import Encoding

extension JSON {
    /// The records of a list document: those under a name, or the document itself where it is a bare list.
    func records(_ name: String) -> [JSON] { self[name]?.array ?? array ?? [] }
}

/// Documents of the management API as lines, member by member.
enum DocumentLines {
    /// One record, a line for each member; a member that is a record has its own as `name.member`.
    static func pairs(_ record: JSON, indent: Int = 0) -> [String] {
        let members = (record.object?.members ?? []).flatMap { member -> [(String, String)] in
            let name = Display.safe(member.name)
            guard let inner = member.value.object else { return [(name, text(member.value))] }
            return inner.members.map { ("\(name).\(Display.safe($0.name))", text($0.value)) }
        }
        return Columns.pairs(members, indent: indent)
    }

    /// Records, each under a title member.
    static func blocks(_ records: [JSON], title: String) -> [String] {
        records.flatMap { record in
            var rest = record.object ?? JSONObject()
            rest[title] = nil
            return [record.shown(title)] + pairs(.object(rest), indent: 2)
        }
    }

    /// Records as a table, a column for each member; the members named come first.
    static func table(_ records: [JSON], first: [String]) -> [String] {
        var names = first
        for name in records.flatMap({ $0.object?.names ?? [] }) where !names.contains(name) { names.append(name) }
        let rows = records.map { record in names.map { record[$0].map(text) ?? "-" } }
        return Columns.table(names.map { Display.safe($0.uppercased()) }, rows)
    }

    private static func text(_ value: JSON) -> String {
        switch value {
        case .bool(let truth): truth ? "yes" : "no"
        case .array(let elements): elements.isEmpty ? "-" : elements.map(text).joined(separator: ", ")
        case .object(let object):
            object.members.map { "\(Display.safe($0.name)) \(text($0.value))" }.joined(separator: " ")
        default: value.shown
        }
    }
}
