import Encoding
import HTTP

/// The fields of a JSON request body, read strictly: what is not known is refused, not ignored.
struct BodyFields {
    private let object: JSONObject

    /// Reads a body that may hold the fields named; an empty body is an empty object.
    ///
    /// Throws `unsupported_media_type`, `malformed_json`, or `unknown_field` naming the field.
    init(of request: HTTPRequest, allowing names: [String]) throws(ControlProblem) {
        guard !request.body.isEmpty else {
            try self.init(JSONObject(), allowing: names)
            return
        }
        guard request.mediaType?.isJSON == true else {
            throw ControlProblem(
                status: 415, code: "unsupported_media_type", detail: "the body must be application/json")
        }
        let document: JSON
        do throws(JSONError) {
            document = try JSON(parsing: request.body)
        } catch {
            throw ControlProblem(status: 400, code: "malformed_json", detail: error.description, rule: error.code)
        }
        guard let object = document.object else {
            throw ControlProblem(
                status: 400, code: "malformed_json", detail: "the body must be an object, not \(document.kind)")
        }
        try self.init(object, allowing: names)
    }

    private init(_ object: JSONObject, allowing names: [String]) throws(ControlProblem) {
        if let unknown = object.names.first(where: { !names.contains($0) }) {
            throw ControlProblem(
                status: 422, code: "unknown_field",
                detail: "there is no field '\(unknown.prefix(80))' here; known are \(names.joined(separator: ", "))",
                field: String(unknown.prefix(80)), rule: "known fields only")
        }
        self.object = object
    }

    /// The fields of an object, nil where it is missing.
    func object(_ name: String, allowing names: [String]) throws(ControlProblem) -> BodyFields? {
        guard let value = value(name) else { return nil }
        guard let object = value.object else { throw .invalid(name, "an object", got: value) }
        return try BodyFields(object, allowing: names)
    }

    /// A value as it is, nil where it is missing.
    func json(_ name: String) -> JSON? { value(name) }

    /// Whether a field is there and not null.
    func has(_ name: String) -> Bool { value(name) != nil }

    private func value(_ name: String) -> JSON? { object[name].flatMap { $0 == .null ? nil : $0 } }

    /// A string that must be there, not empty, at most `longest` bytes.
    func string(_ name: String, _ meaning: String, longest: Int = 2048) throws(ControlProblem) -> String {
        guard let text = try optionalString(name, longest: longest) else { throw .missing(name, meaning) }
        return text
    }

    /// A string that may be missing; there, it must not be empty.
    func optionalString(_ name: String, longest: Int = 2048) throws(ControlProblem) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string, !text.isEmpty, text.utf8.count <= longest else {
            throw .invalid(name, "a string of 1 to \(longest) bytes", got: value)
        }
        return text
    }

    /// A text that may be empty, such as a body.
    func optionalText(_ name: String) throws(ControlProblem) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw .invalid(name, "a string", got: value) }
        return text
    }

    /// True or false, false where it is missing.
    func flag(_ name: String) throws(ControlProblem) -> Bool {
        guard let value = value(name) else { return false }
        guard let flag = value.bool else { throw .invalid(name, "true or false", got: value) }
        return flag
    }

    /// A list of strings, empty where it is missing.
    func strings(_ name: String, most: Int = 256) throws(ControlProblem) -> [String] {
        guard let value = value(name) else { return [] }
        guard let elements = value.array, elements.count <= most else {
            throw .invalid(name, "a list of at most \(most) strings", got: value)
        }
        var strings: [String] = []
        for element in elements {
            guard let text = element.string else { throw .invalid(name, "a list of strings", got: element) }
            strings.append(text)
        }
        return strings
    }

    /// A list of anything, empty where it is missing.
    func list(_ name: String, most: Int) throws(ControlProblem) -> [JSON] {
        guard let value = value(name) else { return [] }
        guard let elements = value.array, elements.count <= most else {
            throw .invalid(name, "a list of at most \(most) entries", got: value)
        }
        return elements
    }

    /// A list of name and value pairs, empty where it is missing.
    func pairs(_ name: String, most: Int = 128) throws(ControlProblem) -> [(String, String)] {
        guard let value = value(name) else { return [] }
        let rule = "a list of at most \(most) [name, value] pairs"
        guard let elements = value.array, elements.count <= most else { throw .invalid(name, rule, got: value) }
        var pairs: [(String, String)] = []
        for element in elements {
            guard let pair = element.array, pair.count == 2, let first = pair[0].string, let second = pair[1].string
            else { throw .invalid(name, rule, got: element) }
            pairs.append((first, second))
        }
        return pairs
    }
}

/// The parameters of a query, read strictly.
struct QueryFields {
    private let form: FormFields

    /// Reads a query that may hold the parameters named.
    init(of request: HTTPRequest, allowing names: [String]) throws(ControlProblem) {
        do throws(EncodingError) {
            form = try FormFields(decoding: Array((request.query ?? "").utf8))
        } catch {
            throw ControlProblem(
                status: 400, code: "invalid_field", detail: "the query cannot be read: \(error)", field: "query",
                rule: error.code)
        }
        if let repeated = form.repeatedNames.first {
            throw .invalid(repeated, "a parameter stands once", got: .string("it twice"))
        }
        if let unknown = form.fields.first(where: { !names.contains($0.name) }) {
            throw ControlProblem(
                status: 422, code: "unknown_field",
                detail: "there is no parameter '\(unknown.name.prefix(80))' here", field: unknown.name,
                rule: "known parameters only")
        }
    }

    /// A parameter's text, nil where it is missing.
    subscript(name: String) -> String? { form[name] }

    /// A parameter that must be there.
    func string(_ name: String, _ meaning: String) throws(ControlProblem) -> String {
        guard let text = form[name], !text.isEmpty else { throw .missing(name, meaning) }
        return text
    }

    /// A whole number within bounds, or the value given where it is missing.
    func number(_ name: String, in bounds: ClosedRange<Int>, or standard: Int) throws(ControlProblem) -> Int {
        guard let text = form[name] else { return standard }
        guard let number = Int(text), bounds.contains(number) else {
            throw .invalid(
                name, "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)", got: .string(text))
        }
        return number
    }

    /// `true` or `false`, false where it is missing.
    func flag(_ name: String) throws(ControlProblem) -> Bool {
        switch form[name] {
        case nil, "false": false
        case "true": true
        case let text?: throw .invalid(name, "true or false", got: .string(text))
        }
    }
}
