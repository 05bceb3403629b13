/// Where and why bytes are not the DER this program accepts.
public struct DERError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that was broken.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// More bytes than the limit.
        case tooLong = "too_long"
        /// The bytes end inside an element.
        case truncated
        /// Bytes follow the element.
        case trailingBytes = "trailing_bytes"
        /// A length without a number, which is BER.
        case indefiniteLength = "indefinite_length"
        /// A length in more bytes than it needs.
        case lengthNotShortest = "length_not_shortest"
        /// A tag in more bytes than it needs, or a number beyond 32 bits.
        case tag
        /// Elements are nested deeper than the limit.
        case tooDeep = "too_deep"
        /// A string or number in parts, or a SEQUENCE or SET that has none, which is not DER.
        case form
        /// Another type stands here, or contents that are not the only encoding of a value of the type.
        case value
    }

    /// The rule that was broken.
    public let rule: Rule
    /// The byte offset at which it was noticed.
    public let offset: Int

    /// Names a broken rule and the byte offset of the breach.
    public init(rule: Rule, offset: Int) {
        self.rule = rule
        self.offset = offset
    }

    /// A stable name for this error, for reports and tests.
    public var code: String { "der.\(rule.rawValue)" }

    /// The rule and the place.
    public var description: String {
        let words = rule.rawValue.map { $0 == "_" ? " " : $0 }
        return "not acceptable DER: \(String(words)) at byte \(offset)"
    }
}

/// One element of a DER text (X.690), with those inside it.
public struct DERElement: Sendable, Hashable {
    /// Whose numbering the tag follows.
    public let tagClass: DER.TagClass
    /// The tag's number.
    public let number: Int
    /// The elements inside, or nil where the contents are a value.
    public let children: [DERElement]?
    /// The contents.
    public let content: ArraySlice<UInt8>
    /// The whole element: tag, length and contents.
    public let encoded: ArraySlice<UInt8>
    /// Where the element begins in the bytes that were read.
    public let offset: Int

    /// The deepest nesting the reader accepts, unless told otherwise.
    public static let depthLimit = 16
    /// The most bytes the reader accepts, unless told otherwise.
    public static let sizeLimit = 65_536

    /// Reads one element that is all of the bytes: definite and shortest lengths and tags, all the way down.
    ///
    /// Throws ``DERError`` with rule and byte offset. That values are the only encoding of what they say is looked
    /// at where they are asked for.
    public init(
        parsing bytes: [UInt8], depthLimit: Int = Self.depthLimit, sizeLimit: Int = Self.sizeLimit
    ) throws(DERError) {
        guard bytes.count <= sizeLimit else { throw DERError(rule: .tooLong, offset: sizeLimit) }
        var reader = DERReader(bytes: bytes, end: bytes.count, depthLimit: depthLimit)
        self = try reader.element(depth: 0)
        guard reader.offset == bytes.count else { throw DERError(rule: .trailingBytes, offset: reader.offset) }
    }

    init(
        tagClass: DER.TagClass, number: Int, children: [DERElement]?, content: ArraySlice<UInt8>,
        encoded: ArraySlice<UInt8>, offset: Int
    ) {
        self.tagClass = tagClass
        self.number = number
        self.children = children
        self.content = content
        self.encoded = encoded
        self.offset = offset
    }

    /// Elements are equal when their bytes are, wherever they were read.
    public static func == (left: DERElement, right: DERElement) -> Bool { left.encoded == right.encoded }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}

/// A recursive reader; recursion is bounded by `depthLimit`.
private struct DERReader {
    let bytes: [UInt8]
    var end: Int
    let depthLimit: Int
    var offset = 0

    init(bytes: [UInt8], end: Int, depthLimit: Int) {
        self.bytes = bytes
        self.end = end
        self.depthLimit = depthLimit
    }

    private func fault(_ rule: DERError.Rule, at offset: Int) -> DERError { DERError(rule: rule, offset: offset) }

    private mutating func byte() throws(DERError) -> UInt8 {
        guard offset < end else { throw fault(.truncated, at: end) }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func element(depth: Int) throws(DERError) -> DERElement {
        let start = offset
        let first = try byte()
        // Two bits: always one of the four.
        let tagClass = DER.TagClass(rawValue: first >> 6) ?? .private
        let constructed = first & 0x20 != 0
        let number = first & 31 == 31 ? try longTag(at: start) : Int(first & 31)
        let count = try length(at: start)
        guard count <= end - offset else { throw fault(.truncated, at: end) }
        let contentStart = offset
        if tagClass == .universal {
            let mustHaveParts = number == DER.Tag.sequence || number == DER.Tag.set
            guard constructed == mustHaveParts, number != 0 else { throw fault(.form, at: start) }
        }
        let inner = constructed ? try children(upTo: offset + count, depth: depth, at: start) : nil
        offset = contentStart + count
        return DERElement(
            tagClass: tagClass, number: number, children: inner, content: bytes[contentStart..<offset],
            encoded: bytes[start..<offset], offset: start)
    }

    private mutating func children(upTo limit: Int, depth: Int, at start: Int) throws(DERError) -> [DERElement] {
        guard depth < depthLimit else { throw fault(.tooDeep, at: start) }
        let outer = end
        defer { end = outer }
        end = limit
        var found: [DERElement] = []
        while offset < limit { found.append(try element(depth: depth + 1)) }
        return found
    }

    private mutating func longTag(at start: Int) throws(DERError) -> Int {
        var number = 0
        while true {
            let next = try byte()
            guard number != 0 || next != 0x80 else { throw fault(.tag, at: start) }
            number = number << 7 | Int(next & 0x7F)
            guard number <= Int(UInt32.max) else { throw fault(.tag, at: start) }
            if next & 0x80 == 0 { break }
        }
        guard number >= 31 else { throw fault(.tag, at: start) }
        return number
    }

    private mutating func length(at start: Int) throws(DERError) -> Int {
        let first = try byte()
        guard first >= 128 else { return Int(first) }
        guard first != 0x80 else { throw fault(.indefiniteLength, at: start) }
        let width = Int(first & 0x7F)
        // What has more bytes than four cannot be shorter than any limit.
        guard width <= 4 else { throw fault(.truncated, at: end) }
        var count = 0
        for index in 0..<width {
            let next = try byte()
            guard index > 0 || next != 0 else { throw fault(.lengthNotShortest, at: start) }
            count = count << 8 | Int(next)
        }
        guard count >= 128 else { throw fault(.lengthNotShortest, at: start) }
        return count
    }
}
