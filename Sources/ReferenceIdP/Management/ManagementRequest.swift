import Encoding
import HTTP
import Profiles

/// A call of the management API, as far as it can be read without the state.
struct ManagementRequest: Sendable {
    /// The body as the call may use it.
    enum Body: Sendable {
        case none
        case object(JSONObject)
        case malformed(String)
        /// A body of another media type.
        case foreign
    }

    let method: String
    /// The path behind `/manage`, in segments.
    let segments: [String]
    /// The query; nil where it is malformed.
    let query: FormFields?
    let body: Body

    init(_ request: HTTPRequest, prefix: String) {
        method = request.method
        segments = request.path.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: true)
            .map(String.init)
        query = try? FormFields(decoding: Array((request.query ?? "").utf8))
        body = Self.body(request)
    }

    private static func body(_ request: HTTPRequest) -> Body {
        guard !request.body.isEmpty else { return .none }
        guard request.mediaType?.isJSON ?? false else { return .foreign }
        do {
            let json = try JSON(parsing: request.body)
            return json.object.map(Body.object) ?? .malformed("the body is \(json.kind)")
        } catch {
            return .malformed(error.description)
        }
    }
}

/// A call that was matched to its route, with the path's parameters and the body's fields.
struct ManagementCall {
    let parameters: [String: String]
    let query: FormFields
    var fields: ManagementFields

    /// A parameter of the route's pattern.
    subscript(name: String) -> String {
        guard let value = parameters[name] else { preconditionFailure("the route has no parameter \(name)") }
        return value
    }

    /// `limit` and `after` of a listing.
    func page(limit most: Int) throws(Refusal) -> (after: String?, limit: Int) {
        guard let text = query["limit"] else { return (query["after"], most) }
        guard let limit = Int(text), (1...most).contains(limit) else {
            throw .problem(422, "invalid_field", "limit is 1 to \(most)", field: "limit", rule: "range")
        }
        return (query["after"], limit)
    }
}

extension Refusal {
    /// A refusal of the management API (RFC 9457).
    ///
    /// `field` and `rule` name what is at fault, where one is.
    static func problem(
        _ status: Int, _ code: String, _ detail: String, field: String? = nil, rule: String? = nil
    ) -> Refusal {
        var refusal = Refusal(
            .init(status: status, code: code), rule: "manage.\(rule ?? code)", expected: detail,
            actual: field.map { "another \($0)" } ?? "not so", detail: detail)
        if let field { refusal.members.append(("field", .string(field))) }
        if let rule { refusal.members.append(("rule", .string(rule))) }
        return refusal
    }

    /// The answer of the management API.
    func problem() -> PendingReply {
        let body: [(String, JSON)] = [
            ("type", .string("urn:understudy:problem:\(answer.code)")),
            ("title", .string(answer.code.replacing("_", with: " "))),
            ("status", .int(Int64(answer.status))), ("detail", .string(detail ?? expected)),
        ]
        var reply = PendingReply.json(answer.status, .object(body + members))
        reply.fields.set("Content-Type", "application/problem+json")
        return with(reply)
    }
}
