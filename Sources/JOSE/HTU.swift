/// The comparison of a proof's `htu` with the URL of the request (RFC 9449 section 4.3).
///
/// Both are normalised by RFC 3986 sections 6.2.2 and 6.2.3: scheme and host in lower case, default and
/// empty ports dropped, an empty path is `/`, percent triplets in upper case, percent-encoded
/// unreserved characters decoded, dot segments removed. Query and fragment are dropped. Nothing else is
/// forgiven: neither a trailing slash nor a doubled one, nor the case of a path.
public enum HTU {
    /// The URL in normal form.
    ///
    /// Anything but an absolute http or https URL without userinfo, made of the characters RFC 3986 allows,
    /// is `JOSEError.url`.
    public static func normalized(_ url: String) throws(JOSEError) -> String {
        var reader = URLReader(url)
        let scheme = try reader.scheme()
        let authority = try reader.authority(defaultPort: scheme == "https" ? 443 : 80)
        let path = try reader.path()
        return scheme + "://" + authority + path
    }

    /// Whether both are URLs and the same one.
    public static func matches(_ htu: String, _ url: String) -> Bool {
        guard let left = try? normalized(htu), let right = try? normalized(url) else { return false }
        return left == right
    }

    /// The URL up to its query or fragment, otherwise untouched: what a client puts in `htu`.
    public static func withoutQuery(_ url: String) -> String {
        let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return String(url[..<(end ?? url.endIndex)])
    }
}

/// Reads one URL from left to right into normalised parts.
private struct URLReader {
    private let bytes: [UInt8]
    private var at = 0

    init(_ url: String) { bytes = Array(url.utf8) }

    mutating func scheme() throws(JOSEError) -> String {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { throw .url("no scheme") }
        let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard name == "https" || name == "http" else { throw .url("another scheme") }
        guard bytes[colon...].starts(with: Array("://".utf8)) else { throw .url("no authority") }
        at = colon + 3
        return name
    }

    mutating func authority(defaultPort: Int) throws(JOSEError) -> String {
        let end = bytes[at...].firstIndex { Characters.endsAuthority($0) } ?? bytes.count
        let whole = bytes[at..<end]
        at = end
        guard !whole.contains(UInt8(ascii: "@")) else { throw .url("userinfo") }
        // The port's colon is behind an IPv6 address, which has colons of its own.
        let hostEnd: Int
        if whole.first == UInt8(ascii: "[") {
            guard let bracket = whole.firstIndex(of: UInt8(ascii: "]")) else { throw .url("a host without ']'") }
            hostEnd = bracket + 1
        } else {
            hostEnd = whole.firstIndex(of: UInt8(ascii: ":")) ?? whole.endIndex
        }
        let host = try self.host(whole[..<hostEnd])
        guard let port = try self.port(whole[hostEnd...]), port != defaultPort else { return host }
        return "\(host):\(port)"
    }

    private func host(_ text: ArraySlice<UInt8>) throws(JOSEError) -> String {
        guard !text.isEmpty else { throw .url("no host") }
        if text.first == UInt8(ascii: "[") {
            let address = text.dropFirst().dropLast()
            guard !address.isEmpty, address.allSatisfy(Characters.isAddress) else { throw .url("a bad host") }
            return String(decoding: text.map(Characters.lowercased), as: UTF8.self)
        }
        // Lowering comes last: a decoded letter is a letter of the host too. Triplets stay in upper case.
        let decoded = try Self.normalizePercent(text, allowed: Characters.isHost)
        var lowered: [UInt8] = []
        lowered.reserveCapacity(decoded.count)
        var index = 0
        while index < decoded.count {
            if decoded[index] == UInt8(ascii: "%") {
                lowered += decoded[index..<index + 3]
                index += 3
            } else {
                lowered.append(Characters.lowercased(decoded[index]))
                index += 1
            }
        }
        return String(decoding: lowered, as: UTF8.self)
    }

    private func port(_ text: ArraySlice<UInt8>) throws(JOSEError) -> Int? {
        guard let colon = text.first else { return nil }
        guard colon == UInt8(ascii: ":") else { throw .url("a bad host") }
        let digits = text.dropFirst()
        if digits.isEmpty { return nil }
        guard digits.count <= 5, digits.allSatisfy(Characters.isDigit),
            let port = Int(String(decoding: digits, as: UTF8.self)), port <= 65535
        else { throw .url("a bad port") }
        return port
    }

    func path() throws(JOSEError) -> String {
        let end = bytes[at...].firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        let normal = try Self.normalizePercent(bytes[at..<end], allowed: Characters.isPath)
        return String(decoding: Self.removeDotSegments(normal), as: UTF8.self)
    }

    private static func normalizePercent(
        _ text: ArraySlice<UInt8>, allowed: (UInt8) -> Bool
    ) throws(JOSEError) -> [UInt8] {
        var normal: [UInt8] = []
        normal.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            guard byte == UInt8(ascii: "%") else {
                guard allowed(byte) else { throw .url("a character URLs do not have") }
                normal.append(byte)
                index += 1
                continue
            }
            guard index + 2 < text.endIndex, let high = Characters.hexValue(text[index + 1]),
                let low = Characters.hexValue(text[index + 2])
            else { throw .url("'%' without two digits") }
            let value = high << 4 | low
            if Characters.isUnreserved(value) {
                normal.append(value)
            } else {
                normal += [byte, Characters.hexDigit(high), Characters.hexDigit(low)]
            }
            index += 3
        }
        return normal
    }

    /// RFC 3986 section 5.2.4 for a path that is empty or begins with a slash.
    private static func removeDotSegments(_ path: [UInt8]) -> [UInt8] {
        guard path.contains(UInt8(ascii: ".")) else { return path.isEmpty ? [UInt8(ascii: "/")] : path }
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isDot = segment.elementsEqual(".".utf8)
            let isDoubleDot = segment.elementsEqual("..".utf8)
            if isDoubleDot { _ = kept.popLast() }
            if !isDot && !isDoubleDot { kept.append(segment) }
            // A dot segment at the end leaves the slash before it.
            if index == segments.count - 1, isDot || isDoubleDot { kept.append([]) }
        }
        return [UInt8(ascii: "/")] + kept.joined(separator: [UInt8(ascii: "/")])
    }
}

/// The character classes of RFC 3986.
private enum Characters {
    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
    static func endsAuthority(_ byte: UInt8) -> Bool { "/?#".utf8.contains(byte) }
    static func isUnreserved(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) || "-._~".utf8.contains(byte) }
    static func isHost(_ byte: UInt8) -> Bool { isUnreserved(byte) || "!$&'()*+,;=".utf8.contains(byte) }
    static func isPath(_ byte: UInt8) -> Bool { isHost(byte) || ":@/".utf8.contains(byte) }
    static func isAddress(_ byte: UInt8) -> Bool { hexValue(byte) != nil || ":.".utf8.contains(byte) }
    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte - UInt8(ascii: "0") }
        guard (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20) else { return nil }
        return (byte | 0x20) - UInt8(ascii: "a") + 10
    }

    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
