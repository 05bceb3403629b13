/// Turns the bytes of one connection into requests: a server's half of the HTTP/1.1 codec.
///
/// A value that does no I/O. Feed it bytes as they come, in pieces of any size, and call `next()` (or
/// `nextMessage()`) until it gives nil; the outputs and faults do not depend on how the bytes were cut, except
/// where one body is cut into pieces. It holds on to what was fed and not yet taken, so take before feeding more.
/// After a fault it is dead: every later call throws the same fault. Source: RFC 9112.
public struct RequestDecoder: Sendable {
    /// One step of a request.
    public enum Output: Sendable, Equatable {
        /// A request line and its header fields, already checked for framing and Host.
        case head(HTTPRequestHead)
        /// Some of the body, never empty.
        case body([UInt8])
        /// The end of the request, with its trailer fields.
        case end(trailers: HTTPFields)
    }

    private enum Phase {
        case startLine
        case fields(RequestLine)
        case body
        /// The last request asked to close; what follows it is thrown away.
        case closed
        case failed(HTTPFault)
    }

    private let limits: HTTPLimits
    private var queue = ByteQueue()
    private var phase = Phase.startLine
    private var section = FieldSectionReader()
    private var body = BodyReader(.none)
    private var skippedEmptyLine = false
    private var isDry = true
    private var inputEnded = false
    private var partial: HTTPRequest?

    /// Whether the connection may be used for another request, by what the last head said.
    ///
    /// Once a request that closes has ended, bytes after it are ignored (RFC 9112 section 9.6).
    public private(set) var shouldKeepAlive = true

    /// Makes a decoder for a fresh connection.
    public init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// Whether no request is under way: everything fed was taken, and the last request ended.
    public var isIdle: Bool {
        switch phase {
        case .startLine: queue.isEmpty
        case .closed: true
        case .fields, .body, .failed: false
        }
    }

    /// Adds bytes from the peer.
    public mutating func feed(_ bytes: [UInt8]) {
        guard isOpen else { return }
        queue.append(bytes)
        isDry = false
    }

    /// Adds bytes from the peer, copying them.
    public mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        guard isOpen else { return }
        queue.append(bytes)
        isDry = false
    }

    private var isOpen: Bool {
        switch phase {
        case .closed, .failed: false
        case .startLine, .fields, .body: true
        }
    }

    /// The next step, or nil when more bytes are needed (or the connection is done).
    ///
    /// - Throws: `HTTPFault`; answer its `httpStatus` and close.
    public mutating func next() throws(HTTPFault) -> Output? {
        do throws(HTTPFault) {
            let output = try step()
            isDry = output == nil
            if output == nil, inputEnded, !isIdle { throw HTTPFault.truncated(part) }
            return output
        } catch {
            phase = .failed(error)
            queue.removeAll()
            partial = nil
            throw error
        }
    }

    /// The next whole request with its body, or nil when more bytes are needed.
    ///
    /// Use either this or `next()` on one decoder, not both within one request.
    ///
    /// - Throws: `HTTPFault`; answer its `httpStatus` and close.
    public mutating func nextMessage() throws(HTTPFault) -> HTTPRequest? {
        while let output = try next() {
            switch output {
            case .head(let head):
                partial = HTTPRequest(
                    method: head.method, target: head.target, fields: head.fields, version: head.version)
            case .body(let bytes):
                if partial?.body.isEmpty == true { partial?.body = bytes } else { partial?.body += bytes }
            case .end(let trailers):
                partial?.trailers = trailers
                guard let request = partial.take() else { continue }
                return request
            }
        }
        return nil
    }

    /// Says that the peer sends no more.
    ///
    /// - Throws: `HTTPFault.truncated` when that cuts a request off. If some of what was fed has not been taken yet,
    ///   nothing is thrown here and `next()` throws it after the last whole step.
    public mutating func finish() throws(HTTPFault) {
        inputEnded = true
        if case .failed(let fault) = phase { throw fault }
        guard isExhausted, !isIdle else { return }
        let fault = HTTPFault.truncated(part)
        phase = .failed(fault)
        throw fault
    }

    /// Whether calling `next()` again could give nothing without more bytes.
    private var isExhausted: Bool {
        if isDry { return true }
        if case .body = phase { return false }
        return queue.isEmpty
    }

    private var part: HTTPFault.Part { if case .body = phase { body.part } else { .head } }

    private mutating func step() throws(HTTPFault) -> Output? {
        while true {
            switch phase {
            case .startLine:
                guard let line = try startLine() else { return nil }
                phase = .fields(line)
            case .fields(let line):
                guard let fields = try section.read(from: &queue, limits: limits) else { return nil }
                return .head(try begin(line, fields))
            case .body:
                switch try body.next(from: &queue, limits: limits) {
                case .needMore: return nil
                case .bytes(let bytes): return .body(bytes)
                case .end(let trailers):
                    endRequest()
                    return .end(trailers: trailers)
                }
            case .closed: return nil
            case .failed(let fault): throw fault
            }
        }
    }

    /// Reads a request line; one empty line before it is skipped (RFC 9112 section 2.2).
    private mutating func startLine() throws(HTTPFault) -> RequestLine? {
        while true {
            switch queue.takeLine(limit: limits.startLine) {
            case .incomplete: return nil
            case .tooLong: throw .startLineTooLong(limit: limits.startLine)
            case .bareLineFeed: throw .bareLineFeed
            case .line(let range):
                if range.isEmpty, !skippedEmptyLine {
                    skippedEmptyLine = true
                    continue
                }
                skippedEmptyLine = false
                return try RequestLine(queue.storage.span.extracting(range), limits: limits)
            }
        }
    }

    private mutating func begin(_ line: RequestLine, _ fields: HTTPFields) throws(HTTPFault) -> HTTPRequestHead {
        try HostRule.check(fields, version: line.version)
        let framing = try BodyFraming.announced(by: fields, version: line.version, limits: limits)
        let head = HTTPRequestHead(
            method: line.method, target: line.target, version: line.version, fields: fields)
        body = BodyReader(framing ?? .none)
        shouldKeepAlive = head.shouldKeepAlive
        phase = .body
        return head
    }

    private mutating func endRequest() {
        phase = shouldKeepAlive ? .startLine : .closed
        if !shouldKeepAlive { queue.removeAll() }
    }
}
