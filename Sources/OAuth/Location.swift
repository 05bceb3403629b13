public import HTTP

/// The `Location` field of an answer (RFC 9110 section 10.2.2).
public enum Location {
    /// The absolute address a `Location` means, seen from the page that sent it (RFC 3986 section 5.2).
    ///
    /// Dot segments are left as they are: a server that sends them is asked for exactly what it wrote.
    public static func resolve(_ location: String, against page: HTTPURL) -> String {
        if RedirectURI.scheme(of: location) != nil { return location }
        if location.hasPrefix("//") { return page.scheme.rawValue + ":" + location }
        if location.hasPrefix("/") { return page.origin + location }
        if location.hasPrefix("?") { return page.origin + page.path + location }
        let folder = page.path.prefix(through: page.path.lastIndex(of: "/") ?? page.path.startIndex)
        return page.origin + folder + location
    }
}
