import HTTP

/// One connection of a client, from dialling to closing: one exchange at a time.
final class ClientConnection: WireOwner {
    private enum Phase {
        case dialling(Dialer)
        case tunnelling
        case securing
        case idle
        case busy
        case closed
    }

    private unowned let pool: ConnectionPool
    private let plan: DialPlan
    private var loop: EventLoop { pool.loop }
    private var wire: Wire?
    private var phase = Phase.idle
    private var decoder: ResponseDecoder
    private var tunnel: ResponseDecoder?
    private var exchange: Exchange?
    private var response: HTTPResponse?
    private var isReused = false
    /// Bounds the time to become usable, and then the time to stay idle.
    private var timer: LoopTimer?
    /// The bytes of the request that are yet to be written, and when the next of them are.
    private var unsent: ArraySlice<UInt8> = []
    private var dripTimer: LoopTimer?

    var destination: Destination { plan.destination }

    init(pool: ConnectionPool, plan: DialPlan) {
        self.pool = pool
        self.plan = plan
        decoder = ResponseDecoder(limits: pool.configuration.limits)
    }

    /// What the connection is doing, for the error when time runs out.
    var stage: TransportError.Stage {
        switch phase {
        case .dialling(let dialer): dialer.stage
        case .tunnelling: .proxy
        case .securing: .handshake
        case .idle, .busy, .closed: response == nil ? .head : .body
        }
    }

    // MARK: - Becoming usable

    /// Connects, and then carries the exchange.
    func open(for exchange: Exchange) {
        self.exchange = exchange
        exchange.connection = self
        let timer = LoopTimer { [weak self] in self?.timeIsUp() }
        self.timer = timer
        loop.set(timer, milliseconds: pool.configuration.connectMilliseconds)
        let dialer = Dialer(loop: loop, plan: plan) { [weak self] in self?.dialled($0) }
        phase = .dialling(dialer)
        dialer.start()
    }

    private func dialled(_ result: Result<Int32, TransportError>) {
        switch result {
        case .failure(let error): close(failing: error)
        case .success(let descriptor):
            guard let wire = Wire(loop: loop, descriptor: descriptor, owner: self) else {
                return close(failing: .unreachable(host: plan.host, reason: "too many connections"))
            }
            self.wire = wire
            if plan.destination.proxy != nil, plan.destination.isSecure { openTunnel(wire) } else { secure(wire) }
        }
    }

    /// Asks the proxy for a tunnel (RFC 9110, section 9.3.6).
    private func openTunnel(_ wire: Wire) {
        phase = .tunnelling
        var decoder = ResponseDecoder()
        decoder.expect("CONNECT")
        tunnel = decoder
        var fields: HTTPFields = ["Host": destination.authority]
        if let authorization = destination.proxy?.authorization { fields.append("Proxy-Authorization", authorization) }
        let head = HTTPRequestHead(method: "CONNECT", target: destination.authority, fields: fields)
        do {
            wire.write(try HTTPEncoder.head(head))
        } catch {
            close(failing: .badRequest(error))
        }
    }

    private func tunnelAnswered(_ bytes: UnsafeRawBufferPointer) {
        tunnel?.feed(bytes)
        do throws(HTTPFault) {
            while let output = try tunnel?.next() {
                guard case .head(let head) = output else { continue }
                guard (200..<300).contains(head.status) else {
                    let reason = "no tunnel to \(destination.authority): status \(head.status)"
                    return close(failing: .proxy(reason: reason))
                }
                guard tunnel?.takeTunnelBytes().isEmpty == true, let wire else {
                    return close(failing: .proxy(reason: "bytes came from the tunnel before any were sent"))
                }
                tunnel = nil
                return secure(wire)
            }
        } catch {
            close(failing: .proxy(reason: error.description))
        }
    }

    private func secure(_ wire: Wire) {
        guard let tls = plan.tls else { return usable() }
        phase = .securing
        do throws(TransportError) {
            wire.secure(try tls.clientSession(serverName: plan.serverName))
        } catch {
            close(failing: error)
        }
    }

    func wireSecured() { usable() }

    private func usable() {
        if let timer { loop.clear(timer) }
        guard let exchange else { return close() }
        transmit(exchange)
    }

    // MARK: - Exchanges

    /// Sends a request on an idle connection.
    func carry(_ exchange: Exchange) {
        if let timer { loop.clear(timer) }
        isReused = true
        self.exchange = exchange
        exchange.connection = self
        transmit(exchange)
    }

    /// Keeps the connection for the next exchange, for a while.
    func waitIdle() {
        phase = .idle
        if let timer { loop.set(timer, milliseconds: pool.configuration.idleSeconds * 1000) }
    }

    /// True when the server has closed an idle connection, or sent something nobody asked for.
    var isStale: Bool { wire?.isStale ?? true }

    private func transmit(_ exchange: Exchange) {
        phase = .busy
        response = nil
        decoder.expect(exchange.method)
        guard exchange.wireFault != nil else {
            wire?.write(exchange.bytes)
            return
        }
        unsent = exchange.bytes[...]
        transmitOn()
    }

