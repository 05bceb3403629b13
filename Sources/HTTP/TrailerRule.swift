/// Which fields make no sense after a body (RFC 9110 section 6.5.1).
///
/// A message with one of them is refused, not mended: a peer that sends framing, routing, credentials or a media
/// type after the body hopes that somebody on the way merges it into the header. All other trailers are delivered
/// apart from the header fields and never merged.
enum TrailerRule {
    private static let forbidden: Set<String> = [
        "age", "authorization", "cache-control", "connection", "content-encoding", "content-length",
        "content-range", "content-type", "cookie", "date", "dpop", "expect", "expires", "host", "keep-alive",
        "location", "max-forwards", "pragma", "proxy-authenticate", "proxy-authorization", "proxy-connection",
        "range", "retry-after", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "vary",
        "warning", "www-authenticate",
    ]

    static func forbids(_ name: String) -> Bool { forbidden.contains(ASCIIText.lowercased(name)) }
}
