/// Why a decoder refused what its peer sent; the connection is of no further use.
///
/// Each case names one rule of RFC 9112 or one limit. A server answers `httpStatus` and closes; a client gives
/// the exchange up and closes.
public enum HTTPFault: Error, Sendable, Equatable {
    /// The start line is longer than the limit.
    case startLineTooLong(limit: Int)
    /// The request line is not `method SP target SP version`.
    case malformedRequestLine
    /// The method is not a token.
    case malformedMethod
    /// The method is longer than the limit.
    case methodTooLong(limit: Int)
    /// The request target holds a character or percent triplet that no URI has, or a bad authority.
    case malformedTarget
    /// The request target has a form its method does not allow, or none of the four forms.
    case wrongTargetForm
    /// The version is not `HTTP/` digit dot digit.
    case malformedVersion
    /// The version is well formed but neither 1.0 nor 1.1.
    case unsupportedVersion(String)
    /// The status line is not `version SP three digits [SP reason]`.
    case malformedStatusLine

    /// A line ends in LF without CR.
    case bareLineFeed
    /// A CR stands anywhere but right before LF.
    case bareCarriageReturn
    /// A field line is longer than the limit.
    case fieldLineTooLong(limit: Int)
    /// There are more fields than the limit.
    case tooManyFields(limit: Int)
    /// The field section is larger than the limit.
    case fieldsTooLarge(limit: Int)
    /// A field line starts with a blank: obsolete line folding.
    case foldedFieldLine
    /// A field line has no colon.
    case missingColon
    /// A blank stands between a field name and its colon.
    case blankBeforeColon
    /// A field name is empty or not a token.
    case malformedFieldName
    /// A field value holds a control character.
    case malformedFieldValue(name: String)

    /// An HTTP/1.1 request has no Host field.
    case missingHost
    /// A request has more than one Host field.
    case repeatedHost
    /// The Host field is not a host with an optional port.
    case malformedHost

    /// Content-Length is not plain digits that fit in 63 bits.
    case malformedContentLength
    /// More than one Content-Length, in several fields or in one list.
    case repeatedContentLength
    /// Content-Length and Transfer-Encoding together.
    case contentLengthWithTransferEncoding
    /// Transfer-Encoding is empty, not a list of tokens, or names `chunked` twice.
    case malformedTransferEncoding
    /// Transfer-Encoding names a coding other than `chunked`.
    case unsupportedTransferCoding
    /// Transfer-Encoding in an HTTP/1.0 message.
    case transferEncodingInHTTP10
    /// The body is, or announces that it will be, larger than the limit.
    case bodyTooLarge(limit: Int)

    /// A chunk size is not hexadecimal digits that fit in 63 bits.
    case malformedChunkSize
    /// What follows a chunk size is not a list of chunk extensions.
    case malformedChunkExtension
    /// A chunk-size line is longer than the limit.
    case chunkLineTooLong(limit: Int)
    /// The chunk extensions of one message are together larger than the limit.
    case chunkExtensionsTooLarge(limit: Int)
    /// The data of a chunk is not followed by CRLF.
    case missingChunkEnd
    /// A trailer field that only makes sense before the body.
    case forbiddenTrailer(name: String)

    /// Bytes came from the server that answer no request.
    case unsolicitedResponse
    /// More 1xx responses than the limit.
    case tooManyInterimResponses(limit: Int)
    /// 101 Switching Protocols, which nothing here ever asks for.
    case unexpectedUpgrade

    /// The peer closed the connection in the middle of a message.
    case truncated(Part)

    /// The part of a message in which a connection ended.
    public enum Part: String, Sendable, Equatable {
        /// A response was awaited and not one octet of it came.
        case start
        /// In the start line or the header fields.
        case head
        /// In the body.
        case body
        /// In the trailer fields.
        case trailers
    }

    /// The status code a server answers this fault with.
    public var httpStatus: Int {
        switch self {
        case .startLineTooLong: 414
        case .fieldLineTooLong, .tooManyFields, .fieldsTooLarge: 431
        case .bodyTooLarge: 413
        case .methodTooLong, .unsupportedTransferCoding: 501
        case .unsupportedVersion: 505
        default: 400
        }
    }
}