    /// Writes what is to be written now of a request that goes wrong.
    private func transmitOn() {
        guard let exchange, let fault = exchange.wireFault else { return }
        switch fault {
        case .reset: write(unsent.count)
        case .truncate: write(exchange.bytes.count / 2)
        case .dribble(let bytes, let milliseconds):
            write(bytes)
            guard !unsent.isEmpty else { break }
            let timer = dripTimer ?? LoopTimer { [weak self] in self?.transmitOn() }
            dripTimer = timer
            loop.set(timer, milliseconds: max(1, milliseconds))
        }
        if wire?.unsentBytes == 0 { wireDrained() }
    }

    private func write(_ count: Int) {
        wire?.write(Array(unsent.prefix(count)))
        unsent = unsent.dropFirst(count)
    }

    func wireReceived(_ bytes: UnsafeRawBufferPointer) {
        switch phase {
        case .tunnelling: tunnelAnswered(bytes)
        case .busy:
            exchange?.receivedBytes += bytes.count
            decoder.feed(bytes)
            decode()
        case .idle: close()  // Nobody asked.
        case .dialling, .securing, .closed: break
        }
    }

    private func decode() {
        do throws(HTTPFault) {
            while case .busy = phase, let output = try decoder.next() { take(output) }
        } catch {
            fail(error)
        }
    }

    private func take(_ output: ResponseDecoder.Output) {
        switch output {
        case .interim: break
        case .head(let head):
            response = HTTPResponse(
                status: head.status, reason: head.reason, fields: head.fields, version: head.version)
        case .body(let bytes):
            if response?.body.isEmpty == true { response?.body = bytes } else { response?.body += bytes }
        case .end(let trailers):
            response?.trailers = trailers
            complete()
        }
    }

    private func complete() {
        guard let exchange, let response else { return }
        self.exchange = nil
        self.response = nil
        let isReusable =
            decoder.shouldKeepAlive && decoder.isIdle && !exchange.asksToClose && exchange.wireFault == nil
            && wire?.unsentBytes == 0
        pool.finish(exchange, .success(response))
        phase = .idle
        if isReusable { pool.release(self) } else { close() }
    }

    private func fail(_ fault: HTTPFault) {
        switch fault {
        case .truncated: lost()
        case .bodyTooLarge(let limit): close(failing: .tooLarge(limit: limit))
        default: close(failing: .badResponse(fault))
        }
    }

    /// The connection went away under an exchange.
    private func lost() {
        guard let exchange else { return close() }
        guard isReused, exchange.receivedBytes == 0, exchange.mayRepeat, !exchange.isSecondTry else {
            return close(failing: .closedEarly(receivedBytes: exchange.receivedBytes))
        }
        self.exchange = nil
        let (pool, plan) = (pool, plan)
        close()
        pool.repeatOnFresh(exchange, plan)
    }

    // MARK: - Ending

    func wireEnded(isClean: Bool) {
        switch phase {
        case .busy:
            do throws(HTTPFault) {
                try decoder.finish()
                // Only a body that ends with the connection gets here, and under TLS that end must be said.
                guard isClean else {
                    return close(failing: .tls(reason: "closed without close_notify: the body may be cut short"))
                }
                decode()
            } catch {
                fail(error)
            }
        case .tunnelling: close(failing: .proxy(reason: "closed before the tunnel was open"))
        case .securing, .dialling, .idle, .closed: close(failing: .closedEarly(receivedBytes: 0))
        }
    }

    func wireHalfClosed() {}

    /// What was to be written before a connection is broken on purpose is with the system.
    func wireDrained() {
        guard case .busy = phase, let fault = exchange?.wireFault else { return }
        switch fault {
        case .reset:
            wire?.resetOnClose()
            close(failing: .closedEarly(receivedBytes: 0))
        case .truncate: close(failing: .closedEarly(receivedBytes: 0))
        case .dribble: break
        }
    }

    func wireBroke(_ failure: WireFailure) {
        switch (failure, phase) {
        case (.stopped, _): close(failing: .clientClosed)
        case (.tls(let error), _): close(failing: error)
        case (.system, .busy): lost()
        case (.system, .tunnelling): close(failing: .proxy(reason: "reset before the tunnel was open"))
        case (.system(let error), .securing): close(failing: .tls(reason: Sockets.reason(error)))
        case (.system, _): close(failing: .closedEarly(receivedBytes: 0))
        }
    }

    private func timeIsUp() {
        if case .idle = phase { close() } else { close(failing: .timedOut(stage)) }
    }

    /// Closes at once.
    ///
    /// - Parameter error: what the exchange on this connection, if there is one, failed with.
    func close(failing error: TransportError = .closedEarly(receivedBytes: 0)) {
        if case .closed = phase { return }
        if case .dialling(let dialer) = phase { dialer.cancel() }
        phase = .closed
        if let timer { loop.clear(timer) }
        timer = nil
        if let dripTimer { loop.clear(dripTimer) }
        dripTimer = nil
        wire?.close()
        wire = nil
        let exchange = exchange
        self.exchange = nil
        if let exchange { pool.finish(exchange, .failure(error)) }
        pool.remove(self)
    }
}
