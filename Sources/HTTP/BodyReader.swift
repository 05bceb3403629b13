/// Takes the framing off one body, piece by piece (RFC 9112 sections 6 and 7).
struct BodyReader: Sendable {
    /// What a body gave next.
    enum Step {
        case needMore
        case bytes([UInt8])
        case end(HTTPFields)
    }

    private enum State {
        case fixed(remaining: Int)
        case untilClose
        case chunkSize
        case chunkData(remaining: Int)
        case chunkEnd
        case trailers
    }

    private var state: State
    private var received = 0
    private var extensionOctets = 0
    private var trailers = FieldSectionReader()

    init(_ framing: BodyFraming) {
        state =
            switch framing {
            case .none: .fixed(remaining: 0)
            case .length(let length): .fixed(remaining: length)
            case .chunked: .chunkSize
            case .untilClose: .untilClose
            }
    }

    /// Whether this body ends with the connection rather than being cut off by it.
    var endsAtClose: Bool { if case .untilClose = state { true } else { false } }

    /// Where in the message the connection would be cut off now.
    var part: HTTPFault.Part { if case .trailers = state { .trailers } else { .body } }

    mutating func next(from queue: inout ByteQueue, limits: HTTPLimits) throws(HTTPFault) -> Step {
        while true {
            switch state {
            case .fixed(let remaining): return readFixed(remaining, from: &queue)
            case .untilClose: return try readUntilClose(from: &queue, limits: limits)
            case .chunkSize:
                guard try readChunkSize(from: &queue, limits: limits) else { return .needMore }
            case .chunkData(let remaining):
                guard !queue.isEmpty else { return .needMore }
                let piece = queue.take(min(remaining, queue.count))
                state = piece.count == remaining ? .chunkEnd : .chunkData(remaining: remaining - piece.count)
                return .bytes(piece)
            case .chunkEnd:
                guard try readChunkEnd(from: &queue) else { return .needMore }
                state = .chunkSize
            case .trailers: return try readTrailers(from: &queue, limits: limits)
            }
        }
    }

    private mutating func readFixed(_ remaining: Int, from queue: inout ByteQueue) -> Step {
        guard remaining > 0 else { return .end([:]) }
        guard !queue.isEmpty else { return .needMore }
        let piece = queue.take(min(remaining, queue.count))
        state = .fixed(remaining: remaining - piece.count)
        return .bytes(piece)
    }

    private mutating func readUntilClose(
        from queue: inout ByteQueue, limits: HTTPLimits
    ) throws(HTTPFault) -> Step {
        guard !queue.isEmpty else { return .needMore }
        let room = limits.body - received
        guard room > 0 else { throw .bodyTooLarge(limit: limits.body) }
        let piece = queue.take(min(room, queue.count))
        received += piece.count
        return .bytes(piece)
    }

    /// Reads one chunk-size line; false when it is not complete yet.
    private mutating func readChunkSize(
        from queue: inout ByteQueue, limits: HTTPLimits
    ) throws(HTTPFault) -> Bool {
        switch queue.takeLine(limit: limits.chunkLine) {
        case .incomplete: return false
        case .tooLong: throw .chunkLineTooLong(limit: limits.chunkLine)
        case .bareLineFeed: throw .bareLineFeed
        case .line(let range):
            let line = try ChunkLine(queue.storage.span.extracting(range))
            extensionOctets += line.extensionOctets
            guard extensionOctets <= limits.chunkExtensions else {
                throw .chunkExtensionsTooLarge(limit: limits.chunkExtensions)
            }
            guard line.size <= limits.body - received else { throw .bodyTooLarge(limit: limits.body) }
            received += line.size
            state = line.size == 0 ? .trailers : .chunkData(remaining: line.size)
            return true
        }
    }

    /// Reads the CRLF after chunk data; false when it is not complete yet.
    private func readChunkEnd(from queue: inout ByteQueue) throws(HTTPFault) -> Bool {
        guard !queue.isEmpty else { return false }
        guard queue.first == Byte.carriageReturn else { throw .missingChunkEnd }
        guard queue.count >= 2 else { return false }
        queue.skip(1)
        guard queue.first == Byte.lineFeed else { throw .missingChunkEnd }
        queue.skip(1)
        return true
    }

    private mutating func readTrailers(
        from queue: inout ByteQueue, limits: HTTPLimits
    ) throws(HTTPFault) -> Step {
        guard let fields = try trailers.read(from: &queue, limits: limits) else { return .needMore }
        for field in fields where TrailerRule.forbids(field.name) {
            throw .forbiddenTrailer(name: ASCIIText.lowercased(field.name))
        }
        return .end(fields)
    }
}
