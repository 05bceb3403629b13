import Encoding
import Engine
import ReferenceIdP
import Store

/// A whole world as one document: what exports and snapshots are.
///
/// It holds every private key, token and face secret there is.
struct WorldDocument: Sendable {
    /// The document's own version.
    static let version: Int64 = 1

    let clock: String
    let dump: StoreDump

    /// Describes a world.
    init(clock: String, dump: StoreDump) {
        self.clock = clock
        self.dump = dump
    }

    /// Reads a document; throws a sentence that names what is wrong, and never a value.
    init(_ json: JSON) throws(ControlProblem) {
        guard let object = json.object, object.names == ["understudy_export", "schema", "clock", "tables"] else {
            throw Self.wrong("it must hold understudy_export, schema, clock and tables, and nothing else")
        }
        guard json["understudy_export"]?.int == Self.version else {
            throw Self.wrong("understudy_export must be \(Self.version)")
        }
        guard let schema = json["schema"]?.int, let clock = json["clock"]?.string else {
            throw Self.wrong("schema must be a number and clock a text")
        }
        guard let tables = json["tables"]?.object else { throw Self.wrong("tables must be an object") }
        self.clock = clock
        dump = StoreDump(version: Int(clamping: schema), tables: try tables.names.map(Self.table(tables)))
    }

    private static func table(_ tables: JSONObject) -> (String) throws(ControlProblem) -> StoreDump.Table {
        { (name) throws(ControlProblem) in
            guard let columns = tables[name]?["columns"]?.array, let rows = tables[name]?["rows"]?.array else {
                throw wrong("table \(name) must hold columns and rows")
            }
            var read: [[DumpedValue]] = []
            for row in rows {
                guard let values = row.array else { throw wrong("a row of \(name) must be a list") }
                var dumped: [DumpedValue] = []
                for value in values {
                    guard let known = DumpedValue(value) else {
                        throw wrong("a value of \(name) must be null, a number, a text or {base64url}")
                    }
                    dumped.append(known)
                }
                read.append(dumped)
            }
            return StoreDump.Table(name: name, columns: columns.compactMap(\.string), rows: read)
        }
    }

    static func wrong(_ rule: String) -> ControlProblem {
        ControlProblem(status: 422, code: "invalid_field", detail: "the export: \(rule)", field: "body", rule: rule)
    }

    var json: JSON {
        [
            "understudy_export": .int(Self.version), "schema": .int(Int64(dump.version)), "clock": .string(clock),
            "tables": .object(dump.tables.map { ($0.name, $0.json) }),
        ]
    }

    /// The records of one reference IdP.
    func records(of idp: String) throws -> [RecordChange] {
        guard let table = dump.tables.first(where: { $0.name == StoreTable.idpRecords.rawValue }) else { return [] }
        return try table.rows.compactMap { row in
            guard row.count == 4, row[0] == .text(idp), case .text(let kind) = row[1], case .text(let key) = row[2],
                case .blob(let value) = row[3]
            else { return nil }
            guard let known = RecordChange.Kind(rawValue: kind) else { throw UnknownRecord(kind: kind) }
            return RecordChange(kind: known, key: key, value: value)
        }
    }

    /// The document with the records of one reference IdP put in, in place of those the store has of it.
    func with(_ records: [RecordChange], of idp: String) -> WorldDocument {
        var dump = dump
        guard let place = dump.tables.firstIndex(where: { $0.name == StoreTable.idpRecords.rawValue }) else {
            return self
        }
        var rows = dump.tables[place].rows.filter { $0.first != .text(idp) }
        rows += records.compactMap { record in
            record.value.map { [.text(idp), .text(record.kind.rawValue), .text(record.key), .blob($0)] }
        }
        dump.tables[place].rows = rows.sorted { $0.keyText.lexicographicallyPrecedes($1.keyText) }
        return WorldDocument(clock: clock, dump: dump)
    }
}

extension [DumpedValue] {
    /// The texts a record is found by, as bytes, which is how SQLite orders them.
    fileprivate var keyText: [UInt8] {
        var bytes: [UInt8] = []
        for case .text(let text) in prefix(3) { bytes += Swift.Array(text.utf8) + [0] }
        return bytes
    }
}

extension StoreDump.Table {
    fileprivate var json: JSON {
        [
            "columns": .array(columns.map { .string($0) }),
            "rows": .array(rows.map { .array($0.map(\.json)) }),
        ]
    }
}

extension DumpedValue {
    fileprivate var json: JSON {
        switch self {
        case .null: .null
        case .integer(let number): .int(number)
        case .text(let text): .string(text)
        case .blob(let bytes): ["base64url": .string(Base64URL.encode(bytes))]
        }
    }

    fileprivate init?(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .int(let number): self = .integer(number)
        case .string(let text): self = .text(text)
        case .object(let object):
            guard object.names == ["base64url"], let text = object["base64url"]?.string,
                let bytes = try? Base64URL.decode(text)
            else { return nil }
            self = .blob(bytes)
        default: return nil
        }
    }
}
