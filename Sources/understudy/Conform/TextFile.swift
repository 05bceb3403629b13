import Glibc

/// Files a command reads or writes because an option names them.
enum TextFile {
    /// The largest file that is read, in bytes.
    static let limit = 1 << 20

    /// Reads a file whole.
    static func read(_ path: String, option: String) throws(CommandFailure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .badValue(option, "cannot read \(path): \(reason)") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = block.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .badValue(option, "cannot read \(path): \(reason)") }
            if count == 0 { return bytes }
            bytes += block[..<count]
            guard bytes.count <= limit else { throw .badValue(option, "\(path) holds more than \(limit) bytes") }
        }
    }

    /// Writes a file anew.
    static func write(_ text: String, to path: String, option: String) throws(CommandFailure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw .badValue(option, "cannot write \(path): \(reason)") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .badValue(option, "cannot write \(path): \(reason)") }
            written += count
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
