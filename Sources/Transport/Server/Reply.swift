public import HTTP
import Synchronization

/// The one answer to one request: call `send` or `stream`, exactly once, on any thread.
///
/// Answering twice stops the program. A reply that is dropped unanswered answers 500. When the client has gone
/// meanwhile, the answer goes nowhere.
public struct Reply: Sendable {
    private let ticket: any ReplyTicket

    init(_ ticket: any ReplyTicket) {
        self.ticket = ticket
    }

    /// A reply that goes to a closure instead of a connection; for tests that call a handler without a server.
    ///
    /// - Parameter receive: called once. A streamed reply arrives when it is finished, its pieces joined.
    public init(_ receive: @escaping @Sendable (HTTPResponse) -> Void) {
        ticket = LooseTicket(receive)
    }

    /// Sends the whole response.
    ///
    /// Content-Length is added, and the connection's fate is decided by the server.
    public func send(_ response: HTTPResponse) {
        ticket.claim()
        ticket.answer(response)
    }

    /// Sends a response head now and its body piece by piece.
    ///
    /// - Parameters:
    ///   - status: 200 or another status that has a body.
    ///   - fields: without Content-Length; the body is sent in chunks, or until the close to an HTTP/1.0 client.
    /// - Returns: the stream. Keep it: released unfinished it cuts the connection, so that the client notices.
    public func stream(status: Int = 200, fields: HTTPFields) -> ResponseStream {
        ticket.claim()
        return ticket.stream(HTTPResponse(status: status, fields: fields))
    }
}

/// Where a reply goes.
protocol ReplyTicket: AnyObject, Sendable {
    /// Marks the reply as given; a second time is a mistake of the handler and stops the program.
    func claim()
    func answer(_ response: HTTPResponse)
    func stream(_ head: HTTPResponse) -> ResponseStream
}

/// The reply to a request that came over a connection.
final class ConnectionTicket: ReplyTicket {
    private let connection: ServerConnection
    private let isClaimed = Atomic<Bool>(false)

    init(_ connection: ServerConnection) {
        self.connection = connection
    }

    deinit {
        guard !isClaimed.load(ordering: .relaxed) else { return }
        answer(HTTPResponse(status: 500))
    }

    func claim() {
        let wasClaimed = isClaimed.exchange(true, ordering: .relaxed)
        precondition(!wasClaimed, "a request was answered twice")
    }

    func answer(_ response: HTTPResponse) {
        connection.loop.executeNow { [connection] in connection.answer(response) }
    }

    func stream(_ head: HTTPResponse) -> ResponseStream {
        let stream = ResponseStream(connection, limit: connection.core.configuration.maxStreamBuffer)
        // Weak in the connection and weak here: a stream its handler drops must be noticed.
        connection.loop.executeNow { [connection, weak stream] in connection.begin(head, stream) }
        return stream
    }
}

/// The reply to a request that a test made up.
private final class LooseTicket: ReplyTicket {
    private let receive: @Sendable (HTTPResponse) -> Void
    private let isClaimed = Atomic<Bool>(false)

    init(_ receive: @escaping @Sendable (HTTPResponse) -> Void) {
        self.receive = receive
    }

    deinit {
        if !isClaimed.load(ordering: .relaxed) { receive(HTTPResponse(status: 500)) }
    }

    func claim() {
        let wasClaimed = isClaimed.exchange(true, ordering: .relaxed)
        precondition(!wasClaimed, "a request was answered twice")
    }

    func answer(_ response: HTTPResponse) { receive(response) }

    func stream(_ head: HTTPResponse) -> ResponseStream {
        ResponseStream { [receive] body in
            var response = head
            response.body = body
            receive(response)
        }
    }
}
