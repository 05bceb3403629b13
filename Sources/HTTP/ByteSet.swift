/// A set of ASCII octets held as 128 bits, so that testing one octet is a shift and a mask.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: StaticString, ranges: ClosedRange<UInt8>...) {
        characters.withUTF8Buffer { buffer in
            for byte in buffer { insert(byte) }
        }
        for range in ranges {
            for byte in range { insert(byte) }
        }
    }

    /// `tchar` of RFC 9110 section 5.6.2: what methods, field names and parameter names are made of.
    static let token = ByteSet("!#$%&'*+-.^_`|~", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)

    /// `pchar` of RFC 3986 without the percent sign, and the slash: a raw path.
    static let path = ByteSet("-._~!$&'()*+,;=:@/", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)

    /// What a raw query may hold besides percent triplets (RFC 3986 section 3.4).
    static let query = ByteSet("-._~!$&'()*+,;=:@/?", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)

    /// What a request target may hold besides percent triplets.
    ///
    /// That is every visible ASCII character except the four that all clients encode. Browsers send `[`, `|` and `{` bare in queries, so refusing the whole
    /// RFC 3986 complement would refuse honest requests; `#` must go because a target has no fragment.
    static let target = ByteSet(
        "!$&'()*+,-./:;=?@[]\\^_`{|}~", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)

    /// The letters of a registered host name; percent triplets and sub-delimiters are refused on purpose.
    static let hostName = ByteSet("-._", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)

    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low & (1 << UInt64(byte)) != 0 }
        if byte < 128 { return high & (1 << UInt64(byte &- 64)) != 0 }
        return false
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }

    /// Whether `bytes` is not empty and made of members only.
    func isMadeOf(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return false }
        for index in bytes.indices where !contains(bytes[index]) { return false }
        return true
    }

    /// Whether `text` is not empty and made of members only.
    func isMadeOf(_ text: some StringProtocol) -> Bool {
        guard !text.isEmpty else { return false }
        for byte in text.utf8 where !contains(byte) { return false }
        return true
    }
}

/// The octets the codec talks about by name.
enum Byte {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let percent: UInt8 = 0x25
    static let comma: UInt8 = 0x2C
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let nine: UInt8 = 0x39
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D
    static let question: UInt8 = 0x3F
    static let backslash: UInt8 = 0x5C
    static let delete: UInt8 = 0x7F

    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// Text octets of field values and reason phrases: visible, blank, or above ASCII.
    static func isText(_ byte: UInt8) -> Bool { (byte >= space && byte != delete) || byte == tab }

    /// The value of a hexadecimal digit, or nil.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// The octet in lower case when it is an ASCII letter; nothing else changes.
    static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
