public import HTTP
import Synchronization

/// An HTTP/1.1 client: sends requests as they are told, keeps connections, and does nothing behind one's back.
///
/// It never follows redirects, keeps no cookies, adds no Accept or User-Agent, and hands bodies over as they
/// came. A request is sent a second time in one case only: a GET or HEAD on a reused connection that died
/// before any byte of a response. All connections of a client live on one loop; use several clients to spread
/// load over threads.
public final class HTTPClient: Sendable {
    private let configuration: ClientConfiguration
    private let settings: Result<ClientSettings, TransportError>
    private let group: EventLoopGroup
    private let loop: EventLoop
    private let pool: ConnectionPool
    private let tls = Mutex<TLSContext?>(nil)

    /// Makes a client; the environment's proxy settings are read now, if asked for.
    ///
    /// A configuration that cannot be used is reported by `send`.
    public init(_ configuration: ClientConfiguration = ClientConfiguration(), loops: EventLoopGroup = .shared) {
        self.configuration = configuration
        settings = ClientSettings.read(configuration)
        group = loops
        loop = loops.next()
        pool = ConnectionPool(loop: loop, configuration: configuration)
    }

    deinit { close() }

    /// Sends a request and waits for the whole response.
    ///
    /// Cancelling the task cuts the connection at once.
    ///
    /// - Returns: the final response, whatever its status; 1xx responses are skipped.
    /// - Throws: `TransportError`. With `.closedEarly`, `.timedOut(.head)` or `.timedOut(.body)` the server may
    ///   have acted on the request.
    public func send(_ request: ClientRequest) async throws(TransportError) -> HTTPResponse {
        let settings = try settings.get()
        let exchange = try settings.exchange(for: request)
        let context = exchange.destination.isSecure ? try tlsContext() : nil
        let dial = try settings.dialPlan(for: exchange.destination, tls: context)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute { [pool] in pool.begin(exchange, dial, continuation) }
            }
        } onCancel: {
            loop.execute { [pool] in pool.cancel(exchange) }
        }
        return try outcome.get()
    }

    /// Closes all connections; requests under way and later ones fail with `.clientClosed`.
    public func close() {
        loop.execute { [pool] in pool.close() }
    }

    private func tlsContext() throws(TransportError) -> TLSContext {
        let made: Result<TLSContext, TransportError> = tls.withLock { kept in
            if let kept { return .success(kept) }
            let result = Result { () throws(TransportError) in try TLSContext.client(configuration.tls) }
            kept = try? result.get()
            return result
        }
        return try made.get()
    }
}
