/// The status line and header fields of a response.
public struct HTTPResponseHead: Sendable, Equatable {
    /// The status code, 100...999.
    public var status: Int
    /// The reason phrase, or nil when there is none or it is empty.
    public var reason: String?
    /// The protocol version.
    public var version: HTTPVersion
    /// The header fields.
    public var fields: HTTPFields

    /// Makes a head; nothing is checked until it is encoded.
    public init(status: Int, reason: String? = nil, version: HTTPVersion = .http11, fields: HTTPFields = [:]) {
        self.status = status
        self.reason = reason
        self.version = version
        self.fields = fields
    }
}

/// A whole response.
public struct HTTPResponse: Sendable, Equatable {
    /// The status code, 100...999.
    public var status: Int
    /// The reason phrase; nil when there was none, and the usual phrase is sent when it is encoded.
    public var reason: String?
    /// The protocol version.
    public var version: HTTPVersion
    /// The header fields.
    public var fields: HTTPFields
    /// The body without framing.
    public var body: [UInt8]
    /// The trailer fields, kept apart from the header fields.
    public var trailers: HTTPFields

    /// Makes a response; nothing is checked until it is encoded.
    public init(
        status: Int, reason: String? = nil, fields: HTTPFields = [:], body: [UInt8] = [],
        trailers: HTTPFields = [:], version: HTTPVersion = .http11
    ) {
        self.status = status
        self.reason = reason
        self.version = version
        self.fields = fields
        self.body = body
        self.trailers = trailers
    }

    /// The response without its body and trailers.
    public var head: HTTPResponseHead {
        HTTPResponseHead(status: status, reason: reason, version: version, fields: fields)
    }

    /// The media type of the body, or nil when Content-Type is missing, repeated or malformed.
    public var mediaType: MediaType? { MediaType(fields: fields) }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// Status and sizes; field values and bodies carry secrets and are left out.
    public var description: String {
        "\(status) \(reason ?? ReasonPhrase.of(status)) (\(fields.count) fields, \(body.count) body octets)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }
}

extension HTTPResponseHead: CustomStringConvertible, CustomDebugStringConvertible {
    /// Status and field names, without values.
    public var description: String { "\(status) [\(fields)]" }

    /// The same as `description`.
    public var debugDescription: String { description }
}
