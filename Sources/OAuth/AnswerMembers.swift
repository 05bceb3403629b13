public import Encoding
internal import HTTP

/// The members of one endpoint's JSON answer: unknown ones are ignored, known ones are strict on type.
public struct AnswerMembers: Sendable, Equatable {
    /// The object as it was sent.
    public let object: JSONObject

    /// Takes an object that is already parsed.
    public init(_ object: JSONObject) { self.object = object }

    /// Reads the body of an answer.
    ///
    /// Throws ``AnswerError/notJSON(status:mediaType:)``, ``AnswerError/malformedJSON(status:rule:)`` or
    /// ``AnswerError/notAnObject(status:found:)``; each names the status, so that an error page of a proxy is
    /// recognised for what it is.
    public init(status: Int, mediaType: String?, body: [UInt8]) throws(AnswerError) {
        guard mediaType.flatMap(MediaType.init)?.isJSON ?? false else {
            throw .notJSON(status: status, mediaType: mediaType.map(DisplayText.shortened))
        }
        let json: JSON
        do { json = try JSON(parsing: body) } catch {
            throw .malformedJSON(status: status, rule: error.description)
        }
        guard let object = json.object else { throw .notAnObject(status: status, found: json.kind) }
        self.object = object
    }

    /// A string that must be there and must not be empty.
    public func string(_ name: String) throws(AnswerError) -> String {
        guard let value = try optionalString(name) else { throw .missing(member: name) }
        return value
    }

    /// A string that may be absent, but is neither empty nor of another type.
    public func optionalString(_ name: String) throws(AnswerError) -> String? {
        guard let json = object[name] else { return nil }
        guard let value = json.string else {
            throw .wrongType(member: name, expected: "a string", found: json.kind)
        }
        guard !value.isEmpty else { throw .unusable(member: name, rule: "it is empty") }
        return value
    }

    /// An integer that must be there and lie in the range.
    public func integer(_ name: String, in range: ClosedRange<Int64>) throws(AnswerError) -> Int64 {
        guard let value = try optionalInteger(name, in: range) else { throw .missing(member: name) }
        return value
    }

    /// An integer that may be absent, but is written without fraction and lies in the range.
    public func optionalInteger(_ name: String, in range: ClosedRange<Int64>) throws(AnswerError) -> Int64? {
        guard let json = object[name] else { return nil }
        guard let value = json.int else {
            throw .wrongType(member: name, expected: "an integer", found: json.kind)
        }
        guard range.contains(value) else {
            throw .unusable(member: name, rule: "\(value) is not in \(range.lowerBound)...\(range.upperBound)")
        }
        return value
    }

    /// A truth value that must be there.
    public func bool(_ name: String) throws(AnswerError) -> Bool {
        guard let json = object[name] else { throw .missing(member: name) }
        guard let value = json.bool else {
            throw .wrongType(member: name, expected: "a boolean", found: json.kind)
        }
        return value
    }

    /// Base64url bytes that must be there.
    public func bytes(_ name: String) throws(AnswerError) -> [UInt8] {
        let text = try string(name)
        do { return try Base64URL.decode(text) } catch {
            throw .unusable(member: name, rule: "not base64url, \(error.description)")
        }
    }

    /// A nested object that must be there.
    public func members(_ name: String) throws(AnswerError) -> AnswerMembers {
        guard let json = object[name] else { throw .missing(member: name) }
        guard let value = json.object else {
            throw .wrongType(member: name, expected: "an object", found: json.kind)
        }
        return AnswerMembers(value)
    }

    /// An array of strings that may be absent.
    public func optionalStrings(_ name: String) throws(AnswerError) -> [String]? {
        guard let json = object[name] else { return nil }
        let elements = json.array?.map(\.string)
        guard let elements, !elements.contains(nil) else {
            throw .wrongType(member: name, expected: "an array of strings", found: json.kind)
        }
        return elements.compactMap { $0 }
    }
}
