import Device
import Testing

@testable import Store

/// Dumping a store and putting the dump back.
@Suite struct DumpTests {
    /// The tables and columns of the schema, as SQLite itself keeps them.
    private func schema(_ store: Store) throws -> [String: [String]] {
        try store.read { reader in
            var columns: [String: [String]] = [:]
            let tables = try reader.connection.all(
                SQL("test.tables", "SELECT name FROM sqlite_master WHERE type = 'table'")
            ) { (row) throws(StoreError) in row.text(0) }
            for table in tables where !table.hasPrefix("sqlite_") {
                columns[table] = try reader.connection.all(
                    SQL("test.columns.\(table)", "SELECT name FROM pragma_table_xinfo('\(table)') ORDER BY cid")
                ) { (row) throws(StoreError) in row.text(0) }
            }
            return columns
        }
    }

    /// A store with a device, and in every other table a row with a value of its own in every column.
    private func full() throws -> Store {
        let store = try Store.inMemory()
        try store.write { writer in
            var device = try Make.device("ada")
            device.attestation.bootLocked = false
            try writer.insert(device)
            for (table, columns) in try schemaTypes(writer) where table != "devices" {
                let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
                let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
                try writer.connection.run(
                    SQL("test.fill.\(table)", "INSERT INTO \"\(table)\" (\(names)) VALUES (\(places))"),
                    columns.map { value(of: $0, in: table) })
            }
        }
        return store
    }

    private func schemaTypes(_ reader: StoreReader) throws -> [String: [(name: String, type: String)]] {
        var types: [String: [(name: String, type: String)]] = [:]
        for table in try reader.tableNames() {
            types[table] = try reader.connection.all(
                SQL("test.types.\(table)", "SELECT name, type FROM pragma_table_info('\(table)') ORDER BY cid")
            ) { (row) throws(StoreError) in (row.text(0), row.text(1)) }
        }
        return types
    }

    /// A value nobody reads on the way: only what the records insist on is as they want it.
    private func value(of column: (name: String, type: String), in table: String) -> Value {
        switch (table, column.name, column.type) {
        case (_, "device", _): .text("ada")
        case ("keys", "purpose", _): .text("dpop")
        case ("keys", "scalar", _): .blob([UInt8](repeating: 7, count: 32))
        case ("keys", "invalidated", _), ("flows", "is_terminal", _), ("flows", "is_parked", _),
            (_, "id", "INTEGER"):
            .integer(1)
        case (_, _, "INTEGER"): .integer(Int64(column.name.utf8.count) * 1_000_003)
        case (_, _, "BLOB"): .blob([0, 1, 0xFF, UInt8(column.name.utf8.count)])
        default: .text("\(table).\(column.name) ✓")
        }
    }

    @Test func `a dump holds every table and every column of the schema`() throws {
        let store = try full()
        let dump = try store.read { try $0.dump() }
        let columns = Dictionary(uniqueKeysWithValues: dump.tables.map { ($0.name, $0.columns) })
        #expect(columns == (try schema(store)))
        for table in dump.tables {
            #expect(table.rows.count == 1, "\(table.name) has no row here: teach this test to fill it")
            for (column, value) in zip(table.columns, table.rows.first ?? []) {
                #expect(value != .null, "\(table.name).\(column) has no value here: teach this test to give one")
            }
        }
    }

    @Test func `every value of every column comes back as it was`() throws {
        let dump = try full().read { try $0.dump() }
        let other = try Store.inMemory()
        try other.write { try $0.replaceAll(with: dump) }
        #expect(try other.read { try $0.dump() } == dump)
        // Over what is there already, as well.
        try other.write { try $0.replaceAll(with: dump) }
        #expect(try other.read { try $0.dump() } == dump)
    }

    @Test func `clearing says what each table lost`() throws {
        let store = try full()
        let lost = try store.write { try $0.clear([.devices]) }
        #expect(lost["devices"] == 1)
        #expect(lost["keys"] == 1)
        #expect(lost["sessions"] == 1)
        #expect(lost["journal"] == nil)
        let rest = try store.write { try $0.clear(nil) }
        #expect(rest["journal"] == 1)
        #expect(try store.read { try $0.rowCounts() }.values.allSatisfy { $0 == 0 })
    }

    @Test func `a dump of another schema is refused, and nothing has changed`() throws {
        let store = try full()
        let dump = try store.read { try $0.dump() }
        var newer = dump
        newer.version += 1
        var fewer = dump
        fewer.tables.removeLast()
        var narrower = dump
        narrower.tables[0].columns.removeLast()
        var shorter = dump
        shorter.tables[0].rows[0].removeLast()
        var mistyped = dump
        let place = try #require(dump.tables.firstIndex { $0.name == "journal" })
        mistyped.tables[place].rows[0][1] = .text("yesterday")
        for wrong in [newer, fewer, narrower, shorter, mistyped] {
            #expect(throws: DumpError.self) { try store.write { try $0.replaceAll(with: wrong) } }
            #expect(try store.read { try $0.dump() } == dump)
        }
    }
}
