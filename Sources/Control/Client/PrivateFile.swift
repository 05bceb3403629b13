internal import Glibc

/// Files only their owner may read, written whole or not at all.
public enum PrivateFile {
    /// Writes bytes to a path in one step: readers see the old file or the new one.
    ///
    /// Throws ``PrivateFileError`` with the path and the system's reason.
    public static func write(_ bytes: [UInt8], to path: String) throws(PrivateFileError) {
        let draft = "\(path).\(getpid()).new"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw PrivateFileError(path: path, errno: errno) }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(file, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            sent += count
        }
        let failure = sent == bytes.count && fsync(file) == 0 ? nil : errno
        close(file)
        if let failure {
            unlink(draft)
            throw PrivateFileError(path: path, errno: failure)
        }
        guard rename(draft, path) == 0 else {
            let failure = errno
            unlink(draft)
            throw PrivateFileError(path: path, errno: failure)
        }
    }

    /// The bytes of a file; nil where it cannot be read or holds more than the limit.
    public static func read(_ path: String, limit: Int) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16384)
        while bytes.count <= limit {
            let count = block.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += block[..<count]
        }
        return nil
    }
}

/// Why a private file could not be written.
public struct PrivateFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// The system's error number.
    public let errno: Int32

    /// A stable name for this error.
    public var code: String { "file.cannot_write" }

    /// The path and the system's words.
    public var description: String { "cannot write \(path): \(String(cString: strerror(errno)))" }
}
