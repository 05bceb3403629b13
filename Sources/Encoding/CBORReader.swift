/// Where and why bytes are not the CBOR this program accepts.
public struct CBORError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that was broken.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// More bytes than the limit.
        case tooLong = "too_long"
        /// The bytes end inside a value.
        case truncated
        /// Bytes follow the value.
        case trailingBytes = "trailing_bytes"
        /// A number or length in more bytes than it needs.
        case notShortest = "not_shortest"
        /// A string, array or map without a length.
        case indefiniteLength = "indefinite_length"
        /// A map has a key twice, so two readers could see two values.
        case repeatedKey = "repeated_key"
        /// Arrays and maps are nested deeper than the limit.
        case tooDeep = "too_deep"
        /// A text string that is not UTF-8.
        case notUTF8 = "not_utf8"
        /// A tag, a float, or a simple value other than false, true and null.
        case unsupported
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
    public var code: String { "cbor.\(rule.rawValue)" }

    /// The rule and the place.
    public var description: String {
        let words = rule.rawValue.map { $0 == "_" ? " " : $0 }
        return "not acceptable CBOR: \(String(words)) at byte \(offset)"
    }
}

extension CBOR {
    /// The deepest nesting the reader accepts, unless told otherwise.
    public static let depthLimit = 8
    /// The most bytes the reader accepts, unless told otherwise.
    public static let sizeLimit = 65_536

    /// Reads one value that is all of the bytes: definite lengths, shortest forms, no key twice.
    ///
    /// Throws ``CBORError`` with rule and byte offset.
    public init(
        parsing bytes: [UInt8], depthLimit: Int = Self.depthLimit, sizeLimit: Int = Self.sizeLimit
    ) throws(CBORError) {
        let (value, count) = try Self.decodePrefix(bytes[...], depthLimit: depthLimit, sizeLimit: sizeLimit)
        guard count == bytes.count else { throw CBORError(rule: .trailingBytes, offset: count) }
        self = value
    }

    /// Reads the one value in front, as strictly, and says how many bytes it takes.
    ///
    /// Throws ``CBORError``, whose offset counts from the first of these bytes.
    public static func decodePrefix(
        _ bytes: ArraySlice<UInt8>, depthLimit: Int = Self.depthLimit, sizeLimit: Int = Self.sizeLimit
    ) throws(CBORError) -> (value: CBOR, count: Int) {
        guard bytes.count <= sizeLimit else { throw CBORError(rule: .tooLong, offset: sizeLimit) }
        var reader = CBORReader(bytes: bytes, depthLimit: depthLimit)
        let value = try reader.value(depth: 0)
        return (value, reader.offset)
    }
}

/// A recursive reader of one run of bytes; recursion is bounded by `depthLimit`.
private struct CBORReader {
    let bytes: ArraySlice<UInt8>
    let depthLimit: Int
    var offset = 0

    init(bytes: ArraySlice<UInt8>, depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
    }

    private func fault(_ rule: CBORError.Rule, at offset: Int) -> CBORError { CBORError(rule: rule, offset: offset) }

    mutating func value(depth: Int) throws(CBORError) -> CBOR {
        let start = offset
        let first = try take(1)[0]
        let (major, low) = (first >> 5, first & 31)
        guard major != 7 else { return try simple(low, at: start) }
        guard major != 6 else { throw fault(.unsupported, at: start) }
        let argument = try argument(low, isNumber: major < 2, at: start)
        switch major {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes(try take(argument))
        case 3:
            guard let text = String(validating: try take(argument), as: UTF8.self) else {
                throw fault(.notUTF8, at: start)
            }
            return .text(text)
        default:
            guard depth < depthLimit else { throw fault(.tooDeep, at: start) }
            return major == 4 ? try array(argument, depth: depth) : try map(argument, depth: depth)
        }
    }

    private func simple(_ low: UInt8, at start: Int) throws(CBORError) -> CBOR {
        switch low {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 31: throw fault(.indefiniteLength, at: start)
        default: throw fault(.unsupported, at: start)
        }
    }

    private mutating func argument(_ low: UInt8, isNumber: Bool, at start: Int) throws(CBORError) -> UInt64 {
        let width: UInt64
        switch low {
        case 0..<24: return UInt64(low)
        case 24...27: width = 1 << UInt64(low - 24)
        case 31 where !isNumber: throw fault(.indefiniteLength, at: start)
        default: throw fault(.unsupported, at: start)
        }
        let value = try take(width).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let least: UInt64 = low == 24 ? 24 : 1 << (4 * width)
        guard value >= least else { throw fault(.notShortest, at: start) }
        return value
    }

    /// The next so many bytes, which must be there before any memory is set aside for them.
    private mutating func take(_ count: UInt64) throws(CBORError) -> [UInt8] {
        guard count <= UInt64(bytes.count - offset) else { throw fault(.truncated, at: bytes.count) }
        let start = bytes.startIndex + offset
        offset += Int(count)
        return [UInt8](bytes[start..<start + Int(count)])
    }

    private mutating func array(_ count: UInt64, depth: Int) throws(CBORError) -> CBOR {
        guard count <= UInt64(bytes.count - offset) else { throw fault(.truncated, at: bytes.count) }
        var elements: [CBOR] = []
        for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
        return .array(elements)
    }

    private mutating func map(_ count: UInt64, depth: Int) throws(CBORError) -> CBOR {
        guard count <= UInt64(bytes.count - offset) / 2 else { throw fault(.truncated, at: bytes.count) }
        var pairs: [CBOR.Pair] = []
        var seen: Set<CBOR> = []
        for _ in 0..<count {
            let start = offset
            let key = try value(depth: depth + 1)
            guard seen.insert(key).inserted else { throw fault(.repeatedKey, at: start) }
            pairs.append(CBOR.Pair(key, try value(depth: depth + 1)))
        }
        return .map(pairs)
    }
}
