import Synchronization

/// Everything that outlives a process: devices, keys, enrolments, sessions, flows, nonces, journal, IdP records.
///
/// One SQLite database in write-ahead mode, in a directory of its own. Any number of threads may share one store, and
/// any number of processes one directory. What belongs together is written in one transaction; what a transaction
/// wrote is there whole after a kill, or not at all.
public final class Store: Sendable {
    private let connection: Mutex<Connection>
    /// Who may renew which session.
    let leases: LeaseLocks

    /// Opens the store in `directory`, making it (mode 0700, files 0600) and bringing it up to this build's version.
    ///
    /// Throws `unusableDirectory`, `notADatabase`, `foreignDatabase`, `newerDatabase`, `migrationFailed` or `busy`; in
    /// each case an existing database is left as it was.
    public convenience init(directory: String) throws(StoreError) {
        try self.init(directory: directory, migrations: Migration.all)
    }

    /// Opens a store that lives in memory and ends with this value.
    public static func inMemory() throws(StoreError) -> Store {
        let connection = try Connection(path: ":memory:")
        try connection.prepare(migrations: Migration.all)
        return Store(inMemory: connection)
    }

    init(directory path: String, migrations: [Migration]) throws(StoreError) {
        let directory = StoreDirectory(path: path)
        try directory.prepare()
        let opened = try directory.exclusively { () throws(StoreError) in
            let connection = try Connection(path: directory.databasePath)
            try connection.prepare(migrations: migrations)
            return connection
        }
        connection = Mutex(opened)
        leases = LeaseLocks(directory: path)
    }

    private init(inMemory opened: Connection) {
        connection = Mutex(opened)
        leases = LeaseLocks(directory: nil)
    }

    /// Runs `body` over one moment of the database.
    ///
    /// The reader is good inside `body` only; calling this store again from there is a programming error. Throws
    /// `StoreError`, or what `body` throws.
    public func read<T: Sendable>(_ body: (StoreReader) throws -> T) throws -> T {
        try connection.withLock { connection in
            let reader = StoreReader(connection)
            defer { reader.close() }
            return try connection.transaction(.beginDeferred) { try body(reader) }
        }
    }

    /// Runs `body` as one transaction: all of it is durable when this returns, and none of it when it throws.
    ///
    /// Durable against a killed process at once; against a power cut from the next checkpoint on, without ever losing
    /// consistency (`synchronous=NORMAL`). The writer is good inside `body` only; calling this store again from there is
    /// a programming error. Throws `StoreError`, or what `body` throws.
    public func write<T: Sendable>(_ body: (StoreWriter) throws -> T) throws -> T {
        try connection.withLock { connection in
            let writer = StoreWriter(connection)
            defer { writer.close() }
            return try connection.transaction(.beginImmediate) { try body(writer) }
        }
    }
}
