import Encoding
import Glibc
public import HTTP

/// Which proxy a client uses.
public enum ProxySetting: Sendable, Hashable {
    /// The one named by `http_proxy`, `https_proxy` and `no_proxy`, by curl's rules; see `ProxyRules`.
    case environment
    /// None, whatever the environment says.
    case none
    /// This one, for every request, requests to this machine included. Scheme http, no path.
    case url(HTTPURL)
}

/// A proxy and the credentials to show it.
public struct Proxy: Sendable, Hashable {
    /// Where it listens; the scheme is http.
    public let url: HTTPURL

    /// The value of `Proxy-Authorization`; nil when the proxy's URL names no user.
    let authorization: String?

    /// A proxy that asks for no credentials.
    public init(url: HTTPURL) {
        self.url = url
        authorization = nil
    }

    /// A proxy as the environment writes it: the scheme may be missing, `user:password@` may be there.
    ///
    /// - Returns: nil when the text is no http URL; https and SOCKS proxies are not spoken here.
    init?(setting text: String) {
        var rest = text[...]
        if let scheme = rest.range(of: "://") {
            guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
            rest = rest[scheme.upperBound...]
        }
        rest = rest.prefix { $0 != "/" }
        var authorization: String?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.compactMap { try? PercentCoding.decode(String($0)) }
            guard decoded.count == parts.count else { return nil }
            let pair = decoded.joined(separator: ":") + (decoded.count == 1 ? ":" : "")
            authorization = "Basic " + Base64.encode(Array(pair.utf8))
            rest = rest[rest.index(after: at)...]
        }
        // curl's default port for a proxy is 1080; a port of one's own is kept.
        guard let plain = try? HTTPURL("http://\(rest)/") else { return nil }
        let hasPort = rest.reversed().prefix { $0 != ":" && $0 != "]" }.count < rest.count && !rest.hasSuffix("]")
        guard let url = hasPort ? plain : try? HTTPURL("http://\(rest):1080/") else { return nil }
        self.url = url
        self.authorization = authorization
    }
}

/// The proxy settings of an environment, read the way curl reads them, with one difference.
///
/// - `http_proxy` counts in lower case only (a CGI server can be made to set `HTTP_PROXY` by a `Proxy:` field);
///   `https_proxy`, `all_proxy` and `no_proxy` also count in upper case, the lower-case one first.
/// - `no_proxy` is a list split by commas or blanks: `*` means every host; a name means itself and names below
///   it, with or without a leading dot; an IP address means itself; an address with `/bits` means that network.
/// - Unlike curl, requests to this machine (127.0.0.0/8, ::1, `localhost` and names below it) and requests
///   whose address is overridden in the client's configuration never go through a proxy of the environment: a
///   proxy could not reach the reference servers, and an override says where to go. `ProxySetting.url` does
///   send them there.
/// - A proxy that is not http is an error when it is needed, not silently left out.
public struct ProxyRules: Sendable, Hashable {
    /// The answer for one URL.
    public enum Route: Sendable, Hashable {
        /// Connect to the host itself.
        case direct
        /// Go through this proxy.
        case proxy(Proxy)
        /// A proxy is configured that cannot be used; the text of the setting without credentials.
        case unusable(String)
    }

    private var http: String?
    private var https: String?
    private var exceptions: [String]

    /// Rules from an environment.
    ///
    /// - Parameter environment: the variables by name; unknown ones are ignored.
    public init(environment: [String: String]) {
        func first(_ names: String...) -> String? {
            // An empty variable counts as set, to nothing: that is how one switches a proxy off.
            guard let name = names.first(where: { environment[$0] != nil }) else { return nil }
            return environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let all = first("all_proxy", "ALL_PROXY")
        http = environment["http_proxy"] == nil ? all : first("http_proxy")
        let hasSecure = environment["https_proxy"] != nil || environment["HTTPS_PROXY"] != nil
        https = hasSecure ? first("https_proxy", "HTTPS_PROXY") : all
        exceptions = (first("no_proxy", "NO_PROXY") ?? "").split { $0 == "," || $0 == " " || $0 == "\t" }
            .map { $0.lowercased() }
    }

    /// Rules from the environment of this process, as it is now.
    static func fromProcess() -> ProxyRules {
        let names = [
            "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        ]
        var environment: [String: String] = [:]
        for name in names {
            guard let value = getenv(name) else { continue }
            environment[name] = String(cString: value)
        }
        return ProxyRules(environment: environment)
    }

    /// How to reach a URL.
    public func route(to url: HTTPURL) -> Route {
        guard let setting = url.isSecure ? https : http else { return .direct }
        guard !url.isLoopback, !isExcepted(url.host) else { return .direct }
        guard let proxy = Proxy(setting: setting) else {
            return .unusable(String(setting.split(separator: "@").last ?? ""))
        }
        return .proxy(proxy)
    }

    private func isExcepted(_ host: String) -> Bool {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        let address = SocketAddress(literal: name, port: 0)
        return exceptions.contains { exception in
            if exception == "*" { return true }
            if let address { return Self.network(exception, contains: address) }
            let suffix = exception.drop { $0 == "." }
            return !suffix.isEmpty && (name == suffix || name.hasSuffix("." + suffix))
        }
    }

    private static func network(_ text: String, contains address: SocketAddress) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let base = SocketAddress(literal: Resolver.bare(String(parts[0])), port: 0),
            base.family == address.family
        else { return false }
        let width = base.ipBytes.count * 8
        guard let bits = parts.count == 1 ? width : Int(parts[1]), (0...width).contains(bits) else { return false }
        return zip(base.ipBytes, address.ipBytes).enumerated().allSatisfy { index, pair in
            let kept = min(max(bits - index * 8, 0), 8)
            let mask = kept == 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF << (8 - kept))
            return pair.0 & mask == pair.1 & mask
        }
    }
}

extension StringProtocol {
    /// Where a short text first stands; the part of Foundation's `range(of:)` needed here.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text), let end = index(start, offsetBy: text.count, limitedBy: endIndex) {
                return start..<end
            }
            start = index(after: start)
        }
        return nil
    }
}
