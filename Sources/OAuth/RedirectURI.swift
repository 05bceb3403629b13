public import HTTP

/// Where an authorization server sends the browser back to (RFC 6749 section 3.1.2, RFC 8252 section 7).
public struct RedirectURI: Sendable, Hashable, Codable {
    /// The URI as it was registered, byte for byte.
    public let text: String

    /// Takes an absolute URI without a fragment, of any scheme: `com.example.app:/back` as well as a loopback URL.
    ///
    /// Throws ``RedirectURIError`` naming the rule the text breaks.
    public init(_ text: String) throws(RedirectURIError) {
        guard text.utf8.count <= HTTPURL.longest else { throw RedirectURIError(rule: "is too long") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw RedirectURIError(rule: "must be visible ASCII")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw RedirectURIError(rule: "must have no fragment") }
        guard let scheme = Self.scheme(of: text), scheme.utf8.count + 1 < text.utf8.count else {
            throw RedirectURIError(rule: "must be an absolute URI")
        }
        if ["http", "https"].contains(scheme.lowercased()), (try? HTTPURL(text)) == nil {
            throw RedirectURIError(rule: "is no http or https URL")
        }
        self.text = text
    }

    /// The URI as a place to listen at: plain `http` on a loopback address literal (RFC 8252 section 7.3); nil for
    /// any other.
    ///
    /// `localhost` is taken too, though a literal is better: a name can be made to point elsewhere.
    public var loopback: HTTPURL? {
        guard let url = try? HTTPURL(text), !url.isSecure, url.isLoopback else { return nil }
        return url
    }

    /// What an address says to this redirect URI, as the raw query; nil where the address is another place.
    ///
    /// A query the redirect URI itself has comes first in the address and is not part of the answer.
    public func query(of address: String) -> String? {
        let sent = address.prefix { $0 != "#" }
        if text.utf8.contains(UInt8(ascii: "?")) {
            if sent.utf8.elementsEqual(text.utf8) { return "" }
            return sent.hasPrefix(text + "&") ? String(sent.dropFirst(text.count + 1)) : nil
        }
        let place = sent.prefix { $0 != "?" }
        guard isSamePlace(String(place)) else { return nil }
        return String(sent.dropFirst(place.count + 1))
    }

    /// Byte for byte, or as URLs: a server may write the root's slash or leave out a default port.
    private func isSamePlace(_ place: String) -> Bool {
        if place.hasSameBytes(as: text) { return true }
        guard let ours = try? HTTPURL(text), let theirs = try? HTTPURL(place) else { return false }
        return ours == theirs
    }

    /// The scheme of an absolute URI (RFC 3986 section 3.1), or nil where the text has none.
    static func scheme(of text: String) -> String? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.utf8.startIndex else { return nil }
        let scheme = text.utf8[..<colon]
        guard let first = scheme.first, isLetter(first) else { return nil }
        return scheme.allSatisfy { isLetter($0) || "0123456789+-.".utf8.contains($0) } ? String(text[..<colon]) : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// Why a text cannot be a redirect URI.
public struct RedirectURIError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that was broken.
    public let rule: String

    /// A stable name for this error, for reports and tests.
    public var code: String { "oauth.redirect_uri" }

    /// The rule that was broken.
    public var description: String { "the redirect URI \(rule)" }
}
