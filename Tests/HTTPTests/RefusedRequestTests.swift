import HTTP
import Testing

/// Requests that two servers might read differently, or that RFC 9112 forbids: each is refused by its own rule.
struct RefusedRequestTests {
    @Test(arguments: framing + fields + startLines + chunks)
    func `a request that could be smuggled is refused by name and status`(row: Refused) {
        let transcript = requestTranscript(row.message)
        #expect(transcript.fault == row.fault)
        #expect(transcript.fault?.httpStatus == row.status)
    }

    @Test(arguments: framing + fields + startLines)
    func `a request refused in its head gives no output at all`(row: Refused) {
        #expect(Transcript.ofRequests([row.message]).steps.isEmpty)
    }

    private static func post(_ fields: String, _ body: String = "") -> String {
        "POST /t HTTP/1.1\r\nHost: a.test\r\n\(fields)\r\n\r\n\(body)"
    }

    private static func get(_ line: String) -> String { "\(line)\r\nHost: a.test\r\n\r\n" }

    static let framing: [Refused] = [
        Refused(
            "length and chunked", post("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
            .contentLengthWithTransferEncoding),
        Refused(
            "chunked and length", post("Transfer-Encoding: chunked\r\ncontent-length: 0", "0\r\n\r\n"),
            .contentLengthWithTransferEncoding),
        Refused("two lengths", post("Content-Length: 1\r\nContent-Length: 2", "ab"), .repeatedContentLength),
        Refused("two equal lengths", post("Content-Length: 1\r\nCONTENT-LENGTH: 1", "a"), .repeatedContentLength),
        Refused("list of lengths", post("Content-Length: 1, 1", "a"), .repeatedContentLength),
        Refused("empty length", post("Content-Length:"), .malformedContentLength),
        Refused("plus sign in length", post("Content-Length: +1", "a"), .malformedContentLength),
        Refused("minus sign in length", post("Content-Length: -1", "a"), .malformedContentLength),
        Refused("hexadecimal length", post("Content-Length: 0x1", "a"), .malformedContentLength),
        Refused("blank inside length", post("Content-Length: 1 1", "a"), .malformedContentLength),
        Refused("length with point", post("Content-Length: 1.0", "a"), .malformedContentLength),
        Refused("length of Arabic digits", post("Content-Length: \u{661}", "a"), .malformedContentLength),
        Refused("length over 64 bits", post("Content-Length: 18446744073709551617"), .malformedContentLength),
        Refused("length over 63 bits", post("Content-Length: 9223372036854775808"), .malformedContentLength),
        Refused("length over limit", post("Content-Length: 16777217"), .bodyTooLarge(limit: 16 << 20), 413),
        Refused("coding not chunked", post("Transfer-Encoding: identity"), .unsupportedTransferCoding, 501),
        Refused("gzip before chunked", post("Transfer-Encoding: gzip, chunked"), .unsupportedTransferCoding, 501),
        Refused("chunked not last", post("Transfer-Encoding: chunked, gzip"), .unsupportedTransferCoding, 501),
        Refused("coding like chunked", post("Transfer-Encoding: xchunked"), .unsupportedTransferCoding, 501),
        Refused("chunked with parameter", post("Transfer-Encoding: chunked;q=1"), .unsupportedTransferCoding, 501),
        Refused("chunked twice", post("Transfer-Encoding: chunked, chunked"), .malformedTransferEncoding),
        Refused(
            "chunked in two fields", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
            .malformedTransferEncoding),
        Refused("empty coding", post("Transfer-Encoding:"), .malformedTransferEncoding),
        Refused("empty member before chunked", post("Transfer-Encoding: , chunked"), .malformedTransferEncoding),
        Refused("quoted chunked", post("Transfer-Encoding: \"chunked\""), .malformedTransferEncoding),
        Refused(
            "vertical tab before chunked", post("Transfer-Encoding: \u{0B}chunked"),
            .malformedFieldValue(name: "Transfer-Encoding")),
        Refused(
            "chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .transferEncodingInHTTP10),
    ]

    static let fields: [Refused] = [
        Refused("no Host", "GET / HTTP/1.1\r\n\r\n", .missingHost),
        Refused("two Hosts", "GET / HTTP/1.1\r\nHost: a.test\r\nhost: a.test\r\n\r\n", .repeatedHost),
        Refused("two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", .repeatedHost),
        Refused("Host with path", "GET / HTTP/1.1\r\nHost: a.test/x\r\n\r\n", .malformedHost),
        Refused("Host with user", "GET / HTTP/1.1\r\nHost: u@a.test\r\n\r\n", .malformedHost),
        Refused("two names in Host", "GET / HTTP/1.1\r\nHost: a.test, b.test\r\n\r\n", .malformedHost),
        Refused("empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", .malformedHost),
        Refused("Host with port 0", "GET / HTTP/1.1\r\nHost: a.test:0\r\n\r\n", .malformedHost),
        Refused("bare LF after field", "GET / HTTP/1.1\r\nHost: a.test\n\r\n", .bareLineFeed),
        Refused("bare LF as empty line", "GET / HTTP/1.1\r\nHost: a.test\r\n\n", .bareLineFeed),
        Refused("bare CR in value", post("X: a\rb"), .bareCarriageReturn),
        Refused("bare CR in name", post("X\rY: a"), .bareCarriageReturn),
        Refused("two CRs before LF", post("X: a\r"), .bareCarriageReturn),
        Refused("NUL in value", post("X: a\u{0}b"), .malformedFieldValue(name: "X")),
        Refused("DEL in value", post("X: a\u{7F}b"), .malformedFieldValue(name: "X")),
        Refused("folded line", post("X: a\r\n b"), .foldedFieldLine),
        Refused("folded line with tab", post("X: a\r\n\tTransfer-Encoding: chunked"), .foldedFieldLine),
        Refused("blank before first field", "GET / HTTP/1.1\r\n Host: a.test\r\n\r\n", .foldedFieldLine),
        Refused("blank before colon", post("Content-Length : 5", "hello"), .blankBeforeColon),
        Refused("tab before colon", post("Transfer-Encoding\t: chunked"), .blankBeforeColon),
        Refused("no colon", post("Content-Length"), .missingColon),
        Refused("empty name", post(": x"), .malformedFieldName),
        Refused("name with parenthesis", post("X(1): x"), .malformedFieldName),
        Refused("name with NUL", post("X\u{0}: x"), .malformedFieldName),
        Refused("name beyond ASCII", post("Ü: x"), .malformedFieldName),
        Refused(
            "too many fields", post((0..<128).map { "X\($0): 1" }.joined(separator: "\r\n")),
            .tooManyFields(limit: 128), 431),
        Refused(
            "field line too long", post("X: " + String(repeating: "a", count: 16382)),
            .fieldLineTooLong(limit: 16384), 431),
        Refused(
            "endless field line", "GET / HTTP/1.1\r\n" + String(repeating: "a", count: 16386),
            .fieldLineTooLong(limit: 16384), 431),
        Refused(
            "fields too large",
            post((0..<5).map { _ in "X: " + String(repeating: "a", count: 16000) }.joined(separator: "\r\n")),
            .fieldsTooLarge(limit: 65536), 431),
    ]

    static let startLines: [Refused] = [
        Refused("HTTP/0.9", "GET /\r\n\r\n", .malformedRequestLine),
        Refused("two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        Refused("two blanks", get("GET  / HTTP/1.1"), .malformedRequestLine),
        Refused("blank inside target", get("GET /a b HTTP/1.1"), .malformedRequestLine),
        Refused("blank before method", get(" GET / HTTP/1.1"), .malformedMethod),
        Refused("blank after version", get("GET / HTTP/1.1 "), .malformedRequestLine),
        Refused("tab as separator", get("GET\t/\tHTTP/1.1"), .malformedRequestLine),
        Refused("method with colon", get("GE:T / HTTP/1.1"), .malformedMethod),
        Refused("long method", get(String(repeating: "M", count: 33) + " / HTTP/1.1"), .methodTooLong(limit: 32), 501),
        Refused("lower-case http", get("GET / http/1.1"), .malformedVersion),
        Refused("version with two digits", get("GET / HTTP/1.10"), .malformedVersion),
        Refused("no version number", get("GET / HTTP/"), .malformedVersion),
        Refused("HTTP/1.2", get("GET / HTTP/1.2"), .unsupportedVersion("HTTP/1.2"), 505),
        Refused("HTTP/0.9 by name", get("GET / HTTP/0.9"), .unsupportedVersion("HTTP/0.9"), 505),
        Refused("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unsupportedVersion("HTTP/2.0"), 505),
        Refused("bare LF after request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", .bareLineFeed),
        Refused("bare CR in target", get("GET /\rx HTTP/1.1"), .bareCarriageReturn),
        Refused("two CRs after request line", get("GET / HTTP/1.1\r"), .bareCarriageReturn),
        Refused(
            "long target", get("GET /" + String(repeating: "a", count: 8192) + " HTTP/1.1"),
            .startLineTooLong(limit: 8192), 414),
        Refused("endless line", String(repeating: "G", count: 8194), .startLineTooLong(limit: 8192), 414),
        Refused("target beyond ASCII", get("GET /é HTTP/1.1"), .malformedTarget),
        Refused("target with NUL", get("GET /\u{0} HTTP/1.1"), .malformedTarget),
        Refused("target with fragment", get("GET /a#b HTTP/1.1"), .malformedTarget),
        Refused("target with bad triplet", get("GET /%4x HTTP/1.1"), .malformedTarget),
        Refused("target cut in triplet", get("GET /%4 HTTP/1.1"), .malformedTarget),
        Refused("target without slash", get("GET a HTTP/1.1"), .wrongTargetForm),
        Refused("asterisk with GET", get("GET * HTTP/1.1"), .wrongTargetForm),
        Refused("authority with GET", get("GET a.test:80 HTTP/1.1"), .wrongTargetForm),
        Refused("CONNECT with path", get("CONNECT /a HTTP/1.1"), .wrongTargetForm),
        Refused("CONNECT without port", get("CONNECT a.test HTTP/1.1"), .wrongTargetForm),
        Refused("absolute with other scheme", get("GET ftp://a.test/ HTTP/1.1"), .wrongTargetForm),
        Refused("absolute with user", get("GET http://u:p@a.test/ HTTP/1.1"), .malformedTarget),
        Refused("absolute without host", get("GET http:///x HTTP/1.1"), .malformedTarget),
        Refused("TLS hello", bytes: [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3, 0x0A], .bareLineFeed),
    ]

    private static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked", body) }

    static let chunks: [Refused] = [
        Refused("chunk without size", chunked("\r\n"), .malformedChunkSize),
        Refused("plus sign in size", chunked("+3\r\nabc\r\n0\r\n\r\n"), .malformedChunkSize),
        Refused("minus sign in size", chunked("-3\r\nabc\r\n0\r\n\r\n"), .malformedChunkSize),
        Refused("size with 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n"), .malformedChunkSize),
        Refused("blank before size", chunked(" 3\r\nabc\r\n0\r\n\r\n"), .malformedChunkSize),
        Refused("blank after size", chunked("3 \r\nabc\r\n0\r\n\r\n"), .malformedChunkSize),
        Refused("underscore in size", chunked("1_0\r\nabc"), .malformedChunkSize),
        Refused("size over 63 bits", chunked("8000000000000000\r\n"), .malformedChunkSize),
        Refused("size wrapping to 3", chunked("10000000000000003\r\nabc\r\n"), .malformedChunkSize),
        Refused("endless zeros", chunked(String(repeating: "0", count: 17) + "\r\n"), .malformedChunkSize),
        Refused("chunk over limit", chunked("1000001\r\n"), .bodyTooLarge(limit: 16 << 20), 413),
        Refused("bare LF after size", chunked("3\nabc\r\n0\r\n\r\n"), .bareLineFeed),
        Refused("bare CR after size", chunked("3\ra\r\nabc\r\n0\r\n\r\n"), .bareCarriageReturn),
        Refused("bare CR in extension", chunked("3;a\rb\r\nabc\r\n0\r\n\r\n"), .bareCarriageReturn),
        Refused("empty extension", chunked("3;\r\nabc\r\n0\r\n\r\n"), .malformedChunkExtension),
        Refused("open quote in extension", chunked("3;a=\"b\r\nabc\r\n0\r\n\r\n"), .malformedChunkExtension),
        Refused("data too long", chunked("3\r\nabcd\r\n0\r\n\r\n"), .missingChunkEnd),
        Refused("LF after data", chunked("3\r\nabc\n0\r\n\r\n"), .missingChunkEnd),
        Refused("CR alone after data", chunked("3\r\nabc\r0\r\n\r\n"), .missingChunkEnd),
        Refused(
            "long chunk line", chunked("3;" + String(repeating: "a", count: 1030) + "\r\n"),
            .chunkLineTooLong(limit: 1024)),
        Refused(
            "many long extensions",
            chunked(String(repeating: "1;a=" + String(repeating: "b", count: 1000) + "\r\nx\r\n", count: 17)),
            .chunkExtensionsTooLarge(limit: 16384)),
        Refused(
            "framing in trailer", chunked("0\r\nContent-Length: 5\r\n\r\n"),
            .forbiddenTrailer(name: "content-length")),
        Refused("routing in trailer", chunked("0\r\nHost: b.test\r\n\r\n"), .forbiddenTrailer(name: "host")),
        Refused("proof in trailer", chunked("0\r\nDPoP: x\r\n\r\n"), .forbiddenTrailer(name: "dpop")),
        Refused("folded trailer", chunked("0\r\nX: a\r\n b\r\n\r\n"), .foldedFieldLine),
        Refused("bare LF ends trailers", chunked("0\r\n\n"), .bareLineFeed),
        Refused(
            "too many trailers",
            chunked("0\r\n" + String(repeating: "X: a\r\n", count: 129) + "\r\n"), .tooManyFields(limit: 128), 431),
    ]
}
