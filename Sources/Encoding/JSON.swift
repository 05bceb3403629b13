/// A JSON value whose object members keep their order and whose integers keep their digits.
///
/// Foundation's reader accepts repeated names and its writer escapes `/` and reorders members; a signed
/// token can afford neither, so the program has one small JSON of its own (RFC 8259).
public enum JSON: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number written without fraction and exponent that fits 64 bits.
    case int(Int64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object, without repeated names.
    case object(JSONObject)

    /// The string, or nil where this is something else.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The integer, or nil where this is something else, fractions included.
    public var int: Int64? {
        if case .int(let value) = self { value } else { nil }
    }

    /// The truth value, or nil where this is something else.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements, or nil where this is something else.
    public var array: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The object, or nil where this is something else.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// A member of an object, or nil where this is no object or has no such member.
    public subscript(name: String) -> JSON? { object?[name] }

    /// Makes an object from members in order.
    public static func object(_ members: [(String, JSON)]) -> JSON { .object(JSONObject(members)) }

    /// What kind of value this is, in the words of an error text, such as `an object`.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .int, .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of a JSON object, in the order they were written, each name once.
public struct JSONObject: Sendable, Hashable {
    /// One name with its value.
    public struct Member: Sendable, Hashable {
        /// The member's name.
        public let name: String
        /// The member's value.
        public var value: JSON
    }

    /// The members in order.
    public private(set) var members: [Member]

    /// Builds an object; of a repeated name the last value stays, at the first place.
    public init(_ members: [(String, JSON)] = []) {
        self.members = []
        self.members.reserveCapacity(members.count)
        for (name, value) in members { self[name] = value }
    }

    /// For the reader, which has made sure that no name repeats.
    init(unique members: [Member]) { self.members = members }

    /// The names in order.
    public var names: [String] { members.map(\.name) }

    /// How many members there are.
    public var count: Int { members.count }

    /// The value of a name; setting nil removes the member, setting a new name adds it at the end.
    public subscript(name: String) -> JSON? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// Makes an object, members in the order written.
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
    /// Makes `null`.
    public init(nilLiteral: ()) { self = .null }
}
