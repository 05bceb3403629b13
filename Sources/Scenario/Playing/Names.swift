import Encoding

/// Names in braces that stand for what is only known when a scenario is played, such as `{user:ada}`.
struct Names: Sendable {
    private var values: [String: String] = [:]

    /// What a name stands for.
    subscript(name: String) -> String? { values[name] }

    /// Says what a name stands for from here on.
    mutating func fill(_ name: String, _ value: String) { values[name] = value }

    /// A document with every known name in its texts replaced; others stay as they are.
    func filled(_ value: JSON) -> JSON {
        switch value {
        case .string(let text): .string(filled(text))
        case .array(let elements): .array(elements.map(filled))
        case .object(let object): .object(object.members.map { ($0.name, filled($0.value)) })
        case .null, .bool, .int, .double: value
        }
    }

    /// A text with every known name in it replaced, each once, so that a value can bring in no name.
    func filled(_ text: String) -> String {
        var filled = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            filled += rest[..<open]
            let behind = rest[rest.index(after: open)...]
            guard let close = behind.firstIndex(of: "}"), let value = values[String(behind[..<close])] else {
                filled += "{"
                rest = behind
                continue
            }
            filled += value
            rest = behind[behind.index(after: close)...]
        }
        return filled + rest
    }
}
