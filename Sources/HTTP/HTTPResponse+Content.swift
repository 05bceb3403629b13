public import Encoding

extension HTTPResponse {
    /// A JSON response with `Content-Type: application/json`.
    ///
    /// - Parameter fields: More header fields; they come first, and a Content-Type among them is kept instead.
    public static func json(_ value: JSON, status: Int = 200, fields: HTTPFields = [:]) -> HTTPResponse {
        content(value.serialized(), type: "application/json", status: status, fields: fields)
    }

    /// A plain text response with `Content-Type: text/plain; charset=utf-8`.
    public static func text(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> HTTPResponse {
        content(Array(text.utf8), type: "text/plain; charset=utf-8", status: status, fields: fields)
    }

    /// A response with any media type.
    public static func content(
        _ body: [UInt8], type: String, status: Int = 200, fields: HTTPFields = [:]
    ) -> HTTPResponse {
        var fields = fields
        if !fields.contains("Content-Type") { fields.append("Content-Type", type) }
        return HTTPResponse(status: status, fields: fields, body: body)
    }

    /// A problem report with `Content-Type: application/problem+json` (RFC 9457).
    ///
    /// - Parameters:
    ///   - status: The status code, repeated in the body.
    ///   - title: What kind of problem this is; the same for every occurrence.
    ///   - detail: What is wrong this time.
    ///   - type: A URI naming the kind of problem.
    ///   - extra: More members, after the standard ones.
    ///   - fields: More header fields.
    public static func problem(
        status: Int, title: String, detail: String? = nil, type: String = "about:blank",
        extra: [(String, JSON)] = [], fields: HTTPFields = [:]
    ) -> HTTPResponse {
        var members: [(String, JSON)] = [
            ("type", .string(type)), ("title", .string(title)), ("status", .int(Int64(status))),
        ]
        if let detail { members.append(("detail", .string(detail))) }
        return content(
            JSON.object(members + extra).serialized(), type: "application/problem+json", status: status,
            fields: fields)
    }

    /// The problem report a server sends for what a decoder refused; the connection is closed after it.
    public static func problem(_ fault: HTTPFault) -> HTTPResponse {
        problem(
            status: fault.httpStatus, title: ReasonPhrase.of(fault.httpStatus), detail: fault.description,
            extra: [("code", .string(fault.code))], fields: ["Connection": "close"])
    }
}
