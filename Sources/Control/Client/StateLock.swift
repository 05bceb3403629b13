internal import Glibc

/// Keeps a daemon alone with its state directory: a second daemon, or a command working on the files itself,
/// would drive the same devices behind its back.
///
/// Commands share the lock with each other. It is the system's (`flock`), so that it ends with its process,
/// however that ends.
public final class StateLock: Sendable {
    /// Why the lock was not taken.
    public enum Failure: Error, Sendable, Equatable {
        /// A daemon has the directory; its process, where it said so.
        case heldByDaemon(pid: Int?)
        /// Commands without a daemon are at work in the directory.
        case heldByCommands
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
        guard try lock.take(LOCK_EX) else {
            throw try lock.take(LOCK_SH) ? .heldByCommands : .heldByDaemon(pid: pid(in: directory))
        }
        lock.write("\(getpid())\n")
        return lock
    }

    /// Joins the commands at work in a directory, or says at once that a daemon has it; the directory must exist.
    public static func forCommand(in directory: String) throws(Failure) -> StateLock {
        let lock = StateLock(file: try open(directory))
        guard try lock.take(LOCK_SH) else { throw .heldByDaemon(pid: pid(in: directory)) }
        return lock
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

    private static func pid(in directory: String) -> Int? {
        PrivateFile.read(path(in: directory), limit: 64).flatMap { bytes in
            Int(String(decoding: bytes, as: UTF8.self).filter { $0 != "\n" })
        }
    }
}