extension HTTPFault: CustomStringConvertible {
    /// A stable dotted name for logs and tests.
    public var code: String { naming.code }

    /// The rule that was broken, with the limit or name it was broken by; never a field value or a target.
    public var description: String { naming.rule }

    /// One row per fault: its name and its rule.
    private var naming: (code: String, rule: String) {
        switch self {
        case .startLineTooLong(let limit): ("http.start-line.length", "start line longer than \(limit) octets")
        case .malformedRequestLine: ("http.request-line.syntax", "request line is not method, target, version")
        case .malformedMethod: ("http.method.syntax", "method is not a token")
        case .methodTooLong(let limit): ("http.method.length", "method longer than \(limit) octets")
        case .malformedTarget: ("http.target.syntax", "request target is not part of a URI")
        case .wrongTargetForm: ("http.target.form", "request target form does not fit the method")
        case .malformedVersion: ("http.version.syntax", "protocol version is malformed")
        case .unsupportedVersion(let version): ("http.version.unsupported", "\(version) is not spoken here")
        case .malformedStatusLine: ("http.status-line.syntax", "status line is not version, status, reason")
        case .bareLineFeed: ("http.line.bare-lf", "line ends in LF without CR")
        case .bareCarriageReturn: ("http.line.bare-cr", "CR without LF inside a line")
        case .fieldLineTooLong(let limit): ("http.field.length", "field line longer than \(limit) octets")
        case .tooManyFields(let limit): ("http.fields.count", "more than \(limit) fields")
        case .fieldsTooLarge(let limit): ("http.fields.size", "field section larger than \(limit) octets")
        case .foldedFieldLine: ("http.field.fold", "field line starts with a blank (obsolete folding)")
        case .missingColon: ("http.field.colon", "field line has no colon")
        case .blankBeforeColon: ("http.field.blank-before-colon", "blank between field name and colon")
        case .malformedFieldName: ("http.field.name", "field name is not a token")
        case .malformedFieldValue(let name): ("http.field.value", "control character in the value of \(name)")
        case .missingHost: ("http.host.missing", "HTTP/1.1 request without Host")
        case .repeatedHost: ("http.host.repeated", "more than one Host field")
        case .malformedHost: ("http.host.syntax", "Host is not a host with an optional port")
        case .malformedContentLength: ("http.content-length.syntax", "Content-Length is not plain digits")
        case .repeatedContentLength: ("http.content-length.repeated", "more than one Content-Length")
        case .contentLengthWithTransferEncoding:
            ("http.framing.conflict", "Content-Length together with Transfer-Encoding")
        case .malformedTransferEncoding: ("http.transfer-encoding.syntax", "Transfer-Encoding is malformed")
        case .unsupportedTransferCoding:
            ("http.transfer-encoding.unsupported", "a transfer coding other than chunked")
        case .transferEncodingInHTTP10: ("http.transfer-encoding.version", "Transfer-Encoding in HTTP/1.0")
        case .bodyTooLarge(let limit): ("http.body.size", "body larger than \(limit) octets")
        case .malformedChunkSize: ("http.chunk.size", "chunk size is not hexadecimal digits")
        case .malformedChunkExtension: ("http.chunk.extension", "chunk extension is malformed")
        case .chunkLineTooLong(let limit): ("http.chunk.line-length", "chunk line longer than \(limit) octets")
        case .chunkExtensionsTooLarge(let limit):
            ("http.chunk.extensions-size", "chunk extensions larger than \(limit) octets")
        case .missingChunkEnd: ("http.chunk.end", "chunk data is not followed by CRLF")
        case .forbiddenTrailer(let name): ("http.trailer.forbidden", "\(name) is not allowed in trailers")
        case .unsolicitedResponse: ("http.response.unsolicited", "response to no request")
        case .tooManyInterimResponses(let limit): ("http.response.interim", "more than \(limit) 1xx responses")
        case .unexpectedUpgrade: ("http.response.upgrade", "101 without a request to switch protocols")
        case .truncated(let part): ("http.truncated.\(part.rawValue)", "connection closed in the \(part.rawValue)")
        }
    }
}
