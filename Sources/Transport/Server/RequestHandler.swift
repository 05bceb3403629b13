public import HTTP

/// What a server does with requests.
public protocol RequestHandler: Sendable {
    /// Deals with one request. Called on a loop's thread, so it must not block.
    ///
    /// Answer through `reply`, at once or later from any thread. Requests of one connection come one at a time,
    /// the next one after the reply to this one; those of different connections come on several threads at once.
    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply)
}

/// Who sent a request.
public struct Peer: Sendable, Hashable {
    /// The IP address, without brackets.
    public let address: String

    /// The port at the peer's end.
    public let port: Int

    /// Whether the peer is this machine (127.0.0.0/8 or ::1).
    public let isLoopback: Bool

    /// Whether the request came over TLS.
    public let secure: Bool

    /// A peer; for tests that call a handler without a server.
    public init(address: String, port: Int, isLoopback: Bool, secure: Bool) {
        self.address = address
        self.port = port
        self.isLoopback = isLoopback
        self.secure = secure
    }

    init(_ address: SocketAddress, secure: Bool) {
        self.init(address: address.host, port: address.port, isLoopback: address.isLoopback, secure: secure)
    }
}
