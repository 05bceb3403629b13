import HTTP
import Transport

/// A handler made of a closure.
struct Answering: RequestHandler {
    let body: @Sendable (HTTPRequest, Peer, Reply) -> Void

    init(_ body: @escaping @Sendable (HTTPRequest, Peer, Reply) -> Void) { self.body = body }

    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) { body(request, peer, reply) }

    /// Says what was asked: method, target and body.
    static let echo = Answering { request, _, reply in
        reply.send(
            HTTPResponse(
                status: 200, fields: ["X-Method": request.method, "X-Target": request.target], body: request.body))
    }
}

extension HTTPServer {
    func url(_ path: String = "/", host: String = "127.0.0.1", scheme: String = "http") throws -> HTTPURL {
        try HTTPURL("\(scheme)://\(host):\(port)\(path)")
    }
}

extension HTTPClient {
    /// Sends a request made of its parts.
    func fetch(
        _ url: String, method: String = "GET", fields: HTTPFields = [:], body: [UInt8] = [], timeout: Int = 40_000
    ) async throws -> HTTPResponse {
        try await send(
            ClientRequest(
                url: try HTTPURL(url), method: method, fields: fields, body: body, timeoutMilliseconds: timeout))
    }
}
