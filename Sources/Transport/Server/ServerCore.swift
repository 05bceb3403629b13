import Synchronization

/// What all connections of one server share.
final class ServerCore: Sendable {
    let configuration: ServerConfiguration
    let handler: any RequestHandler
    let tls: TLSContext?

    private struct Census {
        var accepted = 0
        var connections = 0
        var refusals = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The most full-house answers being delivered at a time; beyond that connections are just closed.
    private static let maxRefusals = 64

    private let census = Mutex(Census())
    private let draining = Atomic<Bool>(false)

    init(_ configuration: ServerConfiguration, handler: any RequestHandler) throws(TransportError) {
        self.configuration = configuration
        self.handler = handler
        if let settings = configuration.tls {
            tls = try TLSContext.server(settings)
        } else {
            tls = nil
        }
    }

    /// What to do with one more connection.
    enum Admission {
        case serve
        case refuse
        case drop
    }

    /// True once the server shuts down.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// How many connections are being served.
    var connectionCount: Int { census.withLock { $0.connections } }

    /// How many connections were accepted since the start, refused ones included.
    var acceptedCount: Int { census.withLock { $0.accepted } }

    func startDraining() { draining.store(true, ordering: .relaxed) }

    /// Counts a new connection in, unless the house is full.
    func admit() -> Admission {
        census.withLock { census in
            census.accepted += 1
            if census.connections < configuration.maxConnections {
                census.connections += 1
                return .serve
            }
            guard census.refusals < Self.maxRefusals else { return .drop }
            census.refusals += 1
            return .refuse
        }
    }

    /// Counts a connection out.
    func leave(_ admission: Admission) {
        let waiters = census.withLock { census in
            switch admission {
            case .serve: census.connections -= 1
            case .refuse: census.refusals -= 1
            case .drop: break
            }
            guard census.connections == 0, census.refusals == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { census.waiters = [] }
            return census.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the last connection is gone.
    func emptied() async {
        await withCheckedContinuation { continuation in
            let mustWait = census.withLock { census in
                guard census.connections + census.refusals > 0 else { return false }
                census.waiters.append(continuation)
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }
}

/// A server's connections on one loop.
///
/// Sendable by hand: touched on that loop only.
final class ServerShare: @unchecked Sendable {
    let loop: EventLoop
    private let core: ServerCore
    private var connections: [ObjectIdentifier: (connection: ServerConnection, admission: ServerCore.Admission)] = [:]

    init(loop: EventLoop, core: ServerCore) {
        self.loop = loop
        self.core = core
    }

    /// Begins to serve an accepted socket.
    func open(_ descriptor: Int32, peer: SocketAddress, admission: ServerCore.Admission) {
        loop.assertInside()
        let connection = ServerConnection(core: core, share: self, peer: peer)
        connections[ObjectIdentifier(connection)] = (connection, admission)
        if admission == .serve { connection.open(descriptor) } else { connection.refuse(descriptor) }
        if core.isDraining { connection.drain() }
    }

    /// Forgets a connection that has closed.
    func remove(_ connection: ServerConnection) {
        loop.assertInside()
        guard let entry = connections.removeValue(forKey: ObjectIdentifier(connection)) else { return }
        core.leave(entry.admission)
    }

    /// Closes what is idle; the rest closes after its answer.
    func drain() {
        for entry in connections.values { entry.connection.drain() }
    }

    /// Closes everything at once.
    func closeAll() {
        for entry in connections.values { entry.connection.finish() }
    }
}
