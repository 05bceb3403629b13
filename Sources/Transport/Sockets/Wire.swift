import Glibc

/// Who uses a wire.
///
/// All calls come on the loop's thread; a wire may be closed inside any of them.
protocol WireOwner: AnyObject {
    /// The TLS handshake is over. Not called on a plain wire.
    func wireSecured()

    /// Bytes arrived; they are valid during the call only.
    func wireReceived(_ bytes: UnsafeRawBufferPointer)

    /// The peer will send nothing more. `isClean` is false when TLS was cut without a close_notify, so that
    /// what came may be incomplete.
    func wireEnded(isClean: Bool)

    /// The peer has closed its side while reading is paused; unread bytes may come before that end.
    func wireHalfClosed()

    /// All bytes written so far are with the system.
    func wireDrained()

    /// The connection broke and is closed.
    func wireBroke(_ failure: WireFailure)
}

/// Why a wire broke.
enum WireFailure {
    /// The peer reset the connection or the network failed, with `errno`.
    case system(Int32)
    /// TLS failed; the reason is in the error.
    case tls(TransportError)
    /// The loop is gone.
    case stopped
}

/// One TCP connection on one loop, plain or under TLS: bytes in, bytes out, and how it ended.
///
/// Writes are tried at once; what the socket does not take waits in a queue. Reads go on until the socket is
/// empty, the owner pauses, or others deserve a turn. The wire keeps its owner alive until it is closed.
/// Sendable by hand: touched on its loop only, which it asserts.
final class Wire: ReadinessHandler, @unchecked Sendable {
    /// How many buffers are read before the other sockets of the loop get a turn.
    private static let readsPerTurn = 16

    let loop: EventLoop
    private var owner: (any WireOwner)?
    private var descriptor: Int32
    private var tls: TLSSession?
    private var output = OutputQueue()
    private var isReadable = true
    private var isWritable = true
    private var isCorked = false
    private var isPaused = false
    private var isPumping = false
    private var isDiscarding = false
    /// Whether the peer has closed its side; unread bytes may come before that end.
    private(set) var peerIsFinishing = false
    /// Whether the peer has said that it sends no more.
    private(set) var peerEnded = false
    private var hasShutDown = false
    private var mustShutDown = false
    private var mustReportDrain = false

    /// How many bytes written are still here and not with the system.
    var unsentBytes: Int { output.count }

    /// How many bytes the system has taken since the start: grows as long as the peer reads.
    private(set) var sentBytes = 0

    /// How many bytes have come since the start: grows as long as the peer writes and we read.
    private(set) var receivedBytes = 0

    var isOpen: Bool { descriptor >= 0 }

    /// Takes a connected socket over; it is closed with the wire.
    ///
    /// - Returns: nil when the loop cannot watch it; the socket is closed then.
    init?(loop: EventLoop, descriptor: Int32, owner: any WireOwner) {
        self.loop = loop
        self.descriptor = descriptor
        self.owner = owner
        guard loop.register(descriptor, self) else {
            Glibc.close(descriptor)
            self.descriptor = -1
            return nil
        }
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    // MARK: - Writing

    /// Starts TLS; the owner hears of its end by `wireSecured` or `wireBroke`.
    func secure(_ session: TLSSession) {
        loop.assertInside()
        tls = session
        advanceHandshake()
        flush()
    }

    /// Sends bytes, now or as soon as the socket takes them.
    ///
    /// Ignored on a closed wire.
    func write(_ bytes: [UInt8]) {
        loop.assertInside()
        guard isOpen, !hasShutDown, !mustShutDown else { return }
        if let tls {
            do throws(TransportError) {
                try tls.write(bytes)
            } catch {
                return fail(.tls(error))
            }
            output.append(tls.takeOutput())
        } else {
            output.append(bytes)
        }
        flush()
    }

    /// Says that nothing more will be written, after what is queued: close_notify under TLS, then TCP's FIN.
    func finishWriting() {
        guard isOpen, !hasShutDown, !mustShutDown else { return }
        if let tls {
            tls.sendCloseNotify()
            output.append(tls.takeOutput())
        }
        mustShutDown = true
        flush()
    }

    /// Holds writes back until `uncork`, so that several small ones leave in one system call.
    func cork() { isCorked = true }

    /// Sends what was held back.
    func uncork() {
        isCorked = false
        flush()
    }

    private func flush() {
        guard !isCorked else { return }
        while isOpen, isWritable, !output.isEmpty {
            switch output.withFirst({ Sockets.send(descriptor, $0) }) {
            case .bytes(let count):
                output.drop(count)
                sentBytes &+= count
            case .wouldBlock:
                isWritable = false
                mustReportDrain = true
            case .failed(let error): return breakWriting(error)
            }
        }
        guard isOpen, output.isEmpty else { return }
        if mustShutDown, !hasShutDown {
            hasShutDown = true
            shutdown(descriptor, Int32(SHUT_WR))
        }
        if mustReportDrain {
            mustReportDrain = false
            owner?.wireDrained()
        }
    }

    /// The peer takes no more bytes.
    ///
    /// It may have answered before it closed (an early 413), so what it has sent is read before the wire counts
    /// as broken.
    private func breakWriting(_ error: Int32) {
        output.removeAll()
        hasShutDown = true
        guard !isPaused else { return fail(.system(error)) }
        isReadable = true
        peerIsFinishing = true
        loop.execute { [weak self] in
            guard let self else { return }
            pump()
            if !peerEnded { fail(.system(error)) }
        }
    }

    // MARK: - Reading

    /// Stops delivering bytes; what the peer sends stays with the system and slows it down.
    func pauseReading() { isPaused = true }

    /// Delivers again, at once when something is there.
    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        pump()
    }

