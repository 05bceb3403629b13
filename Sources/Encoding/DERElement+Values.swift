extension DERElement {
    /// Whether this is ASN.1's own type of this number, such as `DER.Tag.integer`.
    public func isUniversal(_ tag: Int) -> Bool { tagClass == .universal && number == tag }

    /// The number of its context tag, or nil where it has another kind of tag.
    public var contextTag: Int? { tagClass == .context ? number : nil }

    private var fault: DERError { DERError(rule: .value, offset: offset) }

    private func primitive(_ tag: Int) throws(DERError) -> ArraySlice<UInt8> {
        guard isUniversal(tag), children == nil else { throw fault }
        return content
    }

    /// The elements of a SEQUENCE; anything else is `DERError.Rule.value`.
    public func sequence() throws(DERError) -> [DERElement] {
        guard isUniversal(DER.Tag.sequence), let children else { throw fault }
        return children
    }

    /// The elements of a SET OF, which must be in DER's order; anything else is `DERError.Rule.value`.
    public func set() throws(DERError) -> [DERElement] {
        guard isUniversal(DER.Tag.set), let children else { throw fault }
        for (left, right) in zip(children, children.dropFirst())
        where right.encoded.lexicographicallyPrecedes(left.encoded) {
            throw fault
        }
        return children
    }

    /// The one element inside the context tag of this number; anything else is `DERError.Rule.value`.
    public func explicit(_ tag: Int) throws(DERError) -> DERElement {
        guard contextTag == tag, let children, children.count == 1 else { throw fault }
        return children[0]
    }

    /// The value of an INTEGER that fits 64 signed bits; anything else is `DERError.Rule.value`.
    public func integer() throws(DERError) -> Int64 { try number64(DER.Tag.integer) }

    /// The value of an ENUMERATED; anything else is `DERError.Rule.value`.
    public func enumerated() throws(DERError) -> Int64 { try number64(DER.Tag.enumerated) }

    /// The big-endian bytes of an INTEGER from 0 up, without leading zeros; anything else is `DERError.Rule.value`.
    public func magnitude() throws(DERError) -> [UInt8] {
        let bytes = try minimal(DER.Tag.integer)
        guard let first = bytes.first, first < 0x80 else { throw fault }
        return Array(bytes.drop { $0 == 0 })
    }

    /// The value of a BOOLEAN, 00 or FF; anything else is `DERError.Rule.value`.
    public func boolean() throws(DERError) -> Bool {
        switch Array(try primitive(DER.Tag.boolean)) {
        case [0xFF]: return true
        case [0]: return false
        default: throw fault
        }
    }

    /// Nothing, where this is NULL; anything else is `DERError.Rule.value`.
    public func null() throws(DERError) {
        guard try primitive(DER.Tag.null).isEmpty else { throw fault }
    }

    /// The bytes of an OCTET STRING; anything else is `DERError.Rule.value`.
    public func octetString() throws(DERError) -> [UInt8] { Array(try primitive(DER.Tag.octetString)) }

    /// The bytes of a BIT STRING and how many bits at their end are unused, which must be zero.
    ///
    /// Anything else is `DERError.Rule.value`.
    public func bitString() throws(DERError) -> (bytes: [UInt8], unusedBits: Int) {
        let content = try primitive(DER.Tag.bitString)
        guard let unused = content.first, unused < 8 else { throw fault }
        let bytes = Array(content.dropFirst())
        guard unused == 0 || (bytes.last ?? 0xFF) & (1 << unused - 1) == 0 else { throw fault }
        return (bytes, Int(unused))
    }

    /// The dotted numbers of an OBJECT IDENTIFIER; anything else is `DERError.Rule.value`.
    public func oid() throws(DERError) -> String {
        let content = try primitive(DER.Tag.objectIdentifier)
        var arcs: [UInt64] = []
        var value: UInt64 = 0
        var isWithin = false
        for byte in content {
            guard isWithin || byte != 0x80, value < 1 << 56 else { throw fault }
            value = value << 7 | UInt64(byte & 0x7F)
            isWithin = byte & 0x80 != 0
            guard !isWithin else { continue }
            if arcs.isEmpty {
                let root = min(value / 40, 2)
                arcs = [root, value - root * 40]
            } else {
                arcs.append(value)
            }
            value = 0
        }
        guard !arcs.isEmpty, !isWithin else { throw fault }
        return arcs.map(String.init).joined(separator: ".")
    }

    /// The text of a UTF8String, PrintableString or IA5String; anything else is `DERError.Rule.value`.
    public func string() throws(DERError) -> String {
        guard tagClass == .universal,
            [DER.Tag.utf8String, DER.Tag.printableString, DER.Tag.ia5String].contains(number),
            children == nil, let text = String(validating: content, as: UTF8.self)
        else { throw fault }
        return text
    }

    /// The instant of a UTCTime or GeneralizedTime in seconds and UTC; anything else is `DERError.Rule.value`.
    public func time() throws(DERError) -> Instant {
        let isShort = isUniversal(DER.Tag.utcTime)
        guard isShort || isUniversal(DER.Tag.generalizedTime), children == nil,
            content.count == (isShort ? 13 : 15), content.last == UInt8(ascii: "Z")
        else { throw fault }
        var numbers: [Int] = []
        var rest = content.dropLast()
        for width in [isShort ? 2 : 4, 2, 2, 2, 2, 2] {
            guard let number = Self.decimal(rest.prefix(width)) else { throw fault }
            numbers.append(number)
            rest = rest.dropFirst(width)
        }
        if isShort { numbers[0] += numbers[0] < 50 ? 2000 : 1900 }
        let time = CalendarTime(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5])
        guard let time else { throw fault }
        return time.instant
    }

    private static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }

    /// A number's bytes, which must be as few as will do.
    private func minimal(_ tag: Int) throws(DERError) -> ArraySlice<UInt8> {
        let bytes = try primitive(tag)
        guard let first = bytes.first else { throw fault }
        if bytes.count > 1, let second = bytes.dropFirst().first, first == (second >= 0x80 ? 0xFF : 0) { throw fault }
        return bytes
    }

    private func number64(_ tag: Int) throws(DERError) -> Int64 {
        let bytes = try minimal(tag)
        guard bytes.count <= 8, let first = bytes.first else { throw fault }
        return bytes.reduce(first >= 0x80 ? -1 : 0) { $0 << 8 | Int64($1) }
    }
}
