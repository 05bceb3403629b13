import HTTP
import Testing

struct ResponseDecoderTests {
    @Test(arguments: refused)
    func `a response against the rules is refused by name`(row: Refused) {
        #expect(responseTranscript(row.message).fault == row.fault)
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"

    static let refused: [Refused] = [
        Refused(
            "length and chunked", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .contentLengthWithTransferEncoding),
        Refused("two lengths", ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", .repeatedContentLength),
        Refused("coding not chunked", ok + "Transfer-Encoding: gzip\r\n\r\n", .unsupportedTransferCoding, 501),
        Refused(
            "chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            .transferEncodingInHTTP10),
        Refused("folded line", ok + "X: a\r\n b\r\n\r\n", .foldedFieldLine),
        Refused("blank before colon", ok + "Content-Length : 1\r\n\r\na", .blankBeforeColon),
        Refused("bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n", .bareLineFeed),
        Refused("bare CR in reason", "HTTP/1.1 200 O\rK\r\n\r\n", .bareCarriageReturn),
        Refused("NUL in reason", "HTTP/1.1 200 O\u{0}K\r\n\r\n", .malformedStatusLine),
        Refused("two blanks", "HTTP/1.1  200 OK\r\n\r\n", .malformedStatusLine),
        Refused("status of two digits", "HTTP/1.1 20 OK\r\n\r\n", .malformedStatusLine),
        Refused("status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", .malformedStatusLine),
        Refused("status below 100", "HTTP/1.1 099 OK\r\n\r\n", .malformedStatusLine),
        Refused("signed status", "HTTP/1.1 +20 OK\r\n\r\n", .malformedStatusLine),
        Refused("no status", "HTTP/1.1\r\n\r\n", .malformedStatusLine),
        Refused("other protocol", "ICY/1.0 200 OK\r\n\r\n", .malformedStatusLine),
        Refused("HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", .unsupportedVersion("HTTP/2.0"), 505),
        Refused("empty line first", "\r\n" + ok + "\r\n", .malformedStatusLine),
        Refused("HTML instead", "<html>\r\n<body>\r\n", .malformedStatusLine),
        Refused("switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", .unexpectedUpgrade),
        Refused(
            "endless interim", String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 17),
            .tooManyInterimResponses(limit: 16)),
        Refused("bytes after the end", ok + "Content-Length: 1\r\n\r\nab", .unsolicitedResponse),
        Refused("second response", ok + "Content-Length: 0\r\n\r\n" + ok, .unsolicitedResponse),
        Refused("body after 204", "HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\na", .unsolicitedResponse),
        Refused("cut in status line", "HTTP/1.1 20", .truncated(.head)),
        Refused("cut in fields", ok + "Content-Le", .truncated(.head)),
        Refused("cut in body", ok + "Content-Length: 5\r\n\r\nabc", .truncated(.body)),
        Refused("cut in chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nabc", .truncated(.body)),
        Refused("cut before last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", .truncated(.body)),
        Refused("cut in trailers", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", .truncated(.trailers)),
        Refused("nothing", "", .truncated(.start)),
        Refused("only interim", "HTTP/1.1 100 Continue\r\n\r\n", .truncated(.head)),
    ]

    @Test(arguments: [
        ("HTTP/1.1 200 OK", 200, "OK"), ("HTTP/1.1 200 ", 200, nil), ("HTTP/1.1 200", 200, nil),
        ("HTTP/1.0 404 Not  Found\t", 404, "Not  Found\t"), ("HTTP/1.1 999 x", 999, "x"),
    ])
    func `a reason phrase may be missing`(line: String, status: Int, reason: String?) throws {
        let response = try #require(responseTranscript(line + "\r\nContent-Length: 0\r\n\r\n").responses.first)
        #expect(response.status == status)
        #expect(response.reason == reason)
    }

    @Test func `interim responses come before the final one and are skipped in whole messages`() throws {
        let text =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        let transcript = responseTranscript(text)
        #expect(
            transcript.steps.prefix(2) == [
                .interim(HTTPResponseHead(status: 100, reason: "Continue")),
                .interim(HTTPResponseHead(status: 103, reason: "Early Hints", fields: ["Link": "x"])),
            ])
        var decoder = ResponseDecoder()
        decoder.expect("GET")
        decoder.feed(Array(text.utf8))
        #expect(try decoder.nextMessage()?.body == Array("hi".utf8))
        #expect(decoder.isIdle)
        #expect(decoder.shouldKeepAlive)
    }

    @Test(arguments: [("HEAD", 200), ("GET", 204), ("GET", 304), ("HEAD", 404)])
    func `some responses have a length but no body`(method: String, status: Int) {
        let text = "HTTP/1.1 \(status) X\r\nContent-Length: 10\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
        let transcript = responseTranscript(text, to: [method, "GET"])
        #expect(transcript.fault == nil)
        #expect(transcript.responses.map(\.body) == [[], [0x61]])
        #expect(transcript.responses.first?.fields["content-length"] == "10")
    }

    @Test func `a body without framing ends when the server closes`() throws {
        let transcript = responseTranscript("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it")
        #expect(transcript.fault == nil)
        #expect(transcript.responses.first?.body == Array("all of it".utf8))
        var decoder = ResponseDecoder()
        decoder.expect("GET")
        decoder.feed(Array("HTTP/1.1 200 OK\r\n\r\nabc".utf8))
        #expect(try decoder.nextMessage() == nil)
        #expect(!decoder.shouldKeepAlive)
        try decoder.finish()
        #expect(try decoder.nextMessage()?.body == Array("abc".utf8))
        #expect(try decoder.nextMessage() == nil)
    }

    @Test func `a body that ends at close is bounded too`() {
        let transcript = responseTranscript("HTTP/1.0 200 OK\r\n\r\nabcde", limits: HTTPLimits(body: 4))
        #expect(transcript.fault == .bodyTooLarge(limit: 4))
        #expect(transcript.steps.last == .body(Array("abcd".utf8)))
        let fits = responseTranscript("HTTP/1.0 200 OK\r\n\r\nabcd", limits: HTTPLimits(body: 4))
        #expect(fits.fault == nil)
    }

    @Test func `what follows a successful CONNECT belongs to the tunnel`() throws {
        var decoder = ResponseDecoder()
        decoder.expect("CONNECT")
        decoder.feed(Array("HTTP/1.1 200 Established\r\nContent-Length: 9\r\n\r\n\u{16}\u{3}".utf8))
        #expect(try decoder.nextMessage()?.status == 200)
        #expect(try decoder.nextMessage() == nil)
        #expect(decoder.takeTunnelBytes() == [0x16, 3])
        #expect(!decoder.isIdle)
        let refused = responseTranscript("HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno", to: ["CONNECT"])
        #expect(refused.responses.first?.body == Array("no".utf8))
    }

    @Test func `nothing is read after a response that closes`() throws {
        var decoder = ResponseDecoder()
        decoder.expect("GET")
        decoder.expect("GET")
        decoder.feed(Array("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
        #expect(try decoder.nextMessage()?.status == 200)
        #expect(!decoder.shouldKeepAlive)
        #expect(throws: HTTPFault.truncated(.start)) { try decoder.finish() }
        let more = responseTranscript(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            to: ["GET", "GET"])
        #expect(more.fault == .unsolicitedResponse)
        #expect(more.responses.count == 1)
    }

    @Test func `a response cut off at any byte is waited for, then called truncated`() throws {
        let bytes = Array(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n"
                .utf8)
        for length in 0..<bytes.count {
            var decoder = ResponseDecoder()
            decoder.expect("GET")
            decoder.feed(Array(bytes[..<length]))
            #expect(try decoder.nextMessage() == nil)
            let fault = #expect(throws: HTTPFault.self) { try decoder.finish() }
            guard case .truncated = fault else {
                Issue.record("\(String(describing: fault)) at \(length)")
                continue
            }
        }
    }
}
