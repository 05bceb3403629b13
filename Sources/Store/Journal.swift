public import Device
public import Encoding

extension StoreReader {
    /// At most `limit` entries that came after entry `sequence`, in order; 0 begins with the oldest kept.
    public func journal(since sequence: Int64, limit: Int) throws(StoreError) -> [JournalEntry] {
        try connection.all(
            .journalSince, [.integer(sequence), .integer(Int64(limit))], JournalEntry.init(row:))
    }

    /// At most `limit` entries about one device that came after entry `sequence`, in order.
    public func journal(
        of device: DeviceID, since sequence: Int64, limit: Int
    ) throws(StoreError) -> [JournalEntry] {
        try connection.all(
            .journalOfDevice, [.text(device.rawValue), .integer(sequence), .integer(Int64(limit))],
            JournalEntry.init(row:))
    }

    /// At most `limit` entries of one flow, from its first on.
    public func journal(ofFlow flow: String, limit: Int = 10_000) throws(StoreError) -> [JournalEntry] {
        try connection.all(.journalOfFlow, [.text(flow), .integer(Int64(limit))], JournalEntry.init(row:))
    }

    /// The sequence number of the newest entry, 0 when there is none.
    public func journalEnd() throws(StoreError) -> Int64 {
        try connection.first(.journalEnd) { (row) throws(StoreError) in row.integer(0) } ?? 0
    }

    /// How many entries have been dropped to stay within the bound.
    ///
    /// Entries are numbered without gaps and dropped oldest first, so it is one less than the oldest kept.
    public func journalDropped() throws(StoreError) -> Int64 {
        try connection.first(.journalStart) { (row) throws(StoreError) in row.integer(0) - 1 } ?? 0
    }
}

extension StoreWriter {
    /// The most entries the journal is cut down to.
    public static var mostJournalEntries: Int64 { 100_000 }
    /// How many entries beyond that may gather before the next cut.
    public static var journalSlack: Int64 { 256 }

    /// Appends an entry and returns its sequence number; the oldest are dropped past `mostJournalEntries`.
    @discardableResult
    public func appendJournal(
        at: Instant, device: DeviceID?, flow: String?, kind: String, body: [UInt8]
    ) throws(StoreError) -> Int64 {
        try connection.run(
            .appendJournal,
            [
                .integer(at.milliseconds), .textOrNull(device?.rawValue), .textOrNull(flow), .text(kind), .blob(body),
            ])
        let sequence = connection.lastInsertedRow
        // One cut for many entries: cutting dirties pages at the journal's other end.
        if sequence.isMultiple(of: Self.journalSlack) {
            try trimJournal(to: Self.mostJournalEntries)
        }
        return sequence
    }

    func trimJournal(to most: Int64) throws(StoreError) {
        try connection.run(.trimJournal, [.integer(try journalEnd() - most)])
    }
}

extension SQL {
    private static let journalColumns = "sequence, at, device, flow, kind, body"

    static let journalSince = SQL(
        "journal.since", "SELECT \(journalColumns) FROM journal WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")
    static let journalOfDevice = SQL(
        "journal.ofDevice",
        "SELECT \(journalColumns) FROM journal WHERE device = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3")
    static let journalOfFlow = SQL(
        "journal.ofFlow", "SELECT \(journalColumns) FROM journal WHERE flow = ?1 ORDER BY sequence LIMIT ?2")
    static let journalEnd = SQL("journal.end", "SELECT sequence FROM journal ORDER BY sequence DESC LIMIT 1")
    static let journalStart = SQL("journal.start", "SELECT sequence FROM journal ORDER BY sequence LIMIT 1")
    static let appendJournal = SQL(
        "journal.append", "INSERT INTO journal (at, device, flow, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)")
    static let trimJournal = SQL("journal.trim", "DELETE FROM journal WHERE sequence <= ?1")
}

extension JournalEntry {
    fileprivate init(row: Row) throws(StoreError) {
        let device: DeviceID? =
            row.isNull(2) ? nil : try row.required(2) { DeviceID(rawValue: row.text($0)) }
        self.init(
            sequence: row.integer(0), at: Instant(milliseconds: row.integer(1)), device: device,
            flow: row.textOrNil(3), kind: row.text(4), body: row.bytes(5))
    }
}
