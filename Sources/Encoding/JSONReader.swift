/// Where and why a text is not the JSON this program accepts.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that was broken.
    public enum Rule: String, Sendable, Hashable {
        /// The bytes are not UTF-8, or a `\u` escape is half a surrogate pair.
        case notUTF8 = "not_utf8"
        /// A character that cannot stand here.
        case unexpectedCharacter = "unexpected_character"
        /// The text ends inside a value.
        case truncated
        /// Bytes follow the value.
        case trailingBytes = "trailing_bytes"
        /// An object names a member twice, so two readers could see two values.
        case repeatedName = "repeated_name"
        /// Arrays and objects are nested deeper than the limit.
        case tooDeep = "too_deep"
        /// A number JSON does not know, such as `01`, `+1` or `1e999`.
        case malformedNumber = "malformed_number"
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
    public var code: String { "json.\(rule.rawValue)" }

    /// The rule and the place.
    public var description: String {
        let words = rule.rawValue.map { $0 == "_" ? " " : $0 }
        return "not acceptable JSON: \(String(words)) at byte \(offset)"
    }
}

extension JSON {
    /// The deepest nesting the reader accepts, unless told otherwise.
    public static let depthLimit = 32

    /// Reads one JSON value that is the whole text (RFC 8259), more strictly than the RFC demands.
    ///
    /// Throws ``JSONError`` with rule and byte offset. Refuses repeated names and nesting beyond
    /// `depthLimit`; a number without fraction and exponent that exceeds 64 bits becomes a double.
    public init(parsing bytes: [UInt8], depthLimit: Int = Self.depthLimit) throws(JSONError) {
        let result: Result<JSON, JSONError> = bytes.withUnsafeBufferPointer { buffer in
            do throws(JSONError) {
                var reader = JSONReader(bytes: buffer, depthLimit: depthLimit)
                return .success(try reader.document())
            } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    /// Reads one JSON value from text; see ``init(parsing:depthLimit:)-([UInt8],_)``.
    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8))
    }
}

/// A recursive reader over one buffer; recursion is bounded by `depthLimit`.
private struct JSONReader {
    let bytes: UnsafeBufferPointer<UInt8>
    let depthLimit: Int
    var offset = 0

