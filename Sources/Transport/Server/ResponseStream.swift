import Synchronization

/// The body of a response that is sent while it is made, server-sent events for example.
///
/// For any thread.
///
/// Each `write` becomes one chunk. What the client does not read waits here up to the server's
/// `maxStreamBuffer`; a client that is slower than that is cut off, because an event feed with holes would be
/// worse than a reconnect. A producer that can wait uses `drained`. An event feed
/// (`text/event-stream`) is over when the client closes its side of the connection, and is ended at once when the
/// server shuts down; any other stream goes on for a client that has only finished its request, and gets the time
/// the shutdown grants.
public final class ResponseStream: Sendable {
    private struct State {
        var pending: [[UInt8]] = []
        var pendingBytes = 0
        var bytesInWire = 0
        var hasBegun = false
        var isFinished = false
        var isClosed = false
        /// A flush is on its way; true at first, because the beginning of the answer brings one.
        var isFlushScheduled = true
        var closeActions: [@Sendable () -> Void] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        var collected: [UInt8] = []

        var buffered: Int { pendingBytes + bytesInWire }
    }

    private enum Sink {
        case connection(ServerConnection, limit: Int)
        case collector(@Sendable ([UInt8]) -> Void)
    }

    private let sink: Sink
    private let state = Mutex(State())

    init(_ connection: ServerConnection, limit: Int) {
        sink = .connection(connection, limit: limit)
    }

    /// A stream that gathers its pieces.
    init(collector: @escaping @Sendable ([UInt8]) -> Void) {
        sink = .collector(collector)
    }

    deinit {
        let wasEnded = state.withLock { $0.isFinished || $0.isClosed }
        guard !wasEnded, case .connection(let connection, _) = sink else { return }
        connection.loop.executeNow { connection.cutStream() }
    }

    /// Whether nothing more will be sent: finished, or the client has gone.
    public var isClosed: Bool { state.withLock { $0.isClosed || $0.isFinished } }

    /// How many bytes wait for the client to read them.
    public var bufferedBytes: Int { state.withLock { $0.buffered } }

    /// Sends a piece of the body; an empty piece sends nothing.
    ///
    /// - Returns: false when the stream is over: finished, left by the client, or cut off because the client does
    ///   not keep up. A single piece may be larger than the bound.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return !isClosed }
        guard case .connection(let connection, let limit) = sink else { return collect(bytes) }
        enum Verdict { case over, cut, queued, flush }
        let verdict: Verdict = state.withLock { state in
            guard !state.isClosed, !state.isFinished else { return .over }
            guard state.pendingBytes == 0 || state.pendingBytes + bytes.count <= limit else { return .cut }
            state.pending.append(bytes)
            state.pendingBytes += bytes.count
            defer { state.isFlushScheduled = true }
            return state.isFlushScheduled ? .queued : .flush
        }
        switch verdict {
        case .over: return false
        case .cut:
            close()
            connection.loop.execute { connection.cutStream() }
            return false
        case .queued: return true
        case .flush:
            connection.loop.executeNow { self.flush(to: connection) }
            return true
        }
    }

    /// Ends the body; the client sees a whole response.
    ///
    /// Finishing twice, or after the client left, does nothing.
    public func finish() {
        let isFirst = state.withLock { state in
            guard !state.isFinished, !state.isClosed else { return false }
            state.isFinished = true
            return true
        }
        guard isFirst else { return }
        switch sink {
        case .collector(let receive):
            receive(state.withLock { $0.collected })
            close()
        case .connection(let connection, _):
            connection.loop.executeNow { self.flush(to: connection) }
        }
    }

    /// Has an action run once the stream is over, whether finished or left by the client.
    ///
    /// - Parameter action: runs once, on any thread, at once when the stream is over already. It must not block.
    public func onClose(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isClosed { state.closeActions.append(action) }
            return state.isClosed
        }
        if isOver { action() }
    }

    /// Waits until the client has taken everything written so far, or is gone.
    public func drained() async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                guard !state.isClosed, state.buffered > 0 else { return false }
                state.waiters.append(continuation)
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    // MARK: - For the connection, on its loop

    /// The head has been sent: what was written meanwhile may follow.
    func begin(on connection: ServerConnection) {
        state.withLock { $0.hasBegun = true }
        flush(to: connection)
    }

    /// Hands everything written so far to the connection, in order; several writes share one call.
    private func flush(to connection: ServerConnection) {
        guard case .connection(_, let limit) = sink else { return }
        let unsent = connection.unsentBytes
        let (pieces, isFinished, mustCut) = state.withLock { state in
            guard state.hasBegun else { return ([[UInt8]](), false, false) }
            defer {
                state.pending = []
                state.pendingBytes = 0
                state.isFlushScheduled = false
            }
            return (state.pending, state.isFinished, unsent > 0 && unsent + state.pendingBytes > limit)
        }
        if mustCut { return connection.cutStream() }
        connection.writeStream(pieces, isLast: isFinished)
        noteUnsent(connection.unsentBytes)
        if isFinished { close() }
    }

    /// Learns how many bytes the client's connection still holds.
    func noteUnsent(_ count: Int) {
        let waiters = state.withLock { state in
            state.bytesInWire = count
            guard state.buffered == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Marks the stream as over and tells everybody who asked.
    func close() {
        let (actions, waiters) = state.withLock { state in
            defer {
                state.isClosed = true
                state.closeActions = []
                state.waiters = []
                state.pending = []
                state.pendingBytes = 0
            }
            return (state.closeActions, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        for action in actions { action() }
    }

    private func collect(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.isFinished else { return false }
            state.collected += bytes
            return true
        }
    }
}