    /// Throws away whatever the peer still sends, so that closing does not reset what we have sent.
    func discardInput() {
        isDiscarding = true
        resumeReading()
    }

    /// True when the peer has closed or sent something on a connection that should be silent.
    var isStale: Bool { !isOpen || peerEnded || !Sockets.isOpenAndSilent(descriptor) }

    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        var turns = 0
        if tls != nil, !isDiscarding { decrypt() }
        while isOpen, isReadable, !isPaused, !peerEnded {
            guard turns < Self.readsPerTurn else {
                loop.execute { [weak self] in self?.pump() }
                return
            }
            turns += 1
            readOnce()
        }
    }

    private func readOnce() {
        switch Sockets.receive(descriptor, into: loop.readBuffer) {
        case .bytes(0): reachEnd()
        case .bytes(let count):
            receivedBytes &+= count
            // A short read has emptied the socket, and whatever comes later is a new edge; unless the end was
            // part of the edge being handled.
            if count < loop.readBuffer.count, !peerIsFinishing { isReadable = false }
            deliver(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
        case .wouldBlock: isReadable = false
        case .failed(let error): fail(.system(error))
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        guard !isDiscarding else { return }
        guard let tls else {
            owner?.wireReceived(bytes)
            return
        }
        do throws(TransportError) {
            try tls.receive(bytes)
        } catch {
            return fail(.tls(error))
        }
        if tls.isEstablished { decrypt() } else { advanceHandshake() }
    }

    private func advanceHandshake() {
        guard let tls, !tls.isEstablished else { return }
        do throws(TransportError) {
            let isOver = try tls.handshake()
            output.append(tls.takeOutput())
            flush()
            guard isOver, isOpen else { return }
        } catch {
            output.append(tls.takeOutput())  // The alert that tells the peer why.
            flush()
            return fail(.tls(error))
        }
        owner?.wireSecured()
        decrypt()
    }

    private func decrypt() {
        while let tls, tls.isEstablished, isOpen, !isPaused, !isDiscarding, !peerEnded {
            let result: TLSSession.Read
            do throws(TransportError) {
                result = try tls.read(into: loop.plainBuffer)
            } catch {
                return fail(.tls(error))
            }
            switch result {
            case .bytes(let count):
                owner?.wireReceived(UnsafeRawBufferPointer(rebasing: loop.plainBuffer[..<count]))
            case .nothing:
                output.append(tls.takeOutput())  // A key update may ask for an answer.
                return flush()
            case .closed:
                peerEnded = true
                owner?.wireEnded(isClean: true)
            }
        }
    }

    private func reachEnd() {
        isReadable = false
        guard !peerEnded else { return }
        peerEnded = true
        if let tls, !tls.isEstablished, !isDiscarding {
            return fail(.tls(TLSFailure.error("the peer closed during the handshake")))
        }
        owner?.wireEnded(isClean: tls == nil)
    }

    // MARK: - Events and the end

    func ready(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.peerFinished, .hungUp, .failed]) { peerIsFinishing = true }
        if readiness.contains(.writable) {
            isWritable = true
            flush()
        }
        guard isOpen else { return }
        if !readiness.isDisjoint(with: [.readable, .peerFinished, .hungUp, .failed]) {
            isReadable = true
            pump()
        }
        guard isOpen, isPaused else { return }
        // The owner is not reading, but wants to know that nobody is left to answer.
        if readiness.contains(.failed) || readiness.contains(.hungUp) {
            fail(.system(readiness.contains(.failed) ? Sockets.pendingError(descriptor) : ECONNRESET))
        } else if readiness.contains(.peerFinished) {
            owner?.wireHalfClosed()
        }
    }

    /// Has the close that follows reset the connection (RST) instead of ending it in order.
    func resetOnClose() { Sockets.resetOnClose(descriptor) }

    func loopStopped() { fail(.stopped) }

    /// Closes at once; nothing more is reported and queued bytes are lost.
    func close() {
        guard isOpen else { return }
        loop.remove(descriptor)
        Glibc.close(descriptor)
        descriptor = -1
        output.removeAll()
        owner = nil
        tls = nil
    }

    private func fail(_ failure: WireFailure) {
        guard isOpen, let owner else { return }
        close()
        owner.wireBroke(failure)
    }
}
