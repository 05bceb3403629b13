/// What is wrong with an answer that should have been the JSON of a protocol endpoint.
///
/// No case carries a member's value: it may be a token or a code.
public enum AnswerError: Error, Hashable, Sendable, Codable {
    /// The body is not announced as JSON, such as an HTML error page.
    case notJSON(status: Int, mediaType: String?)
    /// The body is announced as JSON but breaks the rule named.
    case malformedJSON(status: Int, rule: String)
    /// The body is JSON of another kind than an object.
    case notAnObject(status: Int, found: String)
    /// A member that must be there is not.
    case missing(member: String)
    /// A member has another JSON type than it must have.
    case wrongType(member: String, expected: String, found: String)
    /// A member's value is of the right type and still cannot be, for the rule named.
    case unusable(member: String, rule: String)
    /// A status this call has no meaning for.
    case unexpectedStatus(Int)

    /// A stable name for this error, for reports and tests.
    public var code: String {
        switch self {
        case .notJSON: "oauth.answer.not_json"
        case .malformedJSON: "oauth.answer.malformed_json"
        case .notAnObject: "oauth.answer.not_an_object"
        case .missing: "oauth.answer.missing_member"
        case .wrongType: "oauth.answer.wrong_type"
        case .unusable: "oauth.answer.unusable_member"
        case .unexpectedStatus: "oauth.answer.unexpected_status"
        }
    }
}

extension AnswerError: CustomStringConvertible {
    /// The rule that was broken, with status, media type and names, never with a member's value.
    public var description: String {
        switch self {
        case .notJSON(let status, let mediaType):
            "answered \(status) with media type \(mediaType ?? "none") where JSON was expected"
        case .malformedJSON(let status, let rule): "answered \(status) with JSON that does not parse: \(rule)"
        case .notAnObject(let status, let found): "answered \(status) with \(found) where an object was expected"
        case .missing(let member): "the answer has no \(member)"
        case .wrongType(let member, let expected, let found): "\(member) is \(found) where \(expected) was expected"
        case .unusable(let member, let rule): "\(member) cannot be used: \(rule)"
        case .unexpectedStatus(let status): "answered \(status), which this call has no meaning for"
        }
    }
}
