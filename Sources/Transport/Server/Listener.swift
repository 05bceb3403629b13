import Glibc

/// A listening socket on one loop, which hands the connections it accepts to all loops in turn.
///
/// One socket with a hand-over and not one per loop with `SO_REUSEPORT`, because that option would let a second
/// server take the same port without an error. Sendable by hand: touched on its loop only, after `init`.
final class Listener: ReadinessHandler, @unchecked Sendable {
    private static let backlog: Int32 = 1024
    private static let retryMilliseconds = 100

    let loop: EventLoop
    let address: SocketAddress
    private var descriptor: Int32
    private let core: ServerCore
    private let shares: [ServerShare]
    private var turn = 0
    private var retry: LoopTimer?

    /// Binds and listens; nothing is accepted before `start`.
    ///
    /// - Throws: `.portInUse` or `.cannotListen`.
    init(
        _ address: SocketAddress, host: String, core: ServerCore, shares: [ServerShare]
    ) throws(TransportError) {
        guard let first = shares.first, let descriptor = Sockets.stream(family: address.family) else {
            throw .cannotListen(host: host, reason: Sockets.reason(errno))
        }
        Sockets.set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        var error = Sockets.bind(descriptor, to: address)
        if error == 0, listen(descriptor, Self.backlog) != 0 { error = errno }
        guard error == 0, let bound = Sockets.localAddress(descriptor) else {
            Glibc.close(descriptor)
            if error == EADDRINUSE { throw .portInUse(port: address.port) }
            throw .cannotListen(host: host, reason: Sockets.reason(error))
        }
        self.descriptor = descriptor
        self.address = bound
        self.core = core
        self.shares = shares
        loop = first.loop
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Begins to accept.
    func start() {
        loop.assertInside()
        retry = LoopTimer { [weak self] in self?.acceptAll() }
        guard descriptor >= 0 else { return }
        let isWatched = loop.register(descriptor, self)
        precondition(isWatched, "the system cannot watch a listening socket")
    }

    func ready(_ readiness: Readiness) { acceptAll() }

    func loopStopped() { stop() }

    /// Stops accepting and gives the port back.
    func stop() {
        loop.assertInside()
        guard descriptor >= 0 else { return }
        loop.remove(descriptor)
        Glibc.close(descriptor)
        descriptor = -1
        if let retry { loop.clear(retry) }
        retry = nil
    }

    private func acceptAll() {
        while descriptor >= 0 {
            let accepted = Sockets.accept(descriptor)
            guard accepted < 0 else {
                place(accepted)
                continue
            }
            switch -accepted {
            case EAGAIN, EWOULDBLOCK: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                // No edge will come for those already waiting: look again when somebody may have left.
                if let retry { loop.set(retry, milliseconds: Self.retryMilliseconds) }
                return
            default: continue  // The client gave up before it was accepted.
            }
        }
    }

    private func place(_ accepted: Int32) {
        let admission = core.admit()
        guard admission != .drop, let peer = Sockets.peerAddress(accepted) else {
            core.leave(admission)
            Glibc.close(accepted)
            return
        }
        let share = shares[turn]
        turn = (turn + 1) % shares.count
        share.loop.executeNow { share.open(accepted, peer: peer, admission: admission) }
    }
}
