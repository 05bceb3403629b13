internal import CSQLite

/// A SQLite result code, primary or extended; open, since SQLite may add codes.
///
/// Source: sqlite.org/rescode.html.
public struct ResultCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int32

    /// Takes a number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code an extended one refines; a primary code is its own.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

    /// The number and SQLite's own fixed sentence for it, which never holds a value from the database.
    public var description: String {
        "SQLite \(rawValue): " + String(cString: sqlite3_errstr(rawValue))
    }

    static let ok = ResultCode(rawValue: SQLITE_OK)
    static let row = ResultCode(rawValue: SQLITE_ROW)
    static let done = ResultCode(rawValue: SQLITE_DONE)

    /// Another connection held a lock for longer than the busy timeout.
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    /// The disk or the database's own size limit is reached.
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    /// Reading or writing the file failed.
    public static let ioError = ResultCode(rawValue: SQLITE_IOERR)
    /// The file is damaged.
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    /// The file is not a database.
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// A constraint of the schema refused the change.
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    /// A row with that primary key exists.
    public static let constraintPrimaryKey = ResultCode(rawValue: SQLITE_CONSTRAINT | (6 << 8))
    /// A row with that unique value exists.
    public static let constraintUnique = ResultCode(rawValue: SQLITE_CONSTRAINT | (8 << 8))
    /// The row a change refers to does not exist.
    public static let constraintForeignKey = ResultCode(rawValue: SQLITE_CONSTRAINT | (3 << 8))
}
