internal import CSQLite

/// One connection to one database: the owner of one `sqlite3` pointer and its prepared statements.
///
/// Unchecked because the pointer is opened without SQLite's own mutex: `Store` alone holds a connection, inside a
/// `Mutex`, and uses it only under that lock.
final class Connection: @unchecked Sendable {
    /// How long a call waits for another process's lock, in milliseconds.
    static let busyTimeoutMilliseconds: Int32 = 5_000

    let path: String
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]

    /// Opens an existing file, or `:memory:`, changing nothing in it.
    init(path: String) throws(StoreError) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            // A handle comes back even from a failed open; closing a null one is harmless.
            sqlite3_close_v2(opened)
            throw .unusableDirectory(path: path, reason: "\(ResultCode(rawValue: code))")
        }
        self.path = path
        handle = opened
        try check(sqlite3_busy_timeout(handle, Self.busyTimeoutMilliseconds), "connection.busyTimeout")
        try check(
            understudy_sqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1), "connection.defensive")
        try check(
            understudy_sqlite_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), "connection.trustedSchema")
    }

    deinit {
        statements.removeAll()
        // With every statement finalised there is nothing left that could keep the close from succeeding.
        sqlite3_close_v2(handle)
    }

    /// Runs a statement that gives no rows, and tells how many rows it changed.
    @discardableResult
    func run(_ sql: SQL, _ values: [Value] = []) throws(StoreError) -> Int {
        try statement(sql).run(values) { (_) throws(StoreError) in }
        return Int(sqlite3_changes64(handle))
    }

    /// The first row, read by `read`, or `nil` when there is none.
    func first<T>(_ sql: SQL, _ values: [Value] = [], _ read: (Row) throws(StoreError) -> T) throws(StoreError) -> T? {
        var found: T?
        try statement(sql).run(values) { (row) throws(StoreError) in
            if found == nil { found = try read(row) }
        }
        return found
    }

    /// Every row, read by `read`, in the statement's order.
    func all<T>(_ sql: SQL, _ values: [Value] = [], _ read: (Row) throws(StoreError) -> T) throws(StoreError) -> [T] {
        var found: [T] = []
        try statement(sql).run(values) { (row) throws(StoreError) in found.append(try read(row)) }
        return found
    }

    /// Gives every row to `visit`, in the statement's order.
    func forEach(_ sql: SQL, _ values: [Value], _ visit: (Row) throws(StoreError) -> Void) throws(StoreError) {
        try statement(sql).run(values, visit: visit)
    }

    /// The row number of the newest inserted row.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs `body` between `begin` and a commit; any throw, its own or the commit's, rolls everything back.
    func transaction<T>(_ begin: SQL, _ body: () throws -> T) throws -> T {
        try run(begin)
        do {
            let result = try body()
            try run(.commit)
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs several statements kept nowhere, such as a migration's.
    func execute(_ sql: SQL) throws(StoreError) {
        try check(sqlite3_exec(handle, sql.text, nil, nil, nil), sql.name)
    }

    /// Undoes the open transaction, if there is one.
    func rollBack() {
        // Some failures (disk full, I/O) have rolled back already. A rollback that fails leaves the transaction open,
        // and then the next begin fails by name.
        guard sqlite3_get_autocommit(handle) == 0 else { return }
        _ = try? run(.rollback)
    }

    private func statement(_ sql: SQL) throws(StoreError) -> Statement {
        if let known = statements[sql.name] { return known }
        let prepared = try Statement(sql, on: handle)
        statements[sql.name] = prepared
        return prepared
    }

    private func check(_ code: Int32, _ operation: String) throws(StoreError) {
        guard code == SQLITE_OK else { throw StoreError(ResultCode(rawValue: code), in: operation) }
    }
}

extension SQL {
    /// A write takes its lock at once, so that no transaction fails half-way on another's.
    static let beginImmediate = SQL("transaction.begin", "BEGIN IMMEDIATE")
    /// A read sees one moment of the database from its first statement to its last.
    static let beginDeferred = SQL("transaction.read", "BEGIN DEFERRED")
    static let commit = SQL("transaction.commit", "COMMIT")
    static let rollback = SQL("transaction.rollback", "ROLLBACK")
}
