import HTTP

/// One request on its way: what is sent, who waits for the answer, and how far it got.
///
/// Made by the task that sends; from then on it belongs to the client's loop. Sendable by hand for that step.
final class Exchange: @unchecked Sendable {
    typealias Outcome = Result<HTTPResponse, TransportError>

    /// What connections this exchange may use.
    let destination: Destination
    let method: String
    /// Head and body as they go on the wire.
    let bytes: [UInt8]
    let timeoutMilliseconds: Int
    /// The client asked for the connection to be closed afterwards.
    let asksToClose: Bool
    /// How the request goes wrong on its way.
    let wireFault: WireFault?

    /// The connection that carries it now; nil while it waits for one.
    weak var connection: ClientConnection?
    var timer: LoopTimer?
    /// How many bytes of a response have come.
    var receivedBytes = 0
    /// A request is sent a second time at most.
    var isSecondTry = false
    private var continuation: CheckedContinuation<Outcome, Never>?
    private(set) var isOver = false

    init(
        destination: Destination, method: String, bytes: [UInt8], timeoutMilliseconds: Int, asksToClose: Bool,
        wireFault: WireFault? = nil
    ) {
        self.destination = destination
        self.method = method
        self.bytes = bytes
        self.timeoutMilliseconds = timeoutMilliseconds
        self.asksToClose = asksToClose
        self.wireFault = wireFault
    }

    /// Whether the request may be sent again when a reused connection turns out to be dead: only methods that
    /// change nothing.
    ///
    /// A POST may have been acted on, and the flow's own rules decide what to do then.
    var mayRepeat: Bool { wireFault == nil && (method == "GET" || method == "HEAD") }

    /// Has the outcome delivered to a waiting task; an exchange already cancelled answers at once.
    func start(_ continuation: CheckedContinuation<Outcome, Never>) {
        guard isOver else {
            self.continuation = continuation
            return
        }
        continuation.resume(returning: .failure(.cancelled))
    }

    /// Delivers the outcome, the first time it is called.
    ///
    /// - Returns: the timer to switch off, if there is one.
    func finish(_ outcome: Outcome) -> LoopTimer? {
        guard !isOver else { return nil }
        isOver = true
        continuation?.resume(returning: outcome)
        continuation = nil
        connection = nil
        defer { timer = nil }
        return timer
    }
}

/// Where connections lead and what they are made with: those with equal destinations are interchangeable.
///
/// TLS settings are the same for all connections of one client, and so not part of it.
struct Destination: Hashable, Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    let proxy: Proxy?
    let localAddress: String?

    /// `host:port` as CONNECT and resolve overrides name it.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
