internal import CSQLite

/// One step of the schema, applied once, in a transaction of its own.
struct Migration {
    let name: String
    let sql: String
}

extension Connection {
    /// Marks a database as ours: "undy" in ASCII.
    static let applicationID: Int32 = 0x756E_6479

    /// Sets the connection's modes and brings the schema up to the newest of `migrations`.
    func prepare(migrations: [Migration]) throws(StoreError) {
        try refuseOthersDatabase(newest: migrations.count)
        try setModes()
        while try applyNext(migrations) {}
    }

    private func refuseOthersDatabase(newest: Int) throws(StoreError) {
        let version = try firstLook()
        let owner = Int32(truncatingIfNeeded: try readInteger(.applicationID))
        let tables = try readInteger(.tableCount)
        let isNew = owner == 0 && version == 0 && tables == 0
        guard owner == Self.applicationID || isNew else { throw .foreignDatabase(path: path, applicationID: owner) }
        guard version <= newest else { throw .newerDatabase(path: path, found: version, supported: newest) }
    }

    /// The schema version, by the first statement that reads the file and so finds out whether it is a database.
    private func firstLook() throws(StoreError) -> Int {
        do {
            return try readInteger(.userVersion)
        } catch {
            guard case .damaged(_, let code) = error, code.primary == .notADatabase else { throw error }
            throw .notADatabase(path: path)
        }
    }

    private func setModes() throws(StoreError) {
        // A database in memory answers "memory", and needs no log.
        _ = try first(.writeAheadLog) { (row) throws(StoreError) in row.text(0) }
        try execute(.modes)
    }

    /// Applies the next migration, if there is one; another process may have applied it since the last look.
    private func applyNext(_ migrations: [Migration]) throws(StoreError) -> Bool {
        let version = try readInteger(.userVersion)
        guard version < migrations.count else { return false }
        let migration = migrations[version]
        try run(.beginImmediate)
        do {
            if try readInteger(.userVersion) == version {
                try execute(SQL("migration", migration.sql))
                try execute(.stamp(version: version + 1))
                try refuseOrphans()
            }
            try run(.commit)
        } catch {
            rollBack()
            throw Self.failure(of: migration, error)
        }
        return true
    }

    /// The migration's name in place of the statement's, unless trying again or another copy is what helps.
    private static func failure(of migration: Migration, _ error: StoreError) -> StoreError {
        switch error {
        case .failed(_, let code): .migrationFailed(name: migration.name, code: code)
        case .missing: .migrationFailed(name: migration.name, code: .constraintForeignKey)
        case .duplicate: .migrationFailed(name: migration.name, code: .constraintUnique)
        default: error
        }
    }

    private func refuseOrphans() throws(StoreError) {
        let orphan: Bool? = try first(.foreignKeyCheck) { (_) throws(StoreError) in true }
        if orphan != nil { throw .missing(operation: SQL.foreignKeyCheck.name) }
    }

    private func readInteger(_ sql: SQL) throws(StoreError) -> Int {
        try first(sql) { (row) throws(StoreError) in Int(row.integer(0)) } ?? 0
    }
}

extension SQL {
    fileprivate static let userVersion = SQL("schema.version", "PRAGMA user_version")
    fileprivate static let applicationID = SQL("schema.owner", "PRAGMA application_id")
    fileprivate static let tableCount = SQL("schema.tables", "SELECT COUNT(*) FROM sqlite_schema")
    fileprivate static let foreignKeyCheck = SQL("schema.foreignKeys", "PRAGMA foreign_key_check")
    fileprivate static let writeAheadLog = SQL("connection.log", "PRAGMA journal_mode = WAL")
    /// In write-ahead mode `NORMAL` syncs at checkpoints only, and still never leaves a torn transaction.
    fileprivate static let modes = SQL(
        "connection.modes",
        """
        PRAGMA synchronous = NORMAL;
        PRAGMA foreign_keys = ON;
        PRAGMA wal_autocheckpoint = 4000;
        PRAGMA journal_size_limit = 67108864;
        PRAGMA cache_size = -16384;
        PRAGMA temp_store = MEMORY;
        """)

    fileprivate static func stamp(version: Int) -> SQL {
        SQL(
            "schema.stamp",
            "PRAGMA user_version = \(version); PRAGMA application_id = \(Connection.applicationID);")
    }
}
