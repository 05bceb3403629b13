public import Encoding
public import HTTP
import Synchronization
public import Transport

/// One exchange of a phone with a server, secrets and all: only for a ``Redactor``.
public struct RecordedExchange: Sendable {
    /// When the answer came, on the clock of its world.
    public let at: Instant
    /// What was sent.
    public let request: ClientRequest
    /// What came back; nil for no answer.
    public let response: HTTPResponse?

    /// Records an exchange.
    public init(at: Instant, request: ClientRequest, response: HTTPResponse?) {
        self.at = at
        self.request = request
        self.response = response
    }
}

/// Keeps the exchanges of a world, for the archive of traffic: bounded.
public final class ExchangeRecorder: Sendable {
    /// More exchanges of one world than this are counted, not kept.
    public static let most = 2000

    private let now: @Sendable () -> Instant
    private let kept = Mutex<(exchanges: [RecordedExchange], dropped: Int)>(([], 0))

    /// Makes an empty record that reads the time from a clock.
    public init(now: @escaping @Sendable () -> Instant) { self.now = now }

    /// Takes an exchange down; fits `EngineSettings.observer`.
    public func record(_ request: ClientRequest, _ response: HTTPResponse?) {
        let exchange = RecordedExchange(at: now(), request: request, response: response)
        kept.withLock { kept in
            if kept.exchanges.count < Self.most { kept.exchanges.append(exchange) } else { kept.dropped += 1 }
        }
    }

    /// What is kept, in the order the answers came.
    public var all: [RecordedExchange] { kept.withLock { $0.exchanges } }

    /// How many exchanges there were.
    var count: Int { kept.withLock { $0.exchanges.count + $0.dropped } }

    /// The paths of the requests behind the first so many.
    func paths(after count: Int) -> [String] {
        kept.withLock { $0.exchanges.dropFirst(count).map { String($0.request.url.target.prefix { $0 != "?" }) } }
    }
}
