/// One header or trailer field, with its name in the case it was given.
public struct HTTPField: Sendable, Codable {
    /// The field name, case kept; names compare without regard to ASCII case.
    public var name: String
    /// The field value without the blanks around it.
    public var value: String

    /// Makes a field from a name and a value, neither of which is checked here.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPField: Equatable {
    /// Compares names without case and values octet by octet.
    public static func == (left: HTTPField, right: HTTPField) -> Bool {
        ASCIIText.equalIgnoringCase(left.name, right.name) && ASCIIText.identical(left.value, right.value)
    }
}

/// The header (or trailer) fields of a message, in the order and case they have on the wire.
///
/// The same name may occur many times, because a virtual phone must be able to send what a real one must not:
/// two `DPoP` fields, say. Nothing is checked on the way in. `HTTPEncoder` refuses names that are not tokens and
/// values holding control characters, with an error, before a single octet leaves; the decoders never produce
/// them. Source: RFC 9110 section 5.
public struct HTTPFields: Sendable, Equatable, Codable {
    private var fields: [HTTPField]

    /// Makes an empty list.
    public init() { fields = [] }

    /// Makes a list from pairs, keeping their order and repeats.
    public init(_ pairs: [(String, String)]) {
        fields = pairs.map { HTTPField(name: $0.0, value: $0.1) }
    }

    /// Makes a list from fields, keeping their order and repeats.
    public init(_ fields: [HTTPField]) { self.fields = fields }

    /// The value of the one field with this name, or of the first of several; nil when there is none.
    ///
    /// Assigning replaces every field of that name by one (see `set`); assigning nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { ASCIIText.equalIgnoringCase($0.name, name) }?.value }
        set {
            if let newValue { set(name, newValue) } else { remove(name) }
        }
    }

    /// The values of every field with this name, in order.
    public func values(_ name: String) -> [String] {
        var values: [String] = []
        for field in fields where ASCIIText.equalIgnoringCase(field.name, name) { values.append(field.value) }
        return values
    }

    /// Whether at least one field has this name.
    public func contains(_ name: String) -> Bool {
        fields.contains { ASCIIText.equalIgnoringCase($0.name, name) }
    }

    /// Adds a field after all others, even when the name is already there.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(HTTPField(name: name, value: value))
    }

    /// Leaves exactly one field of this name, at the place of the first one or at the end.
    public mutating func set(_ name: String, _ value: String) {
        guard let place = fields.firstIndex(where: { ASCIIText.equalIgnoringCase($0.name, name) }) else {
            append(name, value)
            return
        }
        fields[place] = HTTPField(name: name, value: value)
        guard place + 1 < fields.count else { return }
        let later = fields[(place + 1)...].filter { !ASCIIText.equalIgnoringCase($0.name, name) }
        fields.replaceSubrange((place + 1)..., with: later)
    }

    /// Removes every field of this name.
    public mutating func remove(_ name: String) {
        fields.removeAll { ASCIIText.equalIgnoringCase($0.name, name) }
    }

    /// The members of a comma-separated list field, blanks trimmed and empty members dropped (RFC 9110 5.6.1).
    ///
    /// Splits at every comma, so it serves lists of tokens (`Connection`, `Expect`), not of quoted strings.
    public func tokens(_ name: String) -> [String] {
        var tokens: [String] = []
        for field in fields where ASCIIText.equalIgnoringCase(field.name, name) {
            for member in field.value.utf8.split(separator: Byte.comma) {
                let trimmed = ASCIIText.trimmed(Substring(member))
                if !trimmed.isEmpty { tokens.append(String(trimmed)) }
            }
        }
        return tokens
    }

    /// Whether a comma-separated list field has this member, without regard to ASCII case.
    public func hasToken(_ token: String, in name: String) -> Bool {
        guard contains(name) else { return false }
        return tokens(name).contains { ASCIIText.equalIgnoringCase($0, token) }
    }
}

extension HTTPFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { 0 }
    /// One past the position of the last field.
    public var endIndex: Int { fields.count }
    /// The field at a position.
    public subscript(position: Int) -> HTTPField { fields[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Makes a list from a literal, keeping order and repeats.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

extension HTTPFields: CustomStringConvertible, CustomDebugStringConvertible {
    /// The names only: values carry tokens, proofs and cookies.
    public var description: String { fields.map(\.name).joined(separator: ", ") }

    /// The same as `description`, so that no debugger or test failure prints a secret.
    public var debugDescription: String { "[\(description)]" }
}

extension HTTPField: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name and the length of the value, never the value.
    public var description: String { "\(name): (\(value.utf8.count) octets)" }

    /// The same as `description`.
    public var debugDescription: String { description }
}
