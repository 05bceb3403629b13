/// The connections of one client, and the exchanges that wait for one.
///
/// Lives on one loop.
///
/// Sendable by hand: the client's tasks only queue jobs that use it on the loop.
final class ConnectionPool: @unchecked Sendable {
    private struct Bucket {
        /// Most recently used last, and taken first: the others may grow old and be closed.
        var idle: [ClientConnection] = []
        var open: [ObjectIdentifier: ClientConnection] = [:]
        var waiting = Line()
    }

    /// Exchanges in order of arrival; those that ended while they waited are passed over.
    private struct Line {
        private var entries: [(exchange: Exchange, plan: DialPlan)] = []
        private var head = 0

        mutating func append(_ exchange: Exchange, _ plan: DialPlan) { entries.append((exchange, plan)) }

        mutating func next() -> (exchange: Exchange, plan: DialPlan)? {
            while head < entries.count {
                let entry = entries[head]
                head += 1
                if head > 64, head > entries.count / 2 {
                    entries.removeFirst(head)
                    head = 0
                }
                if !entry.exchange.isOver { return entry }
            }
            return nil
        }
    }

    let loop: EventLoop
    let configuration: ClientConfiguration
    private var buckets: [Destination: Bucket] = [:]
    private var isClosed = false

    init(loop: EventLoop, configuration: ClientConfiguration) {
        self.loop = loop
        self.configuration = configuration
    }

    /// Starts an exchange on an idle connection, a new one, or in line for one.
    func begin(
        _ exchange: Exchange, _ plan: DialPlan, _ continuation: CheckedContinuation<Exchange.Outcome, Never>
    ) {
        loop.assertInside()
        exchange.start(continuation)
        guard !exchange.isOver else { return }
        guard !isClosed else { return finish(exchange, .failure(.clientClosed)) }
        let timer = LoopTimer { [weak self, weak exchange] in
            guard let self, let exchange else { return }
            abort(exchange, .timedOut(exchange.connection?.stage ?? .queue))
        }
        exchange.timer = timer
        loop.set(timer, milliseconds: exchange.timeoutMilliseconds)
        place(exchange, plan)
    }

    /// The task that waits was cancelled.
    func cancel(_ exchange: Exchange) { abort(exchange, .cancelled) }

    /// Ends an exchange from our side; the connection that carries it cannot be used any more.
    func abort(_ exchange: Exchange, _ error: TransportError) {
        loop.assertInside()
        let connection = exchange.connection
        finish(exchange, .failure(error))
        connection?.close()
    }

    /// Delivers an outcome.
    func finish(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
        if let timer = exchange.finish(outcome) { loop.clear(timer) }
    }

    /// Closes everything; nothing can be sent afterwards.
    func close() {
        loop.assertInside()
        isClosed = true
        let all = buckets.values
        buckets = [:]
        for bucket in all {
            var waiting = bucket.waiting
            while let entry = waiting.next() { finish(entry.exchange, .failure(.clientClosed)) }
            for connection in bucket.open.values { connection.close(failing: .clientClosed) }
        }
    }

    private func place(_ exchange: Exchange, _ plan: DialPlan) {
        while let connection = buckets[exchange.destination]?.idle.popLast() {
            // What can't be repeated isn't risked on a connection that is known to be dead. A GET is not worth
            // the system call: it would be sent again.
            if exchange.mayRepeat || !connection.isStale {
                connection.carry(exchange)
                return
            }
            connection.close()
        }
        open(exchange, plan)
    }

    private func open(_ exchange: Exchange, _ plan: DialPlan) {
        let key = exchange.destination
        guard buckets[key, default: Bucket()].open.count < max(1, configuration.maxConnectionsPerOrigin) else {
            buckets[key, default: Bucket()].waiting.append(exchange, plan)
            return
        }
        let connection = ClientConnection(pool: self, plan: plan)
        buckets[key, default: Bucket()].open[ObjectIdentifier(connection)] = connection
        connection.open(for: exchange)
    }

    // MARK: - For connections

    /// An exchange went down with a reused connection and may be sent once more, on a fresh one.
    func repeatOnFresh(_ exchange: Exchange, _ plan: DialPlan) {
        guard !exchange.isOver else { return }
        exchange.isSecondTry = true
        exchange.connection = nil
        open(exchange, plan)
    }

    /// A connection is free.
    func release(_ connection: ClientConnection) {
        let key = connection.destination
        if let next = buckets[key]?.waiting.next() { return connection.carry(next.exchange) }
        guard let bucket = buckets[key], bucket.idle.count < configuration.maxIdlePerOrigin else {
            return connection.close()
        }
        buckets[key]?.idle.append(connection)
        connection.waitIdle()
    }

    /// A connection has closed.
    func remove(_ connection: ClientConnection) {
        let key = connection.destination
        guard buckets[key]?.open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        buckets[key]?.idle.removeAll { $0 === connection }
        if let next = buckets[key]?.waiting.next() {
            open(next.exchange, next.plan)
        } else if buckets[key]?.open.isEmpty == true {
            buckets[key] = nil
        }
    }
}
