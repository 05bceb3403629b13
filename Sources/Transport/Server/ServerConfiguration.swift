public import HTTP

/// Where a server listens and what it puts up with.
public struct ServerConfiguration: Sendable {
    /// The address to listen on: an IP literal or a name.
    public var host: String

    /// The port, 0 for any free one.
    public var port: Int

    /// Certificate and key; nil serves plain HTTP.
    public var tls: TLSServerSettings?

    /// The limits of requests; `body` is the largest body in bytes (413 beyond it).
    public var limits: HTTPLimits

    /// How long a connection may be silent between requests, and how long a body or a response may make no
    /// progress, in seconds.
    public var idleSeconds: Int

    /// How long a request's head may take from its first byte, and a TLS handshake, in milliseconds (408 beyond it).
    public var headerMilliseconds: Int

    /// The most connections at a time; one more is answered 503 and closed.
    public var maxConnections: Int

    /// The most bytes a slow reader may leave unread of a stream before it is cut off.
    public var maxStreamBuffer: Int

    /// A configuration; without arguments a plain server on a free port of 127.0.0.1.
    public init(
        host: String = "127.0.0.1", port: Int = 0, tls: TLSServerSettings? = nil, limits: HTTPLimits = HTTPLimits(),
        idleSeconds: Int = 60, headerMilliseconds: Int = 10_000, maxConnections: Int = 4096,
        maxStreamBuffer: Int = 1 << 20
    ) {
        self.host = host
        self.port = port
        self.tls = tls
        self.limits = limits
        self.idleSeconds = idleSeconds
        self.headerMilliseconds = headerMilliseconds
        self.maxConnections = maxConnections
        self.maxStreamBuffer = maxStreamBuffer
    }
}
