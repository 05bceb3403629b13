import HTTP

/// One client of a server: reads requests, hands them to the handler one after another, writes the answers.
///
/// While a request is with the handler nothing is read, so pipelined requests wait with the system and answers
/// leave in order. Lives on one loop; Sendable by hand because replies carry it to other threads, which only
/// queue jobs for the loop.
final class ServerConnection: WireOwner, @unchecked Sendable {
    private enum Phase {
        case handshaking
        /// Between requests.
        case idle
        case readingHead
        case readingBody
        /// The handler has the request.
        case handling
        case streaming
        /// The answer is larger than the peer reads just now; the next request waits.
        case flushing
        /// Nothing more is said; input is thrown away until the peer closes, so that it sees the answer.
        case lingering
        case closed
    }

    /// How long a lingering connection may be silent, and how many times over it may go on talking.
    private static let lingerMilliseconds = 2000
    private static let lingerRounds = 15
    /// How much of an answer may be unsent while the next pipelined request is already dealt with.
    private static let highWater = 256 * 1024

    let core: ServerCore
    let share: ServerShare
    var loop: EventLoop { share.loop }
    private let peer: Peer
    private var wire: Wire?
    private var phase = Phase.idle
    private var decoder: RequestDecoder
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var stream = StreamSlot()
    private var isAdvancing = false
    private var progress = Progress()
    private var lingerRounds = 0
    private var deadline: LoopTimer?

    /// The stream of the current answer, which the handler keeps alive.
    private struct StreamSlot {
        weak var stream: ResponseStream?
        /// Chunks, or bare bytes until the close.
        var isChunked = false
        var isEventFeed = false
    }

    init(core: ServerCore, share: ServerShare, peer: SocketAddress) {
        self.core = core
        self.share = share
        self.peer = Peer(peer, secure: core.tls != nil)
        decoder = RequestDecoder(limits: core.configuration.limits)
    }

    /// Bytes of answers that the system has not taken yet.
    var unsentBytes: Int { wire?.unsentBytes ?? 0 }

    // MARK: - Beginning

    /// Takes an accepted socket; called once, on the loop.
    func open(_ descriptor: Int32) {
        loop.assertInside()
        let timer = LoopTimer { [weak self] in self?.deadlinePassed() }
        deadline = timer
        guard let wire = Wire(loop: loop, descriptor: descriptor, owner: self) else { return finish() }
        self.wire = wire
        guard let tls = core.tls else { return loop.set(timer, milliseconds: idleMilliseconds) }
        phase = .handshaking
        loop.set(timer, milliseconds: core.configuration.headerMilliseconds)
        do throws(TransportError) {
            wire.secure(try tls.serverSession())
        } catch {
            finish()
        }
    }

    /// Takes an accepted socket only to say that the server is full.
    func refuse(_ descriptor: Int32) {
        open(descriptor)
        guard phase == .idle else { return finish() }  // Under TLS there is nothing to say before the handshake.
        write(HTTPResponse(status: 503), keepAlive: false)
        linger()
    }

    private var idleMilliseconds: Int { core.configuration.idleSeconds * 1000 }

    func wireSecured() {
        phase = .idle
        setDeadline(idleMilliseconds)
    }

    // MARK: - Reading requests

    func wireReceived(_ bytes: UnsafeRawBufferPointer) {
        decoder.feed(bytes)
        advance()
    }

    /// Takes as many requests from the decoder as can be dealt with now.
    private func advance() {
        guard !isAdvancing, let wire else { return }
        isAdvancing = true
        wire.cork()
        while isReading {
            do throws(HTTPFault) {
                guard let output = try decoder.next() else { break }
                take(output)
            } catch {
                refuse(error)
            }
        }
        isAdvancing = false
        if phase == .idle, !decoder.isIdle {
            phase = .readingHead
            setDeadline(core.configuration.headerMilliseconds)
        } else if phase == .readingBody {
            setDeadline(idleMilliseconds)
        }
        wire.uncork()
        if isReading {
            wire.resumeReading()
        } else if phase == .lingering {
            lingerOn()
        } else {
            wire.pauseReading()
        }
    }

