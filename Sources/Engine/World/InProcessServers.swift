public import HTTP
import Transport

/// Servers of this process: requests to their origins are answered by a function, without a socket or a port.
///
/// Requests and answers still pass through the HTTP/1.1 codec, so that what cannot stand on a wire does not get through
/// here either.
public struct InProcessServers: Sendable {
    /// Answers one request to an origin.
    public typealias Server = @Sendable (HTTPRequest) async -> HTTPResponse

    private var servers: [String: Server] = [:]
    /// Whether requests to other origins leave the process; where not, nobody answers them.
    public var reachesSockets = true

    /// No servers: every request leaves the process.
    public init() {}

    /// Names who answers for an origin, such as `http://127.0.0.1:7421`.
    public mutating func add(_ origin: String, _ server: @escaping Server) { servers[origin] = server }

    /// The origins that are answered here, in order.
    public var origins: [String] { servers.keys.sorted() }

    /// The answer of the server at the request's origin; nil where the request is to leave the process.
    func answer(_ request: ClientRequest) async throws(TransportError) -> HTTPResponse? {
        guard let server = servers[request.url.origin] else {
            guard reachesSockets else {
                throw .unreachable(host: request.url.authority, reason: "no server of this process has this origin")
            }
            return nil
        }
        // Half a request is none to a server.
        if request.wireFault == .truncate { throw .closedEarly(receivedBytes: 0) }
        let received: HTTPRequest
        switch try Self.onTheWire(request) {
        case .message(let message): received = message
        // What a server of ours answers to what it cannot read.
        case .refused(let fault): return HTTPResponse(status: fault.httpStatus)
        }
        let answer = await server(received)
        if request.wireFault == .reset { throw .closedEarly(receivedBytes: 0) }
        return try Self.offTheWire(answer, to: request.method)
    }

    private enum Arrival {
        case message(HTTPRequest)
        case refused(HTTPFault)
    }

    private static func onTheWire(_ request: ClientRequest) throws(TransportError) -> Arrival {
        var message = HTTPRequest(
            method: request.method, target: request.url.target, fields: request.fields, body: request.body)
        if request.framing == .automatic, !message.fields.contains("Host") {
            message.fields = HTTPFields([("Host", request.url.authority)] + message.fields.map { ($0.name, $0.value) })
        }
        let bytes: [UInt8]
        do throws(HTTPEncodingError) {
            bytes = try HTTPEncoder.encode(message, framing: request.framing)
        } catch {
            throw .badRequest(error)
        }
        var decoder = RequestDecoder()
        decoder.feed(bytes)
        do throws(HTTPFault) {
            if let received = try decoder.nextMessage() { return .message(received) }
            try decoder.finish()
        } catch {
            return .refused(error)
        }
        // Framing that promises more than was sent: on a socket the server would wait, and nothing would come.
        throw .timedOut(.head)
    }

    private static func offTheWire(
        _ response: HTTPResponse, to method: String
    ) throws(TransportError) -> HTTPResponse {
        let bytes = (try? HTTPEncoder.encode(response, for: method)) ?? []
        var decoder = ResponseDecoder()
        decoder.expect(method)
        decoder.feed(bytes)
        do throws(HTTPFault) {
            if let received = try decoder.nextMessage() { return received }
        } catch {
            throw .badResponse(error)
        }
        throw .closedEarly(receivedBytes: bytes.count)
    }
}
