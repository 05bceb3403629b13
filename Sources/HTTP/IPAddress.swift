/// An IPv4 address in plain dotted-quad form, without leading zeros.
struct IPv4Address: Sendable {
    let octets: [UInt8]

    init?(_ text: ArraySlice<UInt8>) {
        let parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var octets: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy(Byte.isDigit) else { return nil }
            if part.count > 1, part.first == Byte.zero { return nil }
            let value = part.reduce(0) { $0 * 10 + Int($1 - Byte.zero) }
            guard value <= 255 else { return nil }
            octets.append(UInt8(value))
        }
        self.octets = octets
    }
}

/// An IPv6 address as eight groups; zone identifiers are refused.
struct IPv6Address: Sendable {
    let groups: [UInt16]

    /// Reads any form of RFC 4291 section 2.2: eight groups, `::` once, a dotted quad at the end.
    init?(_ text: ArraySlice<UInt8>) {
        guard (2...45).contains(text.count) else { return nil }
        guard let gap = Self.gap(in: text) else {
            guard let groups = Self.groups(text), groups.count == 8 else { return nil }
            self.groups = groups
            return
        }
        let before = text[..<gap]
        let after = text[(gap + 2)...]
        guard let head = before.isEmpty ? [] : Self.groups(before, quadAllowed: false),
            let tail = after.isEmpty ? [] : Self.groups(after), head.count + tail.count <= 7
        else { return nil }
        groups = head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    /// The index of the first `::`.
    private static func gap(in text: ArraySlice<UInt8>) -> Int? {
        text.indices.dropLast().first { text[$0] == Byte.colon && text[$0 + 1] == Byte.colon }
    }

    private static func groups(_ text: ArraySlice<UInt8>, quadAllowed: Bool = true) -> [UInt16]? {
        let parts = text.split(separator: Byte.colon, omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var groups: [UInt16] = []
        for (position, part) in parts.enumerated() {
            if quadAllowed, position == parts.count - 1, let quad = IPv4Address(part)?.octets {
                groups.append(UInt16(quad[0]) << 8 | UInt16(quad[1]))
                groups.append(UInt16(quad[2]) << 8 | UInt16(quad[3]))
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var value: UInt16 = 0
            for byte in part {
                guard let digit = Byte.hexValue(byte) else { return nil }
                value = value << 4 | UInt16(digit)
            }
            groups.append(value)
        }
        return groups
    }

    /// The canonical form of RFC 5952: lower case, no leading zeros, the longest run of zeros as `::`.
    var text: String {
        var longest = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > max(1, longest.count) { longest = start..<end }
            start = max(end, start + 1)
        }
        let hex = groups.map { String($0, radix: 16) }
        guard !longest.isEmpty else { return hex.joined(separator: ":") }
        return hex[..<longest.lowerBound].joined(separator: ":") + "::"
            + hex[longest.upperBound...].joined(separator: ":")
    }
}
