import HTTP

/// A client's configuration after its texts were read: a value that turns requests into exchanges.
struct ClientSettings: Sendable {
    private let configuration: ClientConfiguration
    private let overrides: [String: SocketAddress]
    private let environment: ProxyRules?
    private let fixedProxy: Proxy?

    /// Reads a configuration.
    ///
    /// - Returns: `.badConfiguration` when an address in it is none.
    static func read(_ configuration: ClientConfiguration) -> Result<ClientSettings, TransportError> {
        Result { () throws(TransportError) in try ClientSettings(configuration) }
    }

    private init(_ configuration: ClientConfiguration) throws(TransportError) {
        self.configuration = configuration
        var overrides: [String: SocketAddress] = [:]
        for (name, place) in configuration.resolve {
            guard let url = try? HTTPURL("http://\(place)/"), name.contains(":"),
                let address = SocketAddress(literal: url.host, port: url.port)
            else { throw .badConfiguration(reason: "resolve \(name) to \(place): not \"host:port\" to \"ip:port\"") }
            overrides[name.lowercased()] = address
        }
        self.overrides = overrides
        if let local = configuration.localAddress { try Self.check(local: local) }
        switch configuration.proxy {
        case .environment: (environment, fixedProxy) = (ProxyRules.fromProcess(), nil)
        case .none: (environment, fixedProxy) = (nil, nil)
        case .url(let url):
            guard !url.isSecure else { throw .badConfiguration(reason: "a proxy is spoken to over http only") }
            (environment, fixedProxy) = (nil, Proxy(url: url))
        }
    }

    private static func check(local address: String) throws(TransportError) {
        guard SocketAddress(literal: address, port: 0) != nil else {
            throw .badConfiguration(reason: "local address \(address) is not an IP address")
        }
    }

    /// The request as bytes, and where they go.
    ///
    /// - Throws: `.badRequest` when it cannot be encoded; `.proxy` when the environment names a proxy that
    ///   cannot be used.
    func exchange(for request: ClientRequest) throws(TransportError) -> Exchange {
        let url = request.url
        if let local = request.localAddress { try Self.check(local: local) }
        let proxy = try proxy(for: url)
        let destination = Destination(
            host: url.host, port: url.port, isSecure: url.isSecure, proxy: proxy,
            localAddress: request.localAddress ?? configuration.localAddress)
        // A plain request through a proxy names the whole URL (RFC 9112, section 3.2.2).
        let isAbsolute = proxy != nil && !url.isSecure
        var message = HTTPRequest(
            method: request.method, target: isAbsolute ? url.text : url.target, fields: request.fields,
            body: request.body)
        if request.framing == .automatic, !message.fields.contains("Host") {
            message.fields = HTTPFields([("Host", url.authority)] + request.fields.map { ($0.name, $0.value) })
        }
        if isAbsolute, let authorization = proxy?.authorization {
            message.fields.append("Proxy-Authorization", authorization)
        }
        do {
            return Exchange(
                destination: destination, method: request.method,
                bytes: try HTTPEncoder.encode(message, framing: request.framing),
                timeoutMilliseconds: request.timeoutMilliseconds,
                asksToClose: request.fields.hasToken("close", in: "Connection"), wireFault: request.wireFault)
        } catch {
            throw .badRequest(error)
        }
    }

    private func proxy(for url: HTTPURL) throws(TransportError) -> Proxy? {
        if let fixedProxy { return fixedProxy }
        guard let environment, override(host: url.host, port: url.port) == nil else { return nil }
        switch environment.route(to: url) {
        case .direct: return nil
        case .proxy(let proxy): return proxy
        case .unusable(let text): throw .proxy(reason: "\(text) is no http proxy")
        }
    }

    private func override(host: String, port: Int) -> SocketAddress? {
        guard !overrides.isEmpty else { return nil }
        let name = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        return overrides[name]
    }

    /// How to make a connection to a destination.
    func dialPlan(for destination: Destination, tls: TLSContext?) throws(TransportError) -> DialPlan {
        let host = destination.proxy?.url.host ?? destination.host
        let port = destination.proxy?.url.port ?? destination.port
        return DialPlan(
            destination: destination, host: host, port: port,
            addresses: override(host: host, port: port).map { [$0] } ?? Resolver.immediate(host: host, port: port),
            local: destination.localAddress.flatMap { SocketAddress(literal: $0, port: 0) },
            tls: tls, serverName: configuration.tls.pinnedServerName ?? destination.host)
    }
}

/// Everything needed to make one connection.
struct DialPlan: Sendable {
    let destination: Destination
    /// Where TCP goes: the origin or the proxy.
    let host: String
    let port: Int
    /// The addresses, when they are known without a lookup.
    let addresses: [SocketAddress]?
    let local: SocketAddress?
    let tls: TLSContext?
    /// The name the certificate must have.
    let serverName: String
}
