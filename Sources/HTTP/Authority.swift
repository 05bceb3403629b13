/// A host with an optional port, as in a URL or a Host field, in its canonical form.
///
/// Stricter than RFC 3986 on purpose: host names hold letters, digits, `-`, `_` and `.` only, so neither percent
/// triplets nor sub-delimiters nor user information get through, and a host whose last label is a number must be a
/// plain dotted quad, so that `127.1` and `0x7f.1` do not mean different machines to different readers.
struct Authority: Sendable, Hashable {
    /// Lower-cased host; an IPv6 address in the form of RFC 5952, without brackets.
    let host: String
    /// The port as given; nil when there was none.
    let port: Int?

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        var end = bytes.count
        if let colon = bytes.lastIndex(of: Byte.colon), !bytes[colon...].contains(0x5D) {
            guard let port = Self.port(bytes[(colon + 1)...]) else { return nil }
            self.port = port
            end = colon
        } else {
            port = nil
        }
        guard let host = Self.host(bytes[..<end]) else { return nil }
        self.host = host
    }

    /// One to five digits giving 1...65535.
    private static func port(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...5).contains(digits.count), digits.allSatisfy(Byte.isDigit) else { return nil }
        let value = digits.reduce(0) { $0 * 10 + Int($1 - Byte.zero) }
        return (1...65535).contains(value) ? value : nil
    }

    private static func host(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let first = bytes.first, let last = bytes.last, bytes.count <= 255 else { return nil }
        if first == 0x5B {
            guard last == 0x5D else { return nil }
            return IPv6Address(bytes.dropFirst().dropLast())?.text
        }
        let name = String(decoding: bytes.map(Byte.lowered), as: UTF8.self)
        guard ByteSet.hostName.isMadeOf(name) else { return nil }
        var labels = name.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.allSatisfy({ (1...63).contains($0.count) }) else { return nil }
        if let last = labels.last, isNumber(last), IPv4Address(bytes) == nil { return nil }
        return name
    }

    private static func isNumber(_ label: Substring.UTF8View) -> Bool {
        if label.allSatisfy(Byte.isDigit) { return true }
        return label.starts(with: [Byte.zero, 0x78]) && label.dropFirst(2).allSatisfy { Byte.hexValue($0) != nil }
    }

    /// The host as it stands in a URL: an IPv6 address gets its brackets back.
    var bracketedHost: String { host.utf8.contains(Byte.colon) ? "[\(host)]" : host }
}
