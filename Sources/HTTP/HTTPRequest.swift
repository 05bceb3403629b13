/// The request line and header fields of a request, as they came over the wire.
public struct HTTPRequestHead: Sendable, Equatable {
    /// The method, case kept; methods are case-sensitive.
    public var method: String
    /// The raw request target: neither decoded nor normalised, in whichever of the four forms it came.
    public var target: String
    /// The protocol version.
    public var version: HTTPVersion
    /// The header fields.
    public var fields: HTTPFields

    /// Makes a head; nothing is checked until it is encoded.
    public init(method: String, target: String, version: HTTPVersion = .http11, fields: HTTPFields = [:]) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1).
    ///
    /// Never true for HTTP/1.0. A server that already knows its final answer may send that instead.
    public var expectsContinue: Bool {
        version == .http11 && fields.hasToken("100-continue", in: "Expect")
    }

    /// Whether the client will use the connection again after this exchange (RFC 9112 section 9.3).
    public var shouldKeepAlive: Bool { version.keepsAlive(fields) }
}

/// A whole request.
public struct HTTPRequest: Sendable, Equatable {
    /// The method, case kept.
    public var method: String
    /// The raw request target, as on the wire.
    public var target: String
    /// The protocol version.
    public var version: HTTPVersion
    /// The header fields.
    public var fields: HTTPFields
    /// The body without framing.
    public var body: [UInt8]
    /// The trailer fields, kept apart from the header fields.
    public var trailers: HTTPFields

    /// Makes a request; nothing is checked until it is encoded.
    public init(
        method: String, target: String, fields: HTTPFields = [:], body: [UInt8] = [], trailers: HTTPFields = [:],
        version: HTTPVersion = .http11
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.body = body
        self.trailers = trailers
    }

    /// The request without its body and trailers.
    public var head: HTTPRequestHead {
        HTTPRequestHead(method: method, target: target, version: version, fields: fields)
    }

    /// Whether the client will use the connection again after this exchange.
    public var shouldKeepAlive: Bool { version.keepsAlive(fields) }

    /// The raw path: the target up to `?`, without scheme and authority when they are there.
    ///
    /// `*` and `host:port` targets are returned whole.
    public var path: String { String(RequestTarget.split(target).path) }

    /// The raw query after the first `?`, or nil when there is no `?`.
    public var query: String? { RequestTarget.split(target).query.map(String.init) }

    /// The authority the request is for: that of an absolute target, else the Host field (RFC 9112 section 3.3).
    public var authority: String? { RequestTarget.split(target).authority.map(String.init) ?? fields["Host"] }

    /// The media type of the body, or nil when Content-Type is missing, repeated or malformed.
    public var mediaType: MediaType? { MediaType(fields: fields) }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// Method, path and sizes; queries, field values and bodies carry secrets and are left out.
    public var description: String {
        "\(method) \(path) (\(fields.count) fields, \(body.count) body octets)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }
}

extension HTTPRequestHead: CustomStringConvertible, CustomDebugStringConvertible {
    /// Method, path and field names, without query and values.
    public var description: String { "\(method) \(RequestTarget.split(target).path) [\(fields)]" }

    /// The same as `description`.
    public var debugDescription: String { description }
}
