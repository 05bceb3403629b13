/// Why a message was not put on the wire.
public enum HTTPEncodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The method is not a token.
    case malformedMethod
    /// The target is empty or holds something other than visible ASCII.
    case malformedTarget
    /// A field name is not a token.
    case malformedFieldName
    /// A field value holds a control character.
    case malformedFieldValue(name: String)
    /// The reason phrase holds a control character.
    case malformedReason
    /// The status is not in 100...999.
    case malformedStatus(Int)
    /// An HTTP/1.1 request has no Host field, or any request has several.
    case hostNotSentOnce
    /// Content-Length is repeated or is not the length of the body.
    case wrongContentLength
    /// Transfer-Encoding is not `chunked`, or stands beside Content-Length, or is sent in HTTP/1.0.
    case wrongTransferEncoding
    /// A response with this status has no body, and so no framing fields either.
    case bodyNotAllowed(status: Int)

    /// A stable dotted name for logs and tests.
    public var code: String {
        switch self {
        case .malformedMethod: "http.encode.method"
        case .malformedTarget: "http.encode.target"
        case .malformedFieldName: "http.encode.field-name"
        case .malformedFieldValue: "http.encode.field-value"
        case .malformedReason: "http.encode.reason"
        case .malformedStatus: "http.encode.status"
        case .hostNotSentOnce: "http.encode.host"
        case .wrongContentLength: "http.encode.content-length"
        case .wrongTransferEncoding: "http.encode.transfer-encoding"
        case .bodyNotAllowed: "http.encode.body"
        }
    }

    /// The rule that was broken; never a field value.
    public var description: String {
        switch self {
        case .malformedMethod: "method is not a token"
        case .malformedTarget: "request target is not visible ASCII"
        case .malformedFieldName: "field name is not a token"
        case .malformedFieldValue(let name): "control character in the value of \(name)"
        case .malformedReason: "control character in the reason phrase"
        case .malformedStatus(let status): "status \(status) is not in 100...999"
        case .hostNotSentOnce: "Host is missing or repeated"
        case .wrongContentLength: "Content-Length is repeated or not the length of the body"
        case .wrongTransferEncoding: "Transfer-Encoding is not just chunked in HTTP/1.1 without Content-Length"
        case .bodyNotAllowed(let status): "a \(status) response has neither body nor framing fields"
        }
    }
}
