public import HTTP

/// Why an exchange failed below HTTP, or why a server could not listen.
public enum TransportError: Error, Sendable, Equatable {
    /// What the client was doing when its time ran out.
    public enum Stage: String, Sendable, Equatable {
        /// Waiting for a free connection: the limit per origin is reached.
        case queue
        /// Looking the host name up.
        case resolve
        /// Waiting for TCP to connect.
        case connect
        /// Waiting for the proxy to open the tunnel.
        case proxy
        /// In the TLS handshake.
        case handshake
        /// Sending the request or waiting for the response's head.
        case head
        /// Receiving the response's body.
        case body
    }

    /// No connection could be made: the name is unknown, or the peer refuses. Check the address.
    case unreachable(host: String, reason: String)
    /// The time for the whole request or for one stage of it is over.
    case timedOut(Stage)
    /// The peer closed or reset the connection before the response was whole. `receivedBytes` counts what
    /// came of the response; with 0 the peer may or may not have acted on the request.
    case closedEarly(receivedBytes: Int)
    /// TLS could not be agreed on or broke; the reason names the failed check ("certificate verify failed:
    /// hostname mismatch").
    case tls(reason: String)
    /// The response is not the HTTP/1.1 we accept.
    case badResponse(HTTPFault)
    /// The response's body is larger than the client allows, in bytes.
    case tooLarge(limit: Int)
    /// The request cannot be put on the wire as it is (a line break in a field, a bad method).
    case badRequest(HTTPEncodingError)
    /// The proxy is not usable or refused the tunnel.
    case proxy(reason: String)
    /// Somebody listens on that port already: choose another, or 0.
    case portInUse(port: Int)
    /// The server's address cannot be listened on.
    case cannotListen(host: String, reason: String)
    /// A setting of the client or server is not usable (an address override that is no address).
    case badConfiguration(reason: String)
    /// The task that waited was cancelled; the exchange was cut.
    case cancelled
    /// The client was closed.
    case clientClosed

    /// A stable name for logs and assertions.
    public var code: String {
        switch self {
        case .unreachable: "transport.unreachable"
        case .timedOut(let stage): "transport.timeout.\(stage.rawValue)"
        case .closedEarly: "transport.closed-early"
        case .tls: "transport.tls"
        case .badResponse(let fault): fault.code
        case .tooLarge: "transport.too-large"
        case .badRequest(let error): error.code
        case .proxy: "transport.proxy"
        case .portInUse: "transport.port-in-use"
        case .cannotListen: "transport.cannot-listen"
        case .badConfiguration: "transport.configuration"
        case .cancelled: "transport.cancelled"
        case .clientClosed: "transport.client-closed"
        }
    }
}

extension TransportError: CustomStringConvertible {
    /// The failure in a sentence.
    public var description: String {
        switch self {
        case .unreachable(let host, let reason): "cannot reach \(host): \(reason)"
        case .timedOut(let stage): "timed out (stage: \(stage.rawValue))"
        case .closedEarly(let bytes): "the peer closed the connection early, \(bytes) bytes into the response"
        case .tls(let reason): "TLS: \(reason)"
        case .badResponse(let fault): "the response is not acceptable HTTP: \(fault)"
        case .tooLarge(let limit): "the response body is larger than \(limit) bytes"
        case .badRequest(let error): "the request cannot be sent: \(error)"
        case .proxy(let reason): "proxy: \(reason)"
        case .portInUse(let port): "port \(port) is in use"
        case .cannotListen(let host, let reason): "cannot listen on \(host): \(reason)"
        case .badConfiguration(let reason): "not usable as configured: \(reason)"
        case .cancelled: "cancelled"
        case .clientClosed: "the client is closed"
        }
    }
}
