/// Turns the bytes of one connection into responses: a client's half of the HTTP/1.1 codec.
///
/// Tell it the method of each request before its response can come (`expect`), because a response to HEAD or
/// CONNECT is framed differently. Otherwise it is fed and asked like `RequestDecoder`. Source: RFC 9112.
public struct ResponseDecoder: Sendable {
    /// One step of a response.
    public enum Output: Sendable, Equatable {
        /// A 1xx response; the final one is still to come.
        case interim(HTTPResponseHead)
        /// A status line and header fields, already checked for framing.
        case head(HTTPResponseHead)
        /// Some of the body, never empty.
        case body([UInt8])
        /// The end of the response, with its trailer fields.
        case end(trailers: HTTPFields)
    }

    private enum Phase {
        case startLine
        case fields(StatusLine)
        case body
        /// CONNECT succeeded: what follows is not HTTP.
        case tunnel
        case failed(HTTPFault)
    }

    private let limits: HTTPLimits
    private var queue = ByteQueue()
    private var phase = Phase.startLine
    private var section = FieldSectionReader()
    private var body = BodyReader(.none)
    private var expected: [String] = []
    private var interims = 0
    private var opensTunnel = false
    /// A response ended that closes the connection; nothing may follow it.
    private var isOver = false
    private var sawBytes = false
    private var isDry = true
    private var inputEnded = false
    private var partial: HTTPResponse?

    /// How many requests may wait for their responses at once.
    public static let mostExpected = 1024

    /// Whether the connection may carry another request, by what the last head said and how its body ends.
    public private(set) var shouldKeepAlive = true

    /// Makes a decoder for a fresh connection.
    public init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// Says that a request with this method was, or is about to be, sent.
    public mutating func expect(_ method: String) {
        precondition(expected.count < Self.mostExpected, "too many requests without a response")
        expected.append(method)
    }

    /// Whether nothing is awaited and nothing is left over: a connection in this state can be kept.
    public var isIdle: Bool {
        guard case .startLine = phase else { return false }
        return queue.isEmpty && expected.isEmpty
    }

    /// Adds bytes from the peer.
    public mutating func feed(_ bytes: [UInt8]) {
        if case .failed = phase { return }
        guard !bytes.isEmpty else { return }
        queue.append(bytes)
        noteBytes()
    }

