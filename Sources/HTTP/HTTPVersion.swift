/// The two protocol versions the codec speaks.
public enum HTTPVersion: String, Sendable, Hashable, Codable {
    /// HTTP/1.0: no chunked coding, connections end after each message unless kept alive by agreement.
    case http10 = "HTTP/1.0"
    /// HTTP/1.1.
    case http11 = "HTTP/1.1"

    /// Whether a connection stays open after a message with these fields (RFC 9112 section 9.3).
    func keepsAlive(_ fields: HTTPFields) -> Bool {
        if fields.hasToken("close", in: "Connection") { return false }
        return self == .http11 || fields.hasToken("keep-alive", in: "Connection")
    }

    /// Reads a version from the end of a request line or the start of a status line.
    static func read(_ bytes: Span<UInt8>) throws(HTTPFault) -> HTTPVersion {
        guard bytes.count == 8, Byte.isDigit(bytes[5]), bytes[6] == 0x2E, Byte.isDigit(bytes[7]),
            bytes[0] == 0x48, bytes[1] == 0x54, bytes[2] == 0x54, bytes[3] == 0x50, bytes[4] == Byte.slash
        else { throw .malformedVersion }
        switch (bytes[5], bytes[7]) {
        case (0x31, 0x30): return .http10
        case (0x31, 0x31): return .http11
        default: throw .unsupportedVersion(ASCIIText.text(bytes))
        }
    }
}