    private var isReading: Bool {
        switch phase {
        case .idle, .readingHead, .readingBody: true
        case .handshaking, .handling, .streaming, .flushing, .lingering, .closed: false
        }
    }

    private func take(_ output: RequestDecoder.Output) {
        switch output {
        case .head(let head): begin(head)
        case .body(let bytes): if body.isEmpty { body = bytes } else { body += bytes }
        case .end(let trailers): dispatch(trailers)
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        self.head = head
        phase = .readingBody
        if head.expectsContinue {
            wire?.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        } else if head.version == .http11, head.fields.contains("Expect") {
            refuse(status: 417)
        }
    }

    private func dispatch(_ trailers: HTTPFields) {
        guard let head else { return }
        phase = .handling
        clearDeadline()
        let request = HTTPRequest(
            method: head.method, target: head.target, fields: head.fields, body: body, trailers: trailers,
            version: head.version)
        body = []
        core.handler.handle(request, from: peer, reply: Reply(ConnectionTicket(self)))
    }

    private func refuse(_ fault: HTTPFault) {
        // The message says which rule was broken; it repeats nothing of the request.
        refuse(status: fault.httpStatus, text: fault.description)
    }

    private func refuse(status: Int, text: String = "") {
        let response = HTTPResponse(
            status: status, fields: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
        write(response, keepAlive: false)
        linger()
    }

    // MARK: - Answering

    /// Sends the answer to the request that is with the handler.
    func answer(_ response: HTTPResponse) {
        loop.assertInside()
        guard phase == .handling else { return }
        let keepAlive = mayKeepAlive && !response.fields.hasToken("close", in: "Connection")
        write(response, keepAlive: keepAlive)
        endExchange(keepAlive: keepAlive)
    }

    private var mayKeepAlive: Bool { decoder.shouldKeepAlive && !core.isDraining }

    private func write(_ response: HTTPResponse, keepAlive: Bool) {
        let method = head?.method ?? "GET"
        let version = head?.version ?? .http11
        do {
            wire?.write(
                try HTTPEncoder.encode(response, for: method, keepAlive: keepAlive, clientVersion: version))
        } catch {
            // A handler that answers with a line break in a field: the client gets none of it.
            let substitute = HTTPResponse(status: 500)
            let bytes = try? HTTPEncoder.encode(
                substitute, for: method, keepAlive: keepAlive, clientVersion: version)
            wire?.write(bytes ?? [])
        }
    }

    private func endExchange(keepAlive: Bool) {
        guard phase != .closed else { return }
        head = nil
        guard keepAlive else { return linger() }
        phase = unsentBytes > Self.highWater ? .flushing : .idle
        setDeadline(idleMilliseconds)
        if phase == .idle { advance() }
    }

    // MARK: - Streaming

    /// Sends the head of a streamed answer, and what was written to the stream meanwhile.
    func begin(_ response: HTTPResponse, _ stream: ResponseStream?) {
        loop.assertInside()
        guard phase == .handling, let head else {
            stream?.close()
            return
        }
        let isChunked = head.version == .http11
        let keepAlive = mayKeepAlive && isChunked
        do {
            wire?.write(
                try HTTPEncoder.streamHead(response.head, keepAlive: keepAlive, clientVersion: head.version))
        } catch {
            stream?.close()
            return finish()
        }
        guard head.method != "HEAD" else {
            stream?.close()
            return endExchange(keepAlive: keepAlive)
        }
        guard let stream else { return finish() }  // Dropped before it began.
        phase = .streaming
        let isEventFeed = response.fields["Content-Type"]?.hasPrefix("text/event-stream") ?? false
        self.stream = StreamSlot(stream: stream, isChunked: isChunked, isEventFeed: isEventFeed)
        if isEventFeed, wire?.peerIsFinishing == true { return finish() }
        stream.begin(on: self)
        if core.isDraining, isEventFeed { stream.finish() }
    }

    private static let lastChunk = Array("0\r\n\r\n".utf8)

    /// Sends pieces of a streamed body, and its end after the last of them.
    func writeStream(_ pieces: [[UInt8]], isLast: Bool) {
        loop.assertInside()
        guard phase == .streaming else { return }
        wire?.cork()
        for piece in pieces { wire?.write(stream.isChunked ? HTTPEncoder.chunk(piece) : piece) }
        if isLast, stream.isChunked { wire?.write(Self.lastChunk) }
        wire?.uncork()
        guard phase == .streaming else { return }
        if isLast {
            let keepAlive = mayKeepAlive && stream.isChunked
            stream = StreamSlot()
            endExchange(keepAlive: keepAlive)
        } else if unsentBytes > 0 {
            watchProgress()
        }
    }

    /// Ends a streamed answer in the middle, by closing the connection.
    func cutStream() {
        loop.assertInside()
        if phase == .streaming { finish() }
    }

    // MARK: - Time

    /// What had gone over the wire when a deadline was set.
    private struct Progress: Equatable {
        var sent = 0
        var received = 0
    }

    private var currentProgress: Progress {
        Progress(sent: wire?.sentBytes ?? 0, received: wire?.receivedBytes ?? 0)
    }

    private func setDeadline(_ milliseconds: Int) {
        progress = currentProgress
        if let deadline { loop.set(deadline, milliseconds: milliseconds) }
    }

    private func clearDeadline() { if let deadline { loop.clear(deadline) } }

    private func watchProgress() {
        guard let deadline, deadline.due == nil else { return }
        setDeadline(idleMilliseconds)
    }

    private func deadlinePassed() {
        switch phase {
        case .readingHead, .readingBody: refuse(status: 408)
        case .streaming where unsentBytes == 0: break
        case .idle, .flushing, .streaming:
            // A peer that still takes what was sent to it is slow, not gone.
            guard unsentBytes > 0, currentProgress.sent != progress.sent else { return finish() }
            setDeadline(idleMilliseconds)
        case .lingering:
            lingerRounds += 1
            guard currentProgress != progress, lingerRounds < Self.lingerRounds else { return finish() }
            lingerOn()
        case .handshaking, .handling, .closed: finish()
        }
    }

    // MARK: - Ending

    /// The server shuts down: leave when nothing is under way.
    func drain() {
        loop.assertInside()
        switch phase {
        case .idle where unsentBytes == 0, .handshaking: finish()
        case .idle, .flushing: linger()
        case .streaming where stream.isEventFeed: stream.stream?.finish()
        case .readingHead, .readingBody, .handling, .streaming, .lingering, .closed: break
        }
    }

    /// Closes from our side so that the peer can read the answer to its end: without reading on, bytes that
    /// arrive after a close make the system reset the connection and the peer lose what we said.
    private func linger() {
        guard phase != .closed, let wire else { return }
        phase = .lingering
        wire.finishWriting()
        guard phase == .lingering else { return }
        wire.discardInput()
        lingerOn()
    }

    /// Goes when the peer has, and otherwise waits for it: long while it still reads, shortly afterwards.
    private func lingerOn() {
        guard phase == .lingering, let wire else { return }
        if wire.unsentBytes == 0, wire.peerEnded { return finish() }
        setDeadline(wire.unsentBytes > 0 ? idleMilliseconds : Self.lingerMilliseconds)
    }

    func wireDrained() {
        switch phase {
        case .flushing:
            phase = .idle
            advance()
        case .streaming: stream.stream?.noteUnsent(0)
        case .lingering: lingerOn()
        case .handshaking, .idle, .readingHead, .readingBody, .handling, .closed: break
        }
    }

    func wireEnded(isClean: Bool) {
        switch phase {
        case .lingering: lingerOn()
        case .idle, .flushing:
            if unsentBytes > 0 { linger() } else { finish() }
        case .handshaking, .readingHead, .readingBody, .handling, .streaming, .closed: finish()
        }
    }

    func wireHalfClosed() {
        // An event feed has no end to wait for, and a client that has closed will not read it. Other answers
        // are finite, and a client may well say that its request is over and read on.
        if phase == .streaming, stream.isEventFeed { finish() }
    }

    func wireBroke(_ failure: WireFailure) { finish() }

    /// Closes at once and lets everything go.
    func finish() {
        guard phase != .closed else { return }
        phase = .closed
        clearDeadline()
        deadline = nil
        wire?.close()
        wire = nil
        stream.stream?.close()
        stream = StreamSlot()
        share.remove(self)
    }
}
