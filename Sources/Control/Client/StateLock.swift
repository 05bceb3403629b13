internal import Glibc

/// Keeps a daemon alone with its state directory: a second daemon, or a command working on the files itself,
/// would drive the same devices behind its back.
///
/// Commands share the lock with each other, but for one that replaces the state: it has the directory alone, too. The
/// lock is the system's (`flock`), so that it ends with its process,
/// however that ends.
public final class StateLock: Sendable {
    /// Why the lock was not taken.
    public enum Failure: Error, Sendable, Equatable {
        /// A daemon has the directory; its process, where it said so.
        case heldByDaemon(pid: Int?)
        /// Commands without a daemon are at work in the directory.
        case heldByCommands
        /// A command that replaces the state has the directory alone; its process, where it said so.
        case heldByLoneCommand(pid: Int?)
        /// The lock file cannot be opened; the path and the system's words.
        case unusable(path: String, reason: String)
    }

    private let file: Int32

    private init(file: Int32) { self.file = file }

    deinit { close(file) }

    /// The lock's file in a state directory.
    public static func path(in directory: String) -> String { directory + "/understudy.lock" }

    /// Takes the directory for a daemon, or says at once why not; the directory must exist.
    public static func forDaemon(in directory: String) throws(Failure) -> StateLock {
        let lock = StateLock(file: try open(directory))
        try lock.takeAlone(directory)
        lock.write("\(getpid())\n")
        return lock
    }

    /// Takes the directory for a command that replaces the state, or says at once why not; the directory must exist.
    public static func forLoneCommand(in directory: String) throws(Failure) -> StateLock {
        let lock = StateLock(file: try open(directory))
        try lock.takeAlone(directory)
        lock.write("\(loneMark)\(getpid())\n")
        return lock
    }

    /// Joins the commands at work in a directory, or says at once who has it alone; the directory must exist.
    public static func forCommand(in directory: String) throws(Failure) -> StateLock {
        let lock = StateLock(file: try open(directory))
        guard try lock.take(LOCK_SH) else { throw holder(of: directory) }
        return lock
    }

    private func takeAlone(_ directory: String) throws(Failure) {
        guard try !take(LOCK_EX) else { return }
        throw try take(LOCK_SH) ? .heldByCommands : Self.holder(of: directory)
    }

    private static func open(_ directory: String) throws(Failure) -> Int32 {
        let path = path(in: directory)
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .unusable(path: path, reason: String(cString: strerror(errno))) }
        return file
    }

    private func take(_ kind: Int32) throws(Failure) -> Bool {
        while flock(file, kind | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            if errno == EWOULDBLOCK { return false }
            throw .unusable(path: "the lock file", reason: String(cString: strerror(errno)))
        }
        return true
    }

    private func write(_ text: String) {
        _ = ftruncate(file, 0)
        _ = Array(text.utf8).withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    }

    /// What a command writes before its process's number; a daemon writes the number alone.
    private static let loneMark = "command "

    /// Who has the directory alone, as it wrote when it took it.
    private static func holder(of directory: String) -> Failure {
        let bytes = PrivateFile.read(path(in: directory), limit: 64) ?? []
        let text = String(decoding: bytes.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard text.hasPrefix(loneMark) else { return .heldByDaemon(pid: Int(text)) }
        return .heldByLoneCommand(pid: Int(text.dropFirst(loneMark.count)))
    }
}
