/// One durable record of a reference identity provider: its kind and key, and a value only the provider reads.
public struct IdPRecord: Sendable, Hashable {
    /// What it is a record of, such as `user`.
    public var kind: String
    /// Its key within the kind.
    public var key: String
    /// The value, in the provider's own coding.
    public var value: [UInt8]

    /// Makes a record.
    public init(kind: String, key: String, value: [UInt8]) {
        self.kind = kind
        self.key = key
        self.value = value
    }
}

extension IdPRecord: CustomStringConvertible, CustomReflectable {
    /// Which record; never its value.
    public var description: String { "\(kind) \(key)" }

    /// Hides the value from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["record": description]) }
}

extension StoreReader {
    /// The value of one record, if it is stored.
    public func idpRecord(_ idp: String, kind: String, key: String) throws(StoreError) -> [UInt8]? {
        try connection.first(.idpRecord, [.text(idp), .text(kind), .text(key)]) {
            (row) throws(StoreError) in row.bytes(2)
        }
    }

    /// At most `limit` records of a kind in the order of their keys, beginning after `after`.
    public func idpRecords(
        _ idp: String, kind: String, limit: Int, after: String? = nil
    ) throws(StoreError) -> [IdPRecord] {
        // Every key comes after the empty one but the empty one itself.
        let sql: SQL = after == nil ? .idpRecordsFrom : .idpRecordsAfter
        return try connection.all(
            sql, [.text(idp), .text(kind), .text(after ?? ""), .integer(Int64(limit))], IdPRecord.init(row:))
    }

    /// Gives every record of a provider to `visit`, by kind and then key: how a provider comes back after a start.
    public func forEachIdPRecord(_ idp: String, _ visit: (IdPRecord) -> Void) throws(StoreError) {
        try connection.forEach(.idpAllRecords, [.text(idp)]) { (row) throws(StoreError) in
            try visit(IdPRecord(row: row))
        }
    }
}

extension StoreWriter {
    /// Stores a record, new or known.
    public func upsertIdPRecord(_ record: IdPRecord, of idp: String) throws(StoreError) {
        try connection.run(
            .upsertIdPRecord, [.text(idp), .text(record.kind), .text(record.key), .blob(record.value)])
    }

    /// Removes a record; tells whether there was one.
    @discardableResult
    public func deleteIdPRecord(_ idp: String, kind: String, key: String) throws(StoreError) -> Bool {
        try connection.run(.deleteIdPRecord, [.text(idp), .text(kind), .text(key)]) == 1
    }

    /// Removes every record of a provider, as a reset does; tells how many.
    @discardableResult
    public func deleteIdPRecords(_ idp: String) throws(StoreError) -> Int {
        try connection.run(.deleteIdPRecords, [.text(idp)])
    }
}

extension SQL {
    private static let idpSelection = "SELECT kind, key, value FROM idp_records WHERE idp = ?1"

    static let idpRecord = SQL("idp.get", "\(idpSelection) AND kind = ?2 AND key = ?3")
    static let idpRecordsFrom = SQL(
        "idp.listFrom", "\(idpSelection) AND kind = ?2 AND key >= ?3 ORDER BY key LIMIT ?4")
    static let idpRecordsAfter = SQL(
        "idp.listAfter", "\(idpSelection) AND kind = ?2 AND key > ?3 ORDER BY key LIMIT ?4")
    static let idpAllRecords = SQL("idp.all", "\(idpSelection) ORDER BY kind, key")
    static let upsertIdPRecord = SQL(
        "idp.upsert",
        """
        INSERT INTO idp_records (idp, kind, key, value) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (idp, kind, key) DO UPDATE SET value = ?4
        """)
    static let deleteIdPRecord = SQL(
        "idp.delete", "DELETE FROM idp_records WHERE idp = ?1 AND kind = ?2 AND key = ?3")
    static let deleteIdPRecords = SQL("idp.deleteAll", "DELETE FROM idp_records WHERE idp = ?1")
}

extension IdPRecord {
    fileprivate init(row: Row) throws(StoreError) {
        self.init(kind: row.text(0), key: row.text(1), value: row.bytes(2))
    }
}
