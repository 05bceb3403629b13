/// The rule for Host fields: exactly one in HTTP/1.1, at most one in HTTP/1.0, and well formed (RFC 9112 3.2).
///
/// An empty Host is refused: every request that gets here is for an `http` or `https` URI, and those have a host.
enum HostRule {
    static func check(_ fields: HTTPFields, version: HTTPVersion) throws(HTTPFault) {
        let hosts = fields.values("Host")
        guard hosts.count <= 1 else { throw .repeatedHost }
        guard let host = hosts.first else {
            guard version == .http10 else { throw .missingHost }
            return
        }
        guard Authority(host) != nil else { throw .malformedHost }
    }
}
