/// How much of each part of a message a decoder accepts, in octets unless said otherwise.
public struct HTTPLimits: Sendable, Equatable {
    /// A request line or status line, without its CRLF.
    public var startLine = 8192
    /// A method name; longer ones are answered 501 as RFC 9112 section 3 asks.
    public var method = 32
    /// One field line, without its CRLF.
    public var fieldLine = 16384
    /// All field lines of a header section, or of a trailer section, together.
    public var fieldBytes = 65536
    /// How many fields a header section, or a trailer section, may have.
    public var fieldCount = 128
    /// The body after chunked framing is taken off; `Int.max` for streams without end.
    public var body = 16 << 20
    /// One chunk-size line with its extensions, without its CRLF.
    public var chunkLine = 1024
    /// All chunk extensions of one message together; they are checked and thrown away.
    public var chunkExtensions = 16384
    /// How many 1xx responses may come before a final one.
    public var interimResponses = 16

    /// Makes the default limits.
    public init() {}

    /// Makes the default limits with another one for the body.
    public init(body: Int) { self.body = body }
}