    init(bytes: UnsafeBufferPointer<UInt8>, depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
    }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value(depth: 0)
        skipBlanks()
        guard offset == bytes.count else { throw fault(.trailingBytes) }
        return value
    }

    private func fault(_ rule: JSONError.Rule) -> JSONError { JSONError(rule: rule, offset: offset) }

    private mutating func skipBlanks() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    /// The next byte that is no blank, left in place.
    private mutating func peek() throws(JSONError) -> UInt8 {
        skipBlanks()
        guard offset < bytes.count else { throw fault(.truncated) }
        return bytes[offset]
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        switch try peek() {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw fault(.unexpectedCharacter)
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let length = word.utf8CodeUnitCount
        for index in 0..<length {
            guard offset + index < bytes.count else { throw JSONError(rule: .truncated, offset: bytes.count) }
            guard bytes[offset + index] == word.utf8Start[index] else { throw fault(.unexpectedCharacter) }
        }
        offset += length
        return value
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        guard depth < depthLimit else { throw fault(.tooDeep) }
        offset += 1
        var elements: [JSON] = []
        if try peek() == UInt8(ascii: "]") {
            offset += 1
            return .array([])
        }
        while true {
            elements.append(try value(depth: depth + 1))
            if try closes(with: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        guard depth < depthLimit else { throw fault(.tooDeep) }
        offset += 1
        var members: [JSONObject.Member] = []
        var seen: Set<String> = []
        if try peek() == UInt8(ascii: "}") {
            offset += 1
            return .object(JSONObject())
        }
        while true {
            guard try peek() == UInt8(ascii: "\"") else { throw fault(.unexpectedCharacter) }
            let nameOffset = offset
            let name = try string()
            // A set only pays beyond a few members; most objects here have fewer.
            let known =
                members.count < 16
                ? members.contains { $0.name == name } : remember(name, in: &seen, beside: members)
            guard !known else { throw JSONError(rule: .repeatedName, offset: nameOffset) }
            guard try peek() == UInt8(ascii: ":") else { throw fault(.unexpectedCharacter) }
            offset += 1
            members.append(JSONObject.Member(name: name, value: try value(depth: depth + 1)))
            if try closes(with: UInt8(ascii: "}")) { return .object(JSONObject(unique: members)) }
        }
    }

    private func remember(_ name: String, in seen: inout Set<String>, beside members: [JSONObject.Member]) -> Bool {
        if seen.isEmpty { seen = Set(members.map(\.name)) }
        return !seen.insert(name).inserted
    }

    /// Consumes a comma (false) or the closing bracket (true).
    private mutating func closes(with bracket: UInt8) throws(JSONError) -> Bool {
        let byte = try peek()
        guard byte == bracket || byte == UInt8(ascii: ",") else { throw fault(.unexpectedCharacter) }
        offset += 1
        return byte == bracket
    }

    private mutating func string() throws(JSONError) -> String {
        offset += 1
        let start = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                let text = try validated(UnsafeBufferPointer(rebasing: bytes[start..<offset]), from: start)
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                return try escapedString(from: start)
            case 0..<0x20:
                throw fault(.unexpectedCharacter)
            default:
                offset += 1
            }
        }
        throw fault(.truncated)
    }

    private func validated(_ text: UnsafeBufferPointer<UInt8>, from start: Int) throws(JSONError) -> String {
        guard let string = String(validating: text, as: UTF8.self) else {
            throw JSONError(rule: .notUTF8, offset: start)
        }
        return string
    }

    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var text = Array(bytes[start..<offset])
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return try text.withUnsafeBufferPointerThrowing { buffer throws(JSONError) in
                    try validated(buffer, from: start)
                }
            case UInt8(ascii: "\\"):
                try appendEscape(to: &text)
            case 0..<0x20:
                throw fault(.unexpectedCharacter)
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw fault(.truncated)
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(JSONError) {
        guard offset + 1 < bytes.count else { throw JSONError(rule: .truncated, offset: bytes.count) }
        let letter = bytes[offset + 1]
        offset += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar()).utf8)
        default: throw JSONError(rule: .unexpectedCharacter, offset: offset - 1)
        }
    }

    /// The scalar of `\uXXXX`, or of two of them where the first is a high surrogate.
    private mutating func escapedScalar() throws(JSONError) -> Character {
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        let isHigh = (0xD800..<0xDC00).contains(first)
        guard isHigh, offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
            bytes[offset + 1] == UInt8(ascii: "u")
        else { throw fault(.notUTF8) }
        offset += 2
        let second = try fourDigits()
        guard (0xDC00..<0xE000).contains(second) else { throw fault(.notUTF8) }
        guard let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) else {
            throw fault(.notUTF8)
        }
        return Character(scalar)
    }

    private mutating func fourDigits() throws(JSONError) -> UInt32 {
        guard offset + 4 <= bytes.count else { throw JSONError(rule: .truncated, offset: bytes.count) }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hex.value(bytes[offset]) else { throw fault(.unexpectedCharacter) }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = offset
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        let integerDigits = try digits()
        let leadingZero = bytes[offset - integerDigits] == UInt8(ascii: "0")
        guard integerDigits == 1 || !leadingZero else { throw JSONError(rule: .malformedNumber, offset: start) }
        var isInteger = true
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            isInteger = false
            offset += 1
            _ = try digits()
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            offset += 1
            if offset < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[offset]) { offset += 1 }
            _ = try digits()
        }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
        if isInteger, let number = Int64(text) { return .int(number) }
        guard let number = Double(text), number.isFinite else {
            throw JSONError(rule: .malformedNumber, offset: start)
        }
        return .double(number)
    }

    /// Consumes at least one digit and says how many there were.
    private mutating func digits() throws(JSONError) -> Int {
        let start = offset
        while offset < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) { offset += 1 }
        guard offset > start else {
            throw JSONError(rule: offset == bytes.count ? .truncated : .malformedNumber, offset: offset)
        }
        return offset - start
    }
}

extension Array {
    /// Lends the elements to a closure that may throw one type of error.
    fileprivate func withUnsafeBufferPointerThrowing<T, E: Error>(
        _ body: (UnsafeBufferPointer<Element>) throws(E) -> T
    ) throws(E) -> T {
        let result: Result<T, E> = withUnsafeBufferPointer { buffer in
            do throws(E) { return .success(try body(buffer)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
