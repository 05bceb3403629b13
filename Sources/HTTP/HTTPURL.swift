/// An absolute `http` or `https` URL, checked strictly and kept byte for byte after the authority.
///
/// Two URLs are equal when scheme, host, effective port and raw target are. Path and query are neither decoded nor
/// normalised, because a DPoP `htu` has to name exactly what was sent. Source: RFC 3986, RFC 9110 section 4.2.
public struct HTTPURL: Sendable, Hashable {
    /// The scheme, lower-cased.
    public let scheme: Scheme
    /// The host, lower-cased; an IPv6 address in canonical form without brackets.
    public let host: String
    /// The effective port: the one given, else 80 or 443.
    public let port: Int
    /// The raw path and query, as sent in origin form; `/` when the URL has no path.
    public let target: String

    /// The two schemes of HTTP.
    public enum Scheme: String, Sendable, Hashable {
        /// Plain HTTP, port 80 unless said otherwise.
        case http
        /// HTTP over TLS, port 443 unless said otherwise.
        case https

        /// The port when a URL names none.
        public var defaultPort: Int { self == .https ? 443 : 80 }
    }

    /// The longest URL that is read, in octets.
    public static let longest = 8000

    /// Reads an absolute URL; a fragment is checked and dropped.
    ///
    /// - Throws: `HTTPURLError` naming the part that broke a rule.
    public init(_ text: String) throws(HTTPURLError) {
        guard text.utf8.count <= Self.longest else { throw .tooLong(limit: Self.longest) }
        guard let colon = text.utf8.firstIndex(of: Byte.colon),
            let scheme = Scheme(rawValue: ASCIIText.lowercased(text[..<colon]))
        else { throw .scheme }
        guard let rest = RequestTarget.afterScheme(text) else { throw .missingHost }
        let end = rest.utf8.firstIndex { $0 == Byte.slash || $0 == Byte.question || $0 == 0x23 } ?? rest.endIndex
        guard end > rest.startIndex else { throw .missingHost }
        guard !rest[..<end].utf8.contains(0x40) else { throw .userInformation }
        let authority = try Self.authority(String(rest[..<end]))
        self.init(
            scheme: scheme, host: authority.host, port: authority.port ?? scheme.defaultPort,
            target: try Self.target(rest[end...]))
    }

    private init(scheme: Scheme, host: String, port: Int, target: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.target = target
    }

    private static func authority(_ text: String) throws(HTTPURLError) -> Authority {
        if let authority = Authority(text) { return authority }
        // Say which half is wrong: a host that reads well alone leaves the port to blame.
        guard let colon = text.utf8.lastIndex(of: Byte.colon), Authority(String(text[..<colon])) != nil else {
            throw .host
        }
        throw .port
    }

    /// Checks path, query and fragment, and joins the first two as they are.
    private static func target(_ text: Substring) throws(HTTPURLError) -> String {
        let hash = text.utf8.firstIndex(of: 0x23) ?? text.endIndex
        let mark = text[..<hash].utf8.firstIndex(of: Byte.question) ?? hash
        guard isMade(text[..<mark].utf8, of: .path) else { throw .path }
        guard isMade(text[mark..<hash].utf8, of: .query) else { throw .query }
        if hash < text.endIndex {
            let fragment = text[text.utf8.index(after: hash)...]
            guard isMade(fragment.utf8, of: .query) else { throw .fragment }
        }
        let raw = text[..<hash]
        return raw.utf8.first == Byte.slash ? String(raw) : "/" + raw
    }

    /// Whether every octet is allowed or part of a percent triplet.
    private static func isMade(_ bytes: Substring.UTF8View, of allowed: ByteSet) -> Bool {
        var digitsDue = 0
        for byte in bytes {
            if digitsDue > 0 {
                guard Byte.hexValue(byte) != nil else { return false }
                digitsDue -= 1
            } else if byte == Byte.percent {
                digitsDue = 2
            } else if !allowed.contains(byte) {
                return false
            }
        }
        return digitsDue == 0
    }
}

