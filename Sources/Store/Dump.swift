import Device

/// Everything a store holds, table by table: what exports and snapshots are made of.
///
/// It holds private keys, tokens and face secrets.
public struct StoreDump: Sendable, Hashable {
    /// One table, its rows in the order of their keys.
    public struct Table: Sendable, Hashable {
        /// The table's name.
        public var name: String
        /// The names of its columns, in the schema's order.
        public var columns: [String]
        /// The values of each row, one for each column.
        public var rows: [[DumpedValue]]

        /// Makes a table.
        public init(name: String, columns: [String], rows: [[DumpedValue]]) {
            self.name = name
            self.columns = columns
            self.rows = rows
        }
    }

    /// The version of the schema.
    public var version: Int
    /// The tables, in the order of their names.
    public var tables: [Table]

    /// Makes a dump.
    public init(version: Int, tables: [Table]) {
        self.version = version
        self.tables = tables
    }
}

extension StoreDump: CustomStringConvertible, CustomReflectable {
    /// How much there is; never a value.
    public var description: String { tables.map { "\($0.name): \($0.rows.count)" }.joined(separator: ", ") }

    /// Hides the values from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["tables": description]) }
}

/// A value of any column.
public enum DumpedValue: Sendable, Hashable {
    /// No value.
    case null
    /// A whole number.
    case integer(Int64)
    /// A text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
}

/// Why a dump cannot take the place of what a store holds.
public enum DumpError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is of another version of the schema.
    case version(found: Int, expected: Int)
    /// It lacks tables, or has others than this schema.
    case tables(found: [String], expected: [String])
    /// A table lacks columns, or has others or in another order than this schema.
    case columns(table: String, found: [String], expected: [String])
    /// A row has more or fewer values than its table has columns.
    case row(table: String, number: Int)
    /// A value does not fit its column, or a row belongs to none.
    case value(table: String, reason: String)

    /// The stable dotted name of the rule.
    public var code: String {
        switch self {
        case .version: "dump.version"
        case .tables: "dump.tables"
        case .columns: "dump.columns"
        case .row: "dump.row"
        case .value: "dump.value"
        }
    }

    /// What does not fit, without a value.
    public var description: String {
        switch self {
        case .version(let found, let expected):
            "it is of version \(found), and this build reads version \(expected)"
        case .tables(let found, let expected):
            "its tables must be \(expected.joined(separator: ", ")), not \(found.joined(separator: ", "))"
        case .columns(let table, let found, let expected):
            "the columns of \(table) must be \(expected.joined(separator: ", ")), "
                + "not \(found.joined(separator: ", "))"
        case .row(let table, let number): "row \(number) of \(table) has not one value for each column"
        case .value(let table, let reason): "a row of \(table) does not fit: \(reason)"
        }
    }
}

extension StoreReader {
    /// Everything there is, of every table the schema has.
    public func dump() throws(StoreError) -> StoreDump {
        var tables: [StoreDump.Table] = []
        for name in try tableNames() {
            let columns = try columnNames(name)
            let rows = try connection.all(.rows(of: name, columns, key: try keyNames(name))) {
                (row) throws(StoreError) in columns.indices.map { row.value(Int32($0)) }
            }
            tables.append(StoreDump.Table(name: name, columns: columns, rows: rows))
        }
        return StoreDump(version: Migration.all.count, tables: tables)
    }

    /// How many rows each table has.
    public func rowCounts() throws(StoreError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for name in try tableNames() {
            counts[name] = try connection.first(.count(of: name)) { (row) throws(StoreError) in Int(row.integer(0)) }
        }
        return counts
    }

    func tableNames() throws(StoreError) -> [String] {
        try connection.all(.tableNames) { (row) throws(StoreError) in row.text(0) }
    }

    func columnNames(_ table: String) throws(StoreError) -> [String] {
        try connection.all(.columnNames, [.text(table)]) { (row) throws(StoreError) in row.text(0) }
    }

    private func keyNames(_ table: String) throws(StoreError) -> [String] {
        try connection.all(.keyNames, [.text(table)]) { (row) throws(StoreError) in row.text(0) }
    }
}

