public import Encoding

/// Writes shapes as JSON Schema, draft 2020-12.
extension Shape {
    /// The schema of this shape.
    var schema: JSON {
        switch self {
        case .text(let words) where words.isEmpty: ["type": "string", "minLength": 1]
        case .text(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
        case .form(let form, let pattern):
            ["type": "string", "description": .string(form), "pattern": .string("^(?:\(pattern))$")]
        case .number(let bounds):
            ["type": "integer", "minimum": .int(bounds.lowerBound), "maximum": .int(bounds.upperBound)]
        case .fraction: ["type": "number", "minimum": 0, "maximum": 1]
        case .flag: ["type": "boolean"]
        case .list(let shape): ["type": "array", "items": shape.schema]
        case .map(let shape): ["type": "object", "additionalProperties": shape.schema]
        case .object(let keys): Self.schema(of: keys)
        case .either(let shapes): ["anyOf": .array(shapes.map(\.schema))]
        case .anything: [:]
        case .nothing: ["type": "null"]
        }
    }

    private static func schema(of keys: [Key]) -> JSON {
        let properties = keys.map { key -> (String, JSON) in
            var schema = key.shape.schema.object ?? JSONObject()
            schema["description"] = .string(key.help)
            return (key.name, .object(schema))
        }
        var members: [(String, JSON)] = [("type", "object"), ("properties", .object(properties))]
        let required = keys.filter(\.isRequired)
        if !required.isEmpty { members.append(("required", .array(required.map { .string($0.name) }))) }
        members.append(("additionalProperties", false))
        return .object(members)
    }
}

extension Scenario {
    /// The published JSON Schema of scenario files.
    public static var schema: JSON {
        var members: [(String, JSON)] = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("title", "An understudy scenario"),
        ]
        members += (Format.file.schema.object?.members ?? []).map { ($0.name, $0.value) }
        return .object(members)
    }
}