extension HTTPURL {
    /// Scheme, host and port, lower-cased, without the default port: `https://idp.test`, `http://[::1]:8080`.
    public var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// Host and port as a Host field has them: brackets around IPv6, default port dropped.
    public var authority: String {
        let name = host.utf8.contains(Byte.colon) ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    /// The whole URL: origin and raw target.
    public var text: String { origin + target }

    /// The raw path, at least `/`.
    public var path: String { String(RequestTarget.split(target).path) }

    /// The raw query after the first `?`, or nil when there is no `?`.
    public var query: String? { RequestTarget.split(target).query.map(String.init) }

    /// Whether the URL is `https`.
    public var isSecure: Bool { scheme == .https }

    /// Whether the host can only be this machine: 127.0.0.0/8, ::1, `localhost` or a name under it.
    public var isLoopback: Bool {
        if host == "::1" || host == "localhost" || host.hasSuffix(".localhost") { return true }
        return IPv4Address(Array(host.utf8)[...])?.octets.first == 127
    }

    /// This URL with more path behind its own path, exactly one slash between them, and without its query.
    ///
    /// - Throws: `HTTPURLError` when `path` holds what a raw path (and optional query) may not.
    public func appending(path: String) throws(HTTPURLError) -> HTTPURL {
        var base = self.path
        if base.utf8.last == Byte.slash { base.removeLast() }
        return try HTTPURL(origin + base + (path.utf8.first == Byte.slash ? path : "/" + path))
    }

    /// This URL with another raw target, which must start with `/`.
    ///
    /// - Throws: `HTTPURLError.path` or `.query` when `target` holds what a raw target may not.
    public func replacing(target: String) throws(HTTPURLError) -> HTTPURL {
        guard target.utf8.first == Byte.slash else { throw .path }
        return try HTTPURL(origin + target)
    }
}

extension HTTPURL: CustomStringConvertible {
    /// The URL without its query, which may carry codes and tokens.
    public var description: String { origin + path }
}

extension HTTPURL: Codable {
    /// Reads the URL from one string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = try HTTPURL(container.decode(String.self))
    }

    /// Writes the URL as one string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Which part of a URL broke a rule; the URL itself is not repeated, as it may hold secrets.
public enum HTTPURLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Longer than the limit.
    case tooLong(limit: Int)
    /// Not `http` or `https`, or not absolute.
    case scheme
    /// `//` or the host is missing.
    case missingHost
    /// `user@` or `user:password@`, which HTTP URLs must not carry.
    case userInformation
    /// Not a host name, a dotted quad or a bracketed IPv6 address.
    case host
    /// Not a number in 1...65535.
    case port
    /// A character or percent triplet a path cannot have.
    case path
    /// A character or percent triplet a query cannot have.
    case query
    /// A character or percent triplet a fragment cannot have.
    case fragment

    /// A stable dotted name for logs and tests.
    public var code: String {
        switch self {
        case .tooLong: "http.url.length"
        case .scheme: "http.url.scheme"
        case .missingHost: "http.url.host-missing"
        case .userInformation: "http.url.userinfo"
        case .host: "http.url.host"
        case .port: "http.url.port"
        case .path: "http.url.path"
        case .query: "http.url.query"
        case .fragment: "http.url.fragment"
        }
    }

    /// The rule that was broken.
    public var description: String {
        switch self {
        case .tooLong(let limit): "URL longer than \(limit) octets"
        case .scheme: "URL is not absolute with scheme http or https"
        case .missingHost: "URL has no host"
        case .userInformation: "URL carries user information"
        case .host: "URL host is neither a name nor an IP address"
        case .port: "URL port is not in 1...65535"
        case .path: "URL path holds a character or percent triplet it cannot have"
        case .query: "URL query holds a character or percent triplet it cannot have"
        case .fragment: "URL fragment holds a character or percent triplet it cannot have"
        }
    }
}
