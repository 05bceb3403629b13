/// A parsed media type such as `application/problem+json; charset=utf-8` (RFC 9110 section 8.3.1).
public struct MediaType: Sendable, Hashable {
    /// The part before the slash, lower-cased.
    public let type: String
    /// The part after the slash, lower-cased, suffix included.
    public let subtype: String
    /// The parameters in order; names lower-cased, values unquoted with their case kept.
    public let parameters: [Parameter]

    /// One parameter of a media type.
    public struct Parameter: Sendable, Hashable {
        /// The parameter name, lower-cased.
        public let name: String
        /// The value without quotes and escapes.
        public let value: String
    }

    /// Reads a media type; nil when it breaks the grammar.
    public init?(_ text: String) {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let type = reader.token(), reader.skip(Byte.slash), let subtype = reader.token() else { return nil }
        var parameters: [Parameter] = []
        while true {
            reader.skipBlanks()
            if reader.rest.isEmpty { break }
            guard reader.skip(Byte.semicolon) else { return nil }
            reader.skipBlanks()
            // An empty parameter, as in "a/b;" or "a/b; ;c=d", is allowed by the grammar of RFC 9110.
            if reader.rest.isEmpty || reader.rest.first == Byte.semicolon { continue }
            guard let name = reader.token(), reader.skip(Byte.equals), let value = reader.token() ?? reader.quoted()
            else { return nil }
            parameters.append(Parameter(name: ASCIIText.lowercased(name), value: value))
        }
        self.type = ASCIIText.lowercased(type)
        self.subtype = ASCIIText.lowercased(subtype)
        self.parameters = parameters
    }

    /// Reads the one Content-Type of a message; nil when it is missing, repeated or malformed.
    public init?(fields: HTTPFields) {
        let values = fields.values("Content-Type")
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }

    /// `type/subtype`, lower-cased, without parameters.
    public var essence: String { "\(type)/\(subtype)" }

    /// Whether the body is JSON: `application/json`, or any type whose subtype ends in `+json` (RFC 6839).
    public var isJSON: Bool {
        (type == "application" && subtype == "json") || (subtype.hasSuffix("+json") && subtype.utf8.count > 5)
    }

    /// Whether the body is a form: `application/x-www-form-urlencoded`.
    public var isForm: Bool { essence == "application/x-www-form-urlencoded" }

    /// The value of the first parameter with this name, without regard to ASCII case.
    public subscript(parameter name: String) -> String? {
        parameters.first { ASCIIText.equalIgnoringCase($0.name, name) }?.value
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skipBlanks() { rest = rest.drop(while: Byte.isBlank) }

        mutating func skip(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest.removeFirst()
            return true
        }

        mutating func token() -> String? {
            let token = rest.prefix(while: ByteSet.token.contains)
            guard !token.isEmpty else { return nil }
            rest = rest[token.endIndex...]
            return String(decoding: token, as: UTF8.self)
        }

        mutating func quoted() -> String? {
            guard skip(Byte.quote) else { return nil }
            var value: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == Byte.quote { return String(decoding: value, as: UTF8.self) }
                guard byte == Byte.backslash else {
                    value.append(byte)
                    continue
                }
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            }
            return nil
        }
    }
}