/// A table whose rows stand for themselves; others are emptied with the rows they belong to.
public enum StoreTable: String, Sendable, Hashable {
    /// Devices, with their keys, enrolments, sessions, flows and nonces.
    case devices
    /// The journal.
    case journal
    /// The records of reference identity providers.
    case idpRecords = "idp_records"
}

extension StoreWriter {
    /// Empties tables, or with nil all there are; returns how many rows each table lost.
    @discardableResult
    public func clear(_ tables: [StoreTable]?) throws(StoreError) -> [String: Int] {
        let before = try rowCounts()
        try connection.execute(.deferForeignKeys)
        let names = if let tables { tables.map(\.rawValue) } else { try tableNames() }
        for name in names { try connection.run(.clear(name)) }
        let after = try rowCounts()
        return before.reduce(into: [:]) { lost, entry in
            let count = entry.value - (after[entry.key] ?? 0)
            if count > 0 { lost[entry.key] = count }
        }
    }

    /// Puts a dump in the place of everything there is.
    ///
    /// Throws ``DumpError`` where it is not one of this schema, or `StoreError`; then nothing has changed.
    public func replaceAll(with dump: StoreDump) throws {
        guard dump.version == Migration.all.count else {
            throw DumpError.version(found: dump.version, expected: Migration.all.count)
        }
        let expected = try tableNames()
        guard dump.tables.map(\.name) == expected else {
            throw DumpError.tables(found: dump.tables.map(\.name), expected: expected)
        }
        try clear(nil)
        for table in dump.tables { try fill(table) }
        try readEverything()
    }

    private func fill(_ table: StoreDump.Table) throws {
        let columns = try columnNames(table.name)
        guard table.columns == columns else {
            throw DumpError.columns(table: table.name, found: table.columns, expected: columns)
        }
        let insert = SQL.insert(into: table.name, columns)
        for (index, row) in table.rows.enumerated() {
            guard row.count == columns.count else { throw DumpError.row(table: table.name, number: index + 1) }
            do throws(StoreError) {
                try connection.run(insert, row.map(Value.init))
            } catch {
                throw DumpError.value(table: table.name, reason: error.description)
            }
        }
    }

    /// Reads each record the way it will be read, so that one that cannot be is found now.
    private func readEverything() throws {
        var table = "devices"
        do throws(StoreError) {
            if let orphan = try connection.first(.orphans, [], { (row) throws(StoreError) in row.text(0) }) {
                throw .missing(operation: orphan)
            }
            for device in try devices(limit: .max) {
                table = "keys"
                _ = try keys(of: device.id)
                table = "enrolments"
                _ = try enrolments(of: device.id)
                table = "sessions"
                _ = try session(of: device.id)
            }
            table = "flows"
            _ = try liveFlows()
        } catch {
            throw DumpError.value(table: table, reason: error.description)
        }
    }
}

extension Value {
    fileprivate init(_ value: DumpedValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .blob(bytes)
        }
    }
}

extension SQL {
    fileprivate static let tableNames = SQL(
        "dump.tables", "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    fileprivate static let columnNames = SQL("dump.columns", "SELECT name FROM pragma_table_info(?1) ORDER BY cid")
    fileprivate static let keyNames = SQL(
        "dump.keys", "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")
    fileprivate static let deferForeignKeys = SQL("dump.defer", "PRAGMA defer_foreign_keys = ON")
    fileprivate static let orphans = SQL("dump.orphans", "PRAGMA foreign_key_check")

    /// Names of tables and columns are the schema's own, never a caller's.
    private static func quoted(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

    fileprivate static func rows(of table: String, _ columns: [String], key: [String]) -> SQL {
        SQL("dump.rows.\(table)", "SELECT \(quoted(columns)) FROM \(quoted([table])) ORDER BY \(quoted(key))")
    }

    fileprivate static func count(of table: String) -> SQL {
        SQL("dump.count.\(table)", "SELECT COUNT(*) FROM \(quoted([table]))")
    }

    fileprivate static func clear(_ table: String) -> SQL {
        SQL("dump.clear.\(table)", "DELETE FROM \(quoted([table]))")
    }

    fileprivate static func insert(into table: String, _ columns: [String]) -> SQL {
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        return SQL("dump.insert.\(table)", "INSERT INTO \(quoted([table])) (\(quoted(columns))) VALUES (\(places))")
    }
}
