/// Where something stands in a text: line and column, both beginning with 1; columns count characters.
public struct TextPlace: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line.
    public let line: Int
    /// The character in the line.
    public let column: Int

    /// Makes a place.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// `line:column`.
    public var description: String { "\(line):\(column)" }

    /// Earlier in the text comes first.
    public static func < (left: TextPlace, right: TextPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A value read from JSON5, with the place of each of its parts, so that whoever finds a fault can say where.
///
/// Source: spec.json5.org. Numbers are as JSON has them; `Infinity`, `NaN` and hexadecimal are refused.
public struct JSON5Value: Sendable, Hashable {
    /// What it is.
    public enum Content: Sendable, Hashable {
        /// `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number without fraction or exponent.
        case int(Int64)
        /// Another number.
        case double(Double)
        /// A text.
        case string(String)
        /// A list.
        case array([JSON5Value])
        /// An object, its members in the order they stand; no name stands twice.
        case object([Member])
    }

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// Where the name stands.
        public let place: TextPlace
        /// Its value.
        public let value: JSON5Value
    }

    /// What it is.
    public let content: Content
    /// Where it begins.
    public let place: TextPlace

    init(content: Content, place: TextPlace) {
        self.content = content
        self.place = place
    }

    /// The kind's name, as JSON calls it.
    public var kind: String {
        switch content {
        case .null: "null"
        case .bool: "boolean"
        case .int, .double: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The value of a member, or nil where this is no object or has none of the name.
    public subscript(name: String) -> JSON5Value? { members?.first { $0.name == name }?.value }

    /// The members, or nil where this is no object.
    public var members: [Member]? { if case .object(let members) = content { members } else { nil } }

    /// The elements, or nil where this is no list.
    public var elements: [JSON5Value]? { if case .array(let elements) = content { elements } else { nil } }

    /// The text, or nil where this is none.
    public var string: String? { if case .string(let text) = content { text } else { nil } }

    /// The whole number, or nil where this is none.
    public var int: Int64? { if case .int(let number) = content { number } else { nil } }

    /// The truth value, or nil where this is none.
    public var bool: Bool? { if case .bool(let flag) = content { flag } else { nil } }

    /// The value without its places.
    public var json: JSON {
        switch content {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .int(let number): .int(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.json))
        case .object(let members): .object(members.map { ($0.name, $0.value.json) })
        }
    }
}

/// Why a text is no JSON5, and where.
public struct JSON5Error: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where the fault stands.
    public let place: TextPlace
    /// What is wanted there.
    public let rule: String

    /// `line:column: rule`.
    public var description: String { "\(place): \(rule)" }
}
