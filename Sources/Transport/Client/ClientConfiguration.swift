public import HTTP

/// What all requests of one client share.
public struct ClientConfiguration: Sendable {
    /// How servers are checked.
    public var tls: TLSClientSettings

    /// Where hosts are, instead of what their names resolve to: `"host:port"` to `"address:port"`.
    ///
    /// The address is an IP literal, IPv6 in brackets. Host field, SNI and the certificate check keep the name.
    public var resolve: [String: String]

    /// The IP address connections come from; nil lets the system choose.
    public var localAddress: String?

    /// Which proxy to go through.
    public var proxy: ProxySetting

    /// The most connections open to one origin at a time, at least 1; further requests wait in line.
    public var maxConnectionsPerOrigin: Int

    /// The most idle connections kept for one origin.
    public var maxIdlePerOrigin: Int

    /// How long an idle connection is kept, in seconds.
    public var idleSeconds: Int

    /// The time to look a name up, connect, pass the proxy and finish TLS, in milliseconds.
    public var connectMilliseconds: Int

    /// The limits of responses; `body` bounds what a response may carry, in bytes.
    public var limits: HTTPLimits

    /// A configuration; without arguments that of an ordinary client.
    public init(
        tls: TLSClientSettings = TLSClientSettings(), resolve: [String: String] = [:], localAddress: String? = nil,
        proxy: ProxySetting = .environment, maxConnectionsPerOrigin: Int = 512, maxIdlePerOrigin: Int = 64,
        idleSeconds: Int = 30, connectMilliseconds: Int = 10_000, limits: HTTPLimits = HTTPLimits()
    ) {
        self.tls = tls
        self.resolve = resolve
        self.localAddress = localAddress
        self.proxy = proxy
        self.maxConnectionsPerOrigin = maxConnectionsPerOrigin
        self.maxIdlePerOrigin = maxIdlePerOrigin
        self.idleSeconds = idleSeconds
        self.connectMilliseconds = connectMilliseconds
        self.limits = limits
    }
}