    /// Adds bytes from the peer, copying them.
    public mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        if case .failed = phase { return }
        guard !bytes.isEmpty else { return }
        queue.append(bytes)
        noteBytes()
    }

    private mutating func noteBytes() {
        sawBytes = true
        isDry = false
    }

    /// The next step, or nil when more bytes are needed.
    ///
    /// - Throws: `HTTPFault`; give the exchange up and close.
    public mutating func next() throws(HTTPFault) -> Output? {
        do throws(HTTPFault) {
            let output = try step()
            isDry = output == nil
            if output == nil, inputEnded, let cut = cutOff { throw cut }
            return output
        } catch {
            phase = .failed(error)
            queue.removeAll()
            partial = nil
            shouldKeepAlive = false
            throw error
        }
    }

    /// The next whole final response with its body, or nil when more bytes are needed; 1xx responses are skipped.
    ///
    /// Use either this or `next()` on one decoder, not both within one response.
    ///
    /// - Throws: `HTTPFault`; give the exchange up and close.
    public mutating func nextMessage() throws(HTTPFault) -> HTTPResponse? {
        while let output = try next() {
            switch output {
            case .interim: continue
            case .head(let head):
                partial = HTTPResponse(
                    status: head.status, reason: head.reason, fields: head.fields, version: head.version)
            case .body(let bytes):
                if partial?.body.isEmpty == true { partial?.body = bytes } else { partial?.body += bytes }
            case .end(let trailers):
                partial?.trailers = trailers
                guard let response = partial.take() else { continue }
                return response
            }
        }
        return nil
    }

    /// Says that the server closed the connection; a body that ends so then ends at the next call of `next()`.
    ///
    /// - Throws: `HTTPFault.truncated` when that cuts a response off, with part `.start` when not one octet of an
    ///   awaited response came. If some of what was fed has not been taken yet, nothing is thrown here and `next()`
    ///   throws it after the last whole step.
    public mutating func finish() throws(HTTPFault) {
        inputEnded = true
        if case .failed(let fault) = phase { throw fault }
        guard isExhausted, let cut = cutOff else { return }
        phase = .failed(cut)
        shouldKeepAlive = false
        throw cut
    }

    /// Takes what follows a successful CONNECT, so that it can be fed to whatever speaks inside the tunnel.
    public mutating func takeTunnelBytes() -> [UInt8] {
        guard case .tunnel = phase else { return [] }
        return queue.take(queue.count)
    }

    /// Whether calling `next()` again could give nothing without more bytes.
    private var isExhausted: Bool {
        if isDry { return true }
        if case .body = phase { return false }
        return queue.isEmpty
    }

    /// What closing the connection now would cut off.
    private var cutOff: HTTPFault? {
        switch phase {
        case .startLine:
            if expected.isEmpty { return nil }
            return .truncated(sawBytes ? .head : .start)
        case .fields: return .truncated(.head)
        case .body: return body.endsAtClose ? nil : .truncated(body.part)
        case .tunnel, .failed: return nil
        }
    }

    private mutating func step() throws(HTTPFault) -> Output? {
        while true {
            switch phase {
            case .startLine:
                if expected.isEmpty || isOver, !queue.isEmpty { throw .unsolicitedResponse }
                guard let line = try statusLine() else { return nil }
                phase = .fields(line)
            case .fields(let line):
                guard let fields = try section.read(from: &queue, limits: limits) else { return nil }
                return try begin(line, fields)
            case .body:
                switch try body.next(from: &queue, limits: limits) {
                case .bytes(let bytes): return .body(bytes)
                case .end(let trailers): return end(trailers)
                case .needMore: return inputEnded && body.endsAtClose ? end([:]) : nil
                }
            case .tunnel: return nil
            case .failed(let fault): throw fault
            }
        }
    }

    private mutating func statusLine() throws(HTTPFault) -> StatusLine? {
        switch queue.takeLine(limit: limits.startLine) {
        case .incomplete: return nil
        case .tooLong: throw .startLineTooLong(limit: limits.startLine)
        case .bareLineFeed: throw .bareLineFeed
        case .line(let range): return try StatusLine(queue.storage.span.extracting(range))
        }
    }

    private mutating func begin(_ line: StatusLine, _ fields: HTTPFields) throws(HTTPFault) -> Output {
        let head = HTTPResponseHead(
            status: line.status, reason: line.reason, version: line.version, fields: fields)
        guard line.status >= 200 else { return try interim(head) }
        let method = expected.first ?? ""
        opensTunnel = method == "CONNECT" && line.status < 300
        if opensTunnel {
            body = BodyReader(.none)
            shouldKeepAlive = false
        } else {
            let announced = try BodyFraming.announced(by: fields, version: line.version, limits: limits)
            let hasNoBody = method == "HEAD" || line.status == 204 || line.status == 304
            let framing = hasNoBody ? .none : announced ?? .untilClose
            body = BodyReader(framing)
            shouldKeepAlive = framing != .untilClose && line.version.keepsAlive(fields)
        }
        phase = .body
        return .head(head)
    }

    private mutating func interim(_ head: HTTPResponseHead) throws(HTTPFault) -> Output {
        guard head.status != 101 else { throw .unexpectedUpgrade }
        interims += 1
        guard interims <= limits.interimResponses else {
            throw .tooManyInterimResponses(limit: limits.interimResponses)
        }
        phase = .startLine
        return .interim(head)
    }

    private mutating func end(_ trailers: HTTPFields) -> Output {
        expected.removeFirst()
        interims = 0
        sawBytes = !queue.isEmpty
        isOver = !shouldKeepAlive
        phase = opensTunnel ? .tunnel : .startLine
        return .end(trailers: trailers)
    }
}
