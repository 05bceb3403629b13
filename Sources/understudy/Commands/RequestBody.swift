import Encoding
import Glibc

/// The body a command line gives for a request: a text, a file, or a stream that can be read once only.
struct RequestBody: Sendable, Equatable {
    /// The largest body, in bytes.
    static let limit = 16 << 20

    /// The bytes.
    let bytes: [UInt8]
    /// Whether they came from stdin, a pipe or another stream: such a request is never repeated.
    let isOneShot: Bool

    /// Where a body comes from.
    enum Source: Equatable {
        /// The text itself.
        case text(String)
        /// A file, or a pipe that has a name.
        case file(String)
        /// Standard input.
        case standardInput

        /// Reads `--data` as curl does: `@FILE` names a file, `@-` is standard input.
        init(data: String) {
            self = data.hasPrefix("@") ? Source(file: String(data.dropFirst())) : .text(data)
        }

        /// Reads the name of a file; `-` is standard input.
        init(file: String) { self = file == "-" ? .standardInput : .file(file) }
    }

    /// Reads a body from where it is, all of it.
    static func read(_ source: Source) throws(CommandFailure) -> RequestBody {
        switch source {
        case .text(let text): return RequestBody(bytes: Array(text.utf8), isOneShot: false)
        case .standardInput: return RequestBody(bytes: try drain(STDIN_FILENO, of: "standard input"), isOneShot: true)
        case .file(let path):
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw unreadable(path) }
            defer { close(file) }
            return RequestBody(bytes: try drain(file, of: path), isOneShot: !isRegular(file))
        }
    }

    /// Only a regular file could be read again.
    private static func isRegular(_ file: Int32) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    private static func drain(_ file: Int32, of name: String) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = block.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(name) }
            if count == 0 { return bytes }
            bytes += block[..<count]
            guard bytes.count <= limit else {
                throw CommandFailure(
                    exit: .badInput, code: "too_large", message: "\(name) holds more than \(limit) bytes",
                    field: "data")
            }
        }
    }

    private static func unreadable(_ name: String) -> CommandFailure {
        .badValue("data", "cannot read \(name): \(String(cString: strerror(errno)))")
    }
}

/// How large the documents of `fetch` may be, in bytes: they carry bodies of up to 16 MiB in base64url.
enum FetchDocumentSize {
    /// What the control API takes.
    static let request = RequestBody.limit / 3 * 4 + (1 << 20)
    /// What a command takes from it; a body may stand in it twice, and escaped.
    static let answer = 8 * RequestBody.limit
}
