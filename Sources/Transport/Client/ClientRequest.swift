public import HTTP

/// One request of a client.
public struct ClientRequest: Sendable {
    /// Where to; its raw target is sent as it is.
    public var url: HTTPURL

    /// The method, case kept.
    public var method: String

    /// The fields, sent in this order and case.
    ///
    /// Unless `framing` is `.asGiven`, Host is put first and Content-Length last when they are missing.
    /// `Transfer-Encoding: chunked` sends the body in a chunk.
    public var fields: HTTPFields

    /// The body; may be empty.
    public var body: [UInt8]

    /// The time for the whole exchange, in milliseconds, waiting for a connection included.
    public var timeoutMilliseconds: Int

    /// Whether framing fields are added and checked, or sent as given by a phone that misbehaves on purpose.
    public var framing: HTTPEncoder.Framing

    /// The IP address to come from, instead of the client's.
    public var localAddress: String?

    /// How it goes wrong on its way; nil for not at all.
    public var wireFault: WireFault?

    /// A request; without further arguments a GET.
    public init(
        url: HTTPURL, method: String = "GET", fields: HTTPFields = [:], body: [UInt8] = [],
        timeoutMilliseconds: Int = 30_000, framing: HTTPEncoder.Framing = .automatic, localAddress: String? = nil
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
        self.framing = framing
        self.localAddress = localAddress
    }
}
