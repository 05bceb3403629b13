internal import CSQLite

/// One SQL text under the name its errors and its place in the cache go by.
struct SQL: Sendable {
    let name: String
    let text: String

    init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}

/// A value bound to a parameter.
enum Value {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func instantOrNull(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }

    static func textOrNull(_ value: String?) -> Value { value.map { .text($0) } ?? .null }

    static func flag(_ value: Bool) -> Value { .integer(value ? 1 : 0) }
}

/// One prepared statement: the owner of one `sqlite3_stmt` pointer.
final class Statement {
    let name: String
    private let handle: OpaquePointer

    /// Prepares `sql` on a connection that will use it many times.
    init(_ sql: SQL, on database: OpaquePointer) throws(StoreError) {
        var prepared: OpaquePointer?
        var text = sql.text
        let code = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_prepare_v3(
                    database, characters.baseAddress, Int32(characters.count), UInt32(SQLITE_PREPARE_PERSISTENT),
                    &prepared, nil)
            }
        }
        guard code == SQLITE_OK, let prepared else { throw StoreError(ResultCode(rawValue: code), in: sql.name) }
        name = sql.name
        handle = prepared
    }

    deinit {
        // Returns the code of the last failed step, which was thrown then.
        sqlite3_finalize(handle)
    }

    /// Runs the statement over `values`, giving each row to `visit`, and leaves it ready for the next use.
    func run(_ values: [Value], visit: (Row) throws(StoreError) -> Void) throws(StoreError) {
        defer { reset() }
        precondition(values.count == Int(sqlite3_bind_parameter_count(handle)), "\(name): wrong number of values")
        for (index, value) in values.enumerated() {
            try check(bind(value, at: Int32(index + 1)))
        }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: try visit(Row(statement: name, handle: handle))
            case SQLITE_DONE: return
            case let code: throw StoreError(ResultCode(rawValue: code), in: name)
            }
        }
    }

    /// Makes the statement ready again and drops its copies of the values, some of which are secrets.
    private func reset() {
        // Returns the code of the last failed step, which was thrown then.
        sqlite3_reset(handle)
        // Documented to return SQLITE_OK always.
        sqlite3_clear_bindings(handle)
    }

    private func bind(_ value: Value, at index: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .text(var text):
            return text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { characters in
                    // An empty text has no address, and a text bound from none would be NULL.
                    guard let address = characters.baseAddress else {
                        return understudy_sqlite_bind_text(handle, index, "", 0)
                    }
                    return understudy_sqlite_bind_text(handle, index, address, Int32(characters.count))
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
            return bytes.withUnsafeBytes {
                understudy_sqlite_bind_blob(handle, index, $0.baseAddress, Int32($0.count))
            }
        }
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw StoreError(ResultCode(rawValue: code), in: name) }
    }
}
