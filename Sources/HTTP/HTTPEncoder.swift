/// Writes messages as HTTP/1.1 bytes.
///
/// Fields keep their order, case and repeats, so a message may hold two `DPoP` fields. Method, target, names, values
/// and reason are checked whatever the framing: CR, LF and NUL never get out. Source: RFC 9112.
public enum HTTPEncoder {
    /// Who answers for Host, Content-Length and Transfer-Encoding.
    public enum Framing: Sendable {
        /// The encoder adds what is missing and refuses what is wrong.
        case automatic
        /// The fields and the body go out exactly as they are: for a phone that misbehaves on purpose.
        case asGiven
    }

    /// The bytes of a request.
    ///
    /// With automatic framing Host must be there once; a Content-Length is appended when there is a body, or for
    /// POST, PUT and PATCH; `Transfer-Encoding: chunked`, given or appended for the sake of trailers, chunks the body.
    ///
    /// - Throws: `HTTPEncodingError`; nothing of the message may be sent then.
    public static func encode(
        _ request: HTTPRequest, framing: Framing = .automatic
    ) throws(HTTPEncodingError) -> [UInt8] {
        guard framing == .automatic else { return try head(request.head) + request.body }
        var head = request.head
        let hosts = head.fields.values("Host").count
        guard hosts == 1 || (hosts == 0 && head.version == .http10) else { throw .hostNotSentOnce }
        let wantsLength = !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method)
        let chunked = try frame(
            &head.fields, length: request.body.count, version: head.version, wantsLength: wantsLength,
            hasTrailers: !request.trailers.isEmpty)
        return try whole(try self.head(head), request.body, chunked: chunked, trailers: request.trailers)
    }

    /// The bytes of a response to a request with this method.
    ///
    /// With automatic framing Content-Length (or chunked coding, when given or when there are trailers) and the
    /// Connection field are added. The answer to HEAD has the length of the body, or without a body the length given,
    /// but not the body; 1xx, 204 and 304 have none.
    ///
    /// - Parameters:
    ///   - response: The response; its reason defaults to the usual phrase.
    ///   - method: The method of the request this answers.
    ///   - keepAlive: Whether the connection stays open afterwards; `Connection: close` is added otherwise.
    ///   - clientVersion: The version of the request: HTTP/1.0 clients get no chunks and are told about keep-alive.
    ///   - framing: Whether to add and check fields at all.
    /// - Throws: `HTTPEncodingError`; nothing of the message may be sent then.
    public static func encode(
        _ response: HTTPResponse, for method: String = "GET", keepAlive: Bool = true,
        clientVersion: HTTPVersion = .http11, framing: Framing = .automatic
    ) throws(HTTPEncodingError) -> [UInt8] {
        guard framing == .automatic else { return try head(response.head) + response.body }
        var head = response.head
        addConnection(&head.fields, keepAlive: keepAlive, clientVersion: clientVersion)
        let isSuccessOfConnect = method == "CONNECT" && (200..<300).contains(head.status)
        if head.status < 200 || head.status == 204 || isSuccessOfConnect {
            guard response.body.isEmpty, response.trailers.isEmpty, !head.fields.contains("Content-Length"),
                !head.fields.contains("Transfer-Encoding")
            else { throw .bodyNotAllowed(status: head.status) }
            return try self.head(head)
        }
        if head.status == 304 {
            guard response.body.isEmpty, response.trailers.isEmpty else { throw .bodyNotAllowed(status: 304) }
            return try self.head(head)
        }
        // A proxy knows what length the answer to GET would have (RFC 9110 section 8.6) without having that answer.
        if method == "HEAD", response.body.isEmpty, isLength(head.fields.values("Content-Length")) {
            return try self.head(head)
        }
        if clientVersion == .http10 { head.fields.remove("Transfer-Encoding") }
        let chunked = try frame(
            &head.fields, length: response.body.count, version: clientVersion, wantsLength: true,
            hasTrailers: !response.trailers.isEmpty && clientVersion == .http11)
        let bytes = try self.head(head)
        if method == "HEAD" { return bytes }
        return try whole(bytes, response.body, chunked: chunked, trailers: response.trailers)
    }

    /// The head of a response whose body is streamed.
    ///
    /// An HTTP/1.1 client is sent `Transfer-Encoding: chunked`: follow with `chunk` and `lastChunk`. An HTTP/1.0
    /// client is sent `Connection: close`: follow with the bare bytes and close.
    ///
    /// - Throws: `HTTPEncodingError` when a field cannot be sent, or when the fields hold framing already.
    public static func streamHead(
        _ head: HTTPResponseHead, keepAlive: Bool = true, clientVersion: HTTPVersion = .http11
    ) throws(HTTPEncodingError) -> [UInt8] {
        var head = head
        guard !head.fields.contains("Content-Length"), !head.fields.contains("Transfer-Encoding") else {
            throw .wrongTransferEncoding
        }
        let isChunked = clientVersion == .http11
        addConnection(&head.fields, keepAlive: keepAlive && isChunked, clientVersion: clientVersion)
        if isChunked { head.fields.append("Transfer-Encoding", "chunked") }
        return try self.head(head)
    }

    /// One chunk holding `bytes`; nothing at all when there are none, since an empty chunk would end the body.
    public static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count + 24)
        appendChunk(bytes, to: &out)
        return out
    }

    /// The end of a chunked body, with its trailer fields.
    ///
    /// - Throws: `HTTPEncodingError` when a trailer field cannot be sent.
    public static func lastChunk(trailers: HTTPFields = [:]) throws(HTTPEncodingError) -> [UInt8] {
        var out = Array("0\r\n".utf8)
        try append(trailers, to: &out)
        return out
    }

    /// The request line and fields exactly as given, with the empty line after them.
    ///
    /// - Throws: `HTTPEncodingError` when some part holds what it cannot hold.
    public static func head(_ head: HTTPRequestHead) throws(HTTPEncodingError) -> [UInt8] {
        guard ByteSet.token.isMadeOf(head.method) else { throw .malformedMethod }
        guard !head.target.isEmpty, head.target.utf8.allSatisfy({ $0 > Byte.space && $0 < Byte.delete }) else {
            throw .malformedTarget
        }
        var out: [UInt8] = []
        out.reserveCapacity(512)
        out += head.method.utf8
        out.append(Byte.space)
        out += head.target.utf8
        out.append(Byte.space)
        out += head.version.rawValue.utf8
        out += lineEnd
        try append(head.fields, to: &out)
        return out
    }

    /// The status line and fields exactly as given, with the empty line after them.
    ///
    /// - Throws: `HTTPEncodingError` when some part holds what it cannot hold.
    public static func head(_ head: HTTPResponseHead) throws(HTTPEncodingError) -> [UInt8] {
        guard (100...999).contains(head.status) else { throw .malformedStatus(head.status) }
        let reason = head.reason ?? ReasonPhrase.of(head.status)
        guard reason.utf8.allSatisfy(Byte.isText) else { throw .malformedReason }
        var out: [UInt8] = []
        out.reserveCapacity(512)
        out += head.version.rawValue.utf8
        out.append(Byte.space)
        out += String(head.status).utf8
        out.append(Byte.space)
        out += reason.utf8
        out += lineEnd
        try append(head.fields, to: &out)
        return out
    }

    private static let lineEnd: [UInt8] = [Byte.carriageReturn, Byte.lineFeed]

    private static func append(_ fields: HTTPFields, to out: inout [UInt8]) throws(HTTPEncodingError) {
        for field in fields {
            guard ByteSet.token.isMadeOf(field.name) else { throw .malformedFieldName }
            guard field.value.utf8.allSatisfy(Byte.isText) else { throw .malformedFieldValue(name: field.name) }
            out += field.name.utf8
            out.append(Byte.colon)
            out.append(Byte.space)
            out += field.value.utf8
            out += lineEnd
        }
        out += lineEnd
    }

    private static func appendChunk(_ bytes: [UInt8], to out: inout [UInt8]) {
        out += String(bytes.count, radix: 16).utf8
        out += lineEnd
        out += bytes
        out += lineEnd
    }

    /// Adds or checks the framing fields; returns whether the body goes out in chunks.
    private static func frame(
        _ fields: inout HTTPFields, length: Int, version: HTTPVersion, wantsLength: Bool, hasTrailers: Bool
    ) throws(HTTPEncodingError) -> Bool {
        let lengths = fields.values("Content-Length")
        var codings = fields.values("Transfer-Encoding")
        if hasTrailers, lengths.isEmpty, codings.isEmpty {
            fields.append("Transfer-Encoding", "chunked")
            codings = ["chunked"]
        }
        if let coding = codings.first {
            guard codings.count == 1, ASCIIText.equalIgnoringCase(coding, "chunked"), lengths.isEmpty,
                version == .http11
            else { throw .wrongTransferEncoding }
            return true
        }
        guard !hasTrailers else { throw .wrongTransferEncoding }
        if let given = lengths.first {
            guard lengths.count == 1, given == String(length) else { throw .wrongContentLength }
        } else if wantsLength {
            fields.append("Content-Length", String(length))
        }
        return false
    }

    private static func isLength(_ values: [String]) -> Bool {
        guard values.count == 1, let value = values.first else { return false }
        return !value.isEmpty && value.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func addConnection(
        _ fields: inout HTTPFields, keepAlive: Bool, clientVersion: HTTPVersion
    ) {
        if !keepAlive {
            if !fields.hasToken("close", in: "Connection") { fields.append("Connection", "close") }
        } else if clientVersion == .http10, !fields.contains("Connection") {
            fields.append("Connection", "keep-alive")
        }
    }

    private static func whole(
        _ head: [UInt8], _ body: [UInt8], chunked: Bool, trailers: HTTPFields
    ) throws(HTTPEncodingError) -> [UInt8] {
        var out = head
        out.reserveCapacity(out.count + body.count + 32)
        guard chunked else {
            out += body
            return out
        }
        if !body.isEmpty { appendChunk(body, to: &out) }
        out += try lastChunk(trailers: trailers)
        return out
    }
}
