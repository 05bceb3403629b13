import Glibc

/// An HTTP/1.1 server, plain or with TLS, on the loops of a group.
///
/// Keep it as long as it shall serve: released without `shutdown` it closes everything at once.
public final class HTTPServer: Sendable {
    private let core: ServerCore
    private let listener: Listener
    private let shares: [ServerShare]
    private let group: EventLoopGroup

    /// The port it listens on.
    public var port: Int { listener.address.port }

    /// The address it listens on, without brackets.
    public var host: String { listener.address.host }

    /// How many connections are open.
    public var connectionCount: Int { core.connectionCount }

    /// How many connections have been accepted since the start.
    public var acceptedCount: Int { core.acceptedCount }

    /// Listens and serves.
    ///
    /// - Parameters:
    ///   - loops: the threads to serve on; connections are spread over all of them.
    ///   - handler: what to do with requests.
    /// - Throws: `.portInUse` when somebody has the port; `.cannotListen` when the address is not ours or may not
    ///   be used; `.tls` when certificate or key are not usable; `.unreachable` when the host name is unknown.
    public static func start(
        _ configuration: ServerConfiguration = ServerConfiguration(), loops: EventLoopGroup = .shared,
        handler: any RequestHandler
    ) async throws(TransportError) -> HTTPServer {
        let address = try await address(of: configuration)
        let core = try ServerCore(configuration, handler: handler)
        let shares = loops.loops.map { ServerShare(loop: $0, core: core) }
        let listener = try Listener(address, host: configuration.host, core: core, shares: shares)
        return HTTPServer(core: core, listener: listener, shares: shares, group: loops)
    }

    private static func address(of configuration: ServerConfiguration) async throws(TransportError) -> SocketAddress {
        let (host, port) = (configuration.host, configuration.port)
        guard (0...65535).contains(port) else { throw .cannotListen(host: host, reason: "port \(port) is no port") }
        if let addresses = Resolver.immediate(host: host, port: port), let first = addresses.first { return first }
        let answer = await withCheckedContinuation { continuation in
            Resolver.shared.resolve(host: host, port: port) { continuation.resume(returning: $0) }
        }
        switch answer {
        case .addresses(let addresses):
            guard let first = addresses.first else { throw .unreachable(host: host, reason: "no address") }
            return first
        case .failed(let reason): throw .unreachable(host: host, reason: reason)
        }
    }

    private init(core: ServerCore, listener: Listener, shares: [ServerShare], group: EventLoopGroup) {
        self.core = core
        self.listener = listener
        self.shares = shares
        self.group = group
        listener.loop.execute { listener.start() }
    }

    deinit { cut() }

    /// Stops accepting, closes idle connections, lets requests under way be answered, and returns when all
    /// connections are closed.
    ///
    /// - Parameter graceMilliseconds: how long to wait for the slow ones before they are cut.
    public func shutdown(graceMilliseconds: Int = 5000) async {
        core.startDraining()
        await withCheckedContinuation { continuation in
            listener.loop.execute { [listener] in
                listener.stop()
                continuation.resume()
            }
        }
        for share in shares { share.loop.execute { share.drain() } }
        let limit = LoopDeadline(loop: listener.loop, milliseconds: graceMilliseconds) { [shares] in
            for share in shares { share.loop.execute { share.closeAll() } }
        }
        await core.emptied()
        limit.cancel()
    }

    private func cut() {
        core.startDraining()
        listener.loop.execute { [listener] in listener.stop() }
        for share in shares { share.loop.execute { share.closeAll() } }
    }
}
