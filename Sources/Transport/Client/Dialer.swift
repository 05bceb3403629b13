import Glibc

/// Makes one TCP connection: looks the name up, then tries the addresses one after another.
///
/// One attempt at a time, in the order the system gives; a refused attempt goes on with the next address, and
/// the owner's timer bounds the whole.
final class Dialer: ReadinessHandler, @unchecked Sendable {
    /// A connected socket, or why there is none.
    typealias Completion = (Result<Int32, TransportError>) -> Void

    private let loop: EventLoop
    private let plan: DialPlan
    private var completion: Completion?
    private var remaining: ArraySlice<SocketAddress> = []
    private var descriptor: Int32 = -1
    private var lastError: Int32 = 0

    /// What is being done, for the error when time runs out.
    private(set) var stage = TransportError.Stage.resolve

    init(loop: EventLoop, plan: DialPlan, completion: @escaping Completion) {
        self.loop = loop
        self.plan = plan
        self.completion = completion
    }

    /// Begins; `completion` may be called before this returns.
    func start() {
        loop.assertInside()
        if let addresses = plan.addresses { return connect(addresses) }
        Resolver.shared.resolve(host: plan.host, port: plan.port) { [self] answer in
            loop.execute { [self] in
                switch answer {
                case .addresses(let addresses): connect(addresses)
                case .failed(let reason): finish(.failure(.unreachable(host: plan.host, reason: reason)))
                }
            }
        }
    }

    /// Gives up; `completion` is not called any more.
    func cancel() {
        completion = nil
        drop()
    }

    func ready(_ readiness: Readiness) {
        let error = Sockets.pendingError(descriptor)
        guard error == 0 else { return failed(error) }
        guard readiness.contains(.writable) else { return }
        succeeded()
    }

    func loopStopped() {
        drop()
        finish(.failure(.clientClosed))
    }

    private func connect(_ addresses: [SocketAddress]) {
        stage = .connect
        // A local address fixes the family.
        remaining = addresses.filter { plan.local == nil || plan.local?.family == $0.family }[...]
        if remaining.isEmpty { lastError = EAFNOSUPPORT }
        tryNext()
    }

    private func tryNext() {
        while completion != nil, let address = remaining.popFirst() {
            guard let descriptor = Sockets.stream(family: address.family) else {
                lastError = errno
                continue
            }
            self.descriptor = descriptor
            var error: Int32 = 0
            if let local = plan.local {
                // The port is chosen when connecting, so that many connections can share one local address.
                Sockets.set(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT)
                error = Sockets.bind(descriptor, to: local)
            }
            if error == 0 { error = Sockets.connect(descriptor, to: address) }
            switch error {
            case 0: return finishUnwatched()
            case EINPROGRESS:
                if loop.register(descriptor, self) { return }
                error = ENOMEM
            default: break
            }
            lastError = error
            close(descriptor)
            self.descriptor = -1
        }
        guard completion != nil else { return }
        finish(.failure(.unreachable(host: "\(plan.host):\(plan.port)", reason: Sockets.reason(lastError))))
    }

    private func failed(_ error: Int32) {
        lastError = error
        drop()
        tryNext()
    }

    private func succeeded() {
        loop.remove(descriptor)
        finishUnwatched()
    }

    private func finishUnwatched() {
        let connected = descriptor
        descriptor = -1
        finish(.success(connected))
    }

    private func finish(_ result: Result<Int32, TransportError>) {
        guard let completion else {
            if case .success(let descriptor) = result { close(descriptor) }
            return
        }
        self.completion = nil
        completion(result)
    }

    private func drop() {
        guard descriptor >= 0 else { return }
        loop.remove(descriptor)
        close(descriptor)
        descriptor = -1
    }
}
