/// How a request goes wrong on its way, for a phone that tests what its server makes of that.
///
/// The connection is of no further use afterwards and is never kept.
public enum WireFault: Sendable, Hashable {
    /// The request is written whole, and the connection is reset (RST) before an answer is read.
    ///
    /// The server may have acted on it.
    case reset
    /// Half of the request's bytes are written, and the connection is closed.
    case truncate
    /// The request is written in pieces of so many bytes with so many milliseconds between them; its answer counts.
    case dribble(bytes: Int, milliseconds: Int)
}
