/// The distinguished encoding of ASN.1 (X.690): writes single elements as bytes, contents first.
public enum DER {
    /// Whose numbering a tag follows.
    public enum TagClass: UInt8, Sendable, Hashable {
        /// ASN.1's own types.
        case universal = 0
        /// An application's.
        case application = 1
        /// The surrounding type's.
        case context = 2
        /// An organisation's.
        case `private` = 3
    }

    /// The numbers of ASN.1's own types.
    public enum Tag {
        /// BOOLEAN.
        public static let boolean = 1
        /// INTEGER.
        public static let integer = 2
        /// BIT STRING.
        public static let bitString = 3
        /// OCTET STRING.
        public static let octetString = 4
        /// NULL.
        public static let null = 5
        /// OBJECT IDENTIFIER.
        public static let objectIdentifier = 6
        /// ENUMERATED.
        public static let enumerated = 10
        /// UTF8String.
        public static let utf8String = 12
        /// SEQUENCE.
        public static let sequence = 16
        /// SET.
        public static let set = 17
        /// PrintableString.
        public static let printableString = 19
        /// IA5String.
        public static let ia5String = 22
        /// UTCTime.
        public static let utcTime = 23
        /// GeneralizedTime.
        public static let generalizedTime = 24
    }

    /// Any element: its tag, its length in as few bytes as will do, and its contents.
    public static func element(
        _ tagClass: TagClass, _ number: Int, constructed: Bool = false, _ content: [UInt8]
    ) -> [UInt8] {
        tag(tagClass, number, constructed) + length(content.count) + content
    }

    /// An element of one of ASN.1's own types.
    public static func element(_ tag: Int, constructed: Bool = false, _ content: [UInt8]) -> [UInt8] {
        element(.universal, tag, constructed: constructed, content)
    }

    /// SEQUENCE of elements in this order.
    public static func sequence(_ elements: [[UInt8]]) -> [UInt8] {
        element(Tag.sequence, constructed: true, Array(elements.joined()))
    }

    /// SET OF elements, in the order of their encodings.
    public static func set(_ elements: [[UInt8]]) -> [UInt8] {
        let sorted = elements.sorted { $0.lexicographicallyPrecedes($1) }
        return element(Tag.set, constructed: true, Array(sorted.joined()))
    }

    /// INTEGER.
    public static func integer(_ value: Int64) -> [UInt8] { element(Tag.integer, twosComplement(value)) }

    /// INTEGER of a number from 0 up, given as big-endian bytes with or without leading zeros.
    public static func integer(magnitude: [UInt8]) -> [UInt8] {
        let digits = Array(magnitude.drop { $0 == 0 })
        let needsZero = (digits.first ?? 0x80) >= 0x80
        return element(Tag.integer, needsZero ? [0] + digits : digits)
    }

    /// ENUMERATED.
    public static func enumerated(_ value: Int64) -> [UInt8] { element(Tag.enumerated, twosComplement(value)) }

    /// BOOLEAN.
    public static func boolean(_ value: Bool) -> [UInt8] { element(Tag.boolean, [value ? 0xFF : 0]) }

    /// NULL.
    public static var null: [UInt8] { element(Tag.null, []) }

    /// OCTET STRING.
    public static func octetString(_ bytes: [UInt8]) -> [UInt8] { element(Tag.octetString, bytes) }

    /// BIT STRING of whole bytes, less so many unused bits at the end, which must be zero.
    public static func bitString(_ bytes: [UInt8], unusedBits: UInt8 = 0) -> [UInt8] {
        precondition(unusedBits < 8 && (unusedBits == 0 || bytes.last.map { $0 & (1 << unusedBits - 1) == 0 } == true))
        return element(Tag.bitString, [unusedBits] + bytes)
    }

    /// BIT STRING whose bits have names: those set, by number, without trailing zeros (X.690 11.2.2).
    public static func namedBits(_ set: Set<Int>) -> [UInt8] {
        guard let last = set.max() else { return element(Tag.bitString, [0]) }
        var bytes = [UInt8](repeating: 0, count: last / 8 + 1)
        for bit in set { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
        return bitString(bytes, unusedBits: UInt8(7 - last % 8))
    }

    /// OBJECT IDENTIFIER of dotted numbers, such as `1.2.840.10045.2.1`.
    ///
    /// The text must be one: identifiers are constants of the program.
    public static func oid(_ dotted: String) -> [UInt8] {
        let arcs = dotted.split(separator: ".", omittingEmptySubsequences: false).map { UInt64($0) }
        let numbers = arcs.compactMap(\.self)
        precondition(
            numbers.count == arcs.count && numbers.count >= 2 && numbers[0] < 3 && (numbers[0] == 2 || numbers[1] < 40),
            "not an object identifier: \(dotted)")
        let content = ([numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2)).flatMap { base128($0) }
        return element(Tag.objectIdentifier, content)
    }

    /// UTF8String.
    public static func utf8String(_ text: String) -> [UInt8] { element(Tag.utf8String, [UInt8](text.utf8)) }

    /// PrintableString; the text must be of its characters.
    public static func printableString(_ text: String) -> [UInt8] { element(Tag.printableString, [UInt8](text.utf8)) }

    /// UTCTime in the years 1950...2049 and GeneralizedTime otherwise, as certificates want it (RFC 5280 4.1.2.5).
    public static func time(_ instant: Instant) -> [UInt8] {
        let time = CalendarTime(instant)
        let rest = [time.month, time.day, time.hour, time.minute, time.second].map { CalendarTime.padded($0) }.joined()
        guard (1950...2049).contains(time.year) else {
            return element(Tag.generalizedTime, [UInt8]("\(CalendarTime.padded(time.year, 4))\(rest)Z".utf8))
        }
        return element(Tag.utcTime, [UInt8]("\(CalendarTime.padded(time.year % 100))\(rest)Z".utf8))
    }

    /// An element inside a context tag of its own.
    public static func explicit(_ number: Int, _ inner: [UInt8]) -> [UInt8] {
        element(.context, number, constructed: true, inner)
    }

    /// Contents under a context tag in the place of their own.
    public static func implicit(_ number: Int, constructed: Bool = false, _ content: [UInt8]) -> [UInt8] {
        element(.context, number, constructed: constructed, content)
    }
}

extension DER {
    private static func tag(_ tagClass: TagClass, _ number: Int, _ constructed: Bool) -> [UInt8] {
        precondition(number >= 0)
        let first = tagClass.rawValue << 6 | (constructed ? 0x20 : 0)
        return number < 31 ? [first | UInt8(number)] : [first | 31] + base128(UInt64(number))
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 128 else { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    /// Seven bits a byte, the highest first, the top bit set on all but the last.
    private static func base128(_ value: UInt64) -> [UInt8] {
        var bytes = [UInt8(value & 0x7F)]
        var rest = value >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }

    private static func twosComplement(_ value: Int64) -> [UInt8] {
        var bytes = withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) }
        while bytes.count > 1, bytes[0] == (bytes[1] >= 0x80 ? 0xFF : 0) { bytes.removeFirst() }
        return bytes
    }
}
