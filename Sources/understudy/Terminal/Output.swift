import Encoding
import Glibc
import Synchronization

/// Where a command writes: results to one place, everything else to another.
///
/// With `--json`, stdout holds exactly one document (or one a line, for a stream) and all chatter goes to
/// stderr. A reader that has gone away is not an error: what follows is dropped.
final class Output: Sendable {
    /// Takes bytes; false where nobody reads any more.
    typealias Sink = @Sendable ([UInt8]) -> Bool

    /// Whether results are JSON.
    let isJSON: Bool
    /// How chatter and results on a terminal may be coloured.
    let style: Style
    private let result: Sink
    private let chatter: Sink
    private let closed = Mutex(false)

    /// Makes an output on two sinks.
    init(json: Bool, style: Style = .plain, result: @escaping Sink, chatter: @escaping Sink) {
        isJSON = json
        self.style = style
        self.result = result
        self.chatter = chatter
    }

    /// The process's own stdout and stderr.
    static func standard(json: Bool, environment: [String: String]) -> Output {
        signal(SIGPIPE, SIG_IGN)
        let place = json ? STDERR_FILENO : STDOUT_FILENO
        let coloured = isatty(place) == 1 && environment["NO_COLOR", default: ""].isEmpty
        return Output(
            json: json, style: coloured && environment["TERM"] != "dumb" ? .coloured : .plain,
            result: { write($0, to: STDOUT_FILENO) }, chatter: { write($0, to: STDERR_FILENO) })
    }

    /// Whether stdout's reader has gone away.
    var isClosed: Bool { closed.withLock { $0 } }

    /// What a person reads as the command goes: on stdout, or on stderr where stdout holds JSON.
    func say(_ line: String) {
        if isJSON { note(line) } else { bytes(Array((line + "\n").utf8)) }
    }

    /// The same, line by line.
    func say(_ lines: [String]) { lines.forEach { say($0) } }

    /// A line on stderr: warnings, hints, errors.
    func note(_ line: String) { _ = chatter(Array((line + "\n").utf8)) }

    /// The result as JSON, on a line of its own.
    func document(_ json: JSON) { bytes(json.serialized() + [UInt8(ascii: "\n")]) }

    /// The result in whichever form was asked for.
    func result(_ json: JSON, lines: @autoclosure () -> [String]) {
        if isJSON { document(json) } else { say(lines()) }
    }

    /// Bytes as they are, on stdout.
    func bytes(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        if !result(bytes) { closed.withLock { $0 = true } }
    }

    /// A line on stderr of the process itself, for what happens outside a command.
    static func complain(_ line: String) { _ = write(Array((line + "\n").utf8), to: STDERR_FILENO) }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let count = Glibc.write(file, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
                if count > 0 {
                    sent += count
                } else if errno == EAGAIN {
                    var place = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                    poll(&place, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}

/// Colours, where a terminal shows them.
struct Style: Sendable {
    /// No colours: a file, a pipe, or a person who set NO_COLOR.
    static let plain = Style(isColoured: false)
    /// Colours.
    static let coloured = Style(isColoured: true)

    private let isColoured: Bool

    /// A heading.
    func strong(_ text: String) -> String { wrap("1", text) }
    /// What may be skipped.
    func faint(_ text: String) -> String { wrap("2", text) }
    /// What went well.
    func good(_ text: String) -> String { wrap("32", text) }
    /// What went wrong.
    func bad(_ text: String) -> String { wrap("31", text) }

    private func wrap(_ code: String, _ text: String) -> String {
        isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
