internal import CSQLite

/// One row of a running statement; used up within the visit it is given to.
struct Row {
    let statement: String
    fileprivate let handle: OpaquePointer

    init(statement: String, handle: OpaquePointer) {
        self.statement = statement
        self.handle = handle
    }

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    func flag(_ column: Int32) -> Bool {
        integer(column) != 0
    }

    func text(_ column: Int32) -> String {
        // The text is asked for before its length: asking may convert it.
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func textOrNil(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// The value as it is stored, whatever its type.
    func value(_ column: Int32) -> DumpedValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_BLOB: .blob(bytes(column))
        default: .text(text(column))
        }
    }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The column read by `read`, or `StoreError.unreadableRecord` naming the column and never its value.
    func required<T>(_ column: Int32, _ read: (Int32) -> T?) throws(StoreError) -> T {
        guard let value = read(column) else {
            let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "\(column)"
            throw .unreadableRecord(operation: statement, column: name)
        }
        return value
    }
}
