/// Why the store refused or failed; no case ever holds a value of a record that is not its key.
public enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The directory or a file in it cannot be made or opened; check owner, modes and disk.
    case unusableDirectory(path: String, reason: String)
    /// The file is not a database; it was left as it is.
    case notADatabase(path: String)
    /// The database belongs to another program; it was left as it is.
    case foreignDatabase(path: String, applicationID: Int32)
    /// A newer build wrote the database; use that build, or another directory.
    case newerDatabase(path: String, found: Int, supported: Int)
    /// A migration failed and was rolled back; the database is still at the version before it.
    case migrationFailed(name: String, code: ResultCode)
    /// Other processes held the database for longer than the busy timeout; try again.
    case busy(operation: String)
    /// The database file is damaged; restore a copy.
    case damaged(operation: String, code: ResultCode)
    /// A record with that key exists.
    case duplicate(operation: String)
    /// The record that was to be changed, or that a new one belongs to, does not exist.
    case missing(operation: String)
    /// SQLite refused for another reason.
    case failed(operation: String, code: ResultCode)
    /// A stored record does not read as one; another program changed it.
    case unreadableRecord(operation: String, column: String)

    /// The stable dotted name of the rule.
    public var code: String {
        switch self {
        case .unusableDirectory: "store.directory"
        case .notADatabase: "store.notADatabase"
        case .foreignDatabase: "store.foreign"
        case .newerDatabase: "store.newer"
        case .migrationFailed: "store.migration"
        case .busy: "store.busy"
        case .damaged: "store.damaged"
        case .duplicate: "store.duplicate"
        case .missing: "store.missing"
        case .failed: "store.failed"
        case .unreadableRecord: "store.unreadable"
        }
    }

    /// What happened, where, and what SQLite calls it.
    public var description: String {
        switch self {
        case .unusableDirectory(let path, let reason): "cannot use '\(path)': \(reason)"
        case .notADatabase(let path): "'\(path)' is not a database; it was not changed"
        case .foreignDatabase(let path, let id):
            "'\(path)' belongs to another program (application id \(id)); it was not changed"
        case .newerDatabase(let path, let found, let supported):
            "'\(path)' is at version \(found), and this build knows versions up to \(supported); it was not changed"
        case .migrationFailed(let name, let code): "migration '\(name)' failed and was rolled back (\(code))"
        case .busy(let operation): "\(operation): other processes held the database too long"
        case .damaged(let operation, let code): "\(operation): the database is damaged (\(code))"
        case .duplicate(let operation): "\(operation): a record with that key exists"
        case .missing(let operation): "\(operation): no such record, or none to belong to"
        case .failed(let operation, let code): "\(operation) failed (\(code))"
        case .unreadableRecord(let operation, let column): "\(operation): column '\(column)' does not read"
        }
    }

    /// The error for a failed step of `operation`.
    init(_ code: ResultCode, in operation: String) {
        self =
            switch code {
            case .constraintPrimaryKey, .constraintUnique: .duplicate(operation: operation)
            case .constraintForeignKey: .missing(operation: operation)
            default:
                switch code.primary {
                case .busy: .busy(operation: operation)
                case .corrupt, .notADatabase: .damaged(operation: operation, code: code)
                default: .failed(operation: operation, code: code)
                }
            }
    }
}
