/// The fields of an `application/x-www-form-urlencoded` body, in the order they were written.
///
/// Repeated names are kept, since OAuth forbids them and a server must be able to say so
/// (RFC 6749 section 3.1).
public struct FormFields: Sendable, Hashable, Codable {
    /// One name with its value, both decoded.
    public struct Field: Sendable, Hashable, Codable {
        /// The field's name.
        public let name: String
        /// The field's value; empty where the body had none.
        public let value: String
    }

    /// The most fields a decoded body may have.
    public static let fieldLimit = 256

    /// The fields in order.
    public private(set) var fields: [Field]

    /// Builds a form from name and value pairs.
    public init(_ pairs: [(String, String)] = []) {
        fields = pairs.map { Field(name: $0.0, value: $0.1) }
    }

    /// Decodes a body; `+` is a blank.
    ///
    /// Throws on a malformed `%`, on text that is not UTF-8, and over ``fieldLimit`` fields.
    public init(decoding body: [UInt8]) throws(EncodingError) {
        fields = []
        guard !body.isEmpty else { return }
        for part in body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
            guard fields.count < Self.fieldLimit else { throw .tooManyFields(limit: Self.fieldLimit) }
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let value = equals == part.endIndex ? [] : part[(equals + 1)...]
            let field = Field(
                name: try PercentCoding.string(PercentCoding.bytes(part[..<equals], plusIsBlank: true)),
                value: try PercentCoding.string(PercentCoding.bytes(value, plusIsBlank: true)))
            fields.append(field)
        }
    }

    /// The fields as pairs, in order.
    public var pairs: [(name: String, value: String)] { fields.map { ($0.name, $0.value) } }

    /// The first value of a name, or nil where the name does not occur.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Every value of a name, in order.
    public func values(_ name: String) -> [String] {
        fields.compactMap { $0.name == name ? $0.value : nil }
    }

    /// The names that occur more than once, each once, in order of first occurrence.
    public var repeatedNames: [String] {
        var seen: Set<String> = []
        var repeated: [String] = []
        for field in fields where !seen.insert(field.name).inserted && !repeated.contains(field.name) {
            repeated.append(field.name)
        }
        return repeated
    }

    /// Adds a field behind the others.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The body: every byte but unreserved ones is percent-encoded, so a blank is `%20` and `+` is `%2B`.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { output.append(UInt8(ascii: "&")) }
            for byte in field.name.utf8 { PercentCoding.append(byte, to: &output) }
            output.append(UInt8(ascii: "="))
            for byte in field.value.utf8 { PercentCoding.append(byte, to: &output) }
        }
        return output
    }
}

extension FormFields: CustomStringConvertible {
    /// The names alone: values are often codes and tokens.
    public var description: String { "form(" + fields.map(\.name).joined(separator: ", ") + ")" }
}
