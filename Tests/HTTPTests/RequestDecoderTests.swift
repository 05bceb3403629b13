import HTTP
import Testing

struct RequestDecoderTests {
    @Test func `a request keeps its raw target, field order, case and repeats`() throws {
        let transcript = requestTranscript(
            "get /u/a%40b%2F..//c?x=%7E&y[]={1|2} HTTP/1.1\r\nhOsT: A.test:8080\r\nDPoP: one\r\nX-Y:\t z  z \t\r\n"
                + "dpop:two\r\n\r\n")
        let request = try #require(transcript.requests.first)
        #expect(transcript.fault == nil)
        #expect(request.method == "get")
        #expect(request.target == "/u/a%40b%2F..//c?x=%7E&y[]={1|2}")
        #expect(request.path == "/u/a%40b%2F..//c")
        #expect(request.query == "x=%7E&y[]={1|2}")
        #expect(request.fields.map(\.name) == ["hOsT", "DPoP", "X-Y", "dpop"])
        #expect(request.fields.values("DPOP") == ["one", "two"])
        #expect(request.fields["x-y"] == "z  z")
        #expect(request.authority == "A.test:8080")
    }

    @Test func `targets come in four forms`() throws {
        let absolute = try #require(
            requestTranscript("GET HTTP://b.test:81?q HTTP/1.1\r\nHost: a.test\r\n\r\n").requests.first)
        #expect(absolute.target == "HTTP://b.test:81?q")
        #expect(absolute.authority == "b.test:81")
        #expect(absolute.path == "/")
        #expect(absolute.query == "q")
        let asterisk = try #require(
            requestTranscript("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n").requests.first)
        #expect(asterisk.path == "*")
        let authority = try #require(
            requestTranscript("CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n").requests.first)
        #expect(authority.target == "[::1]:443")
        let origin = try #require(requestTranscript("GET //x/y HTTP/1.1\r\nHost: a.test\r\n\r\n").requests.first)
        #expect(origin.path == "//x/y")
        #expect(origin.authority == "a.test")
    }

    @Test func `chunks, extensions and trailers are taken off`() throws {
        let transcript = requestTranscript(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                + "3\r\nabc\r\n00A ; n ; m = t;o=\"q\\\"\t;\"\r\n0123456789\r\n0;last\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n")
        let request = try #require(transcript.requests.first)
        #expect(transcript.fault == nil)
        #expect(request.body == Array("abc0123456789".utf8))
        #expect(request.trailers.values("X-Sum") == ["1", "2"])
        #expect(!request.fields.contains("X-Sum"))
    }

    @Test func `pipelined requests come out one by one`() {
        let transcript = requestTranscript(
            "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
                + "PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
        #expect(transcript.fault == nil)
        #expect(transcript.requests.map(\.target) == ["/1", "/2", "/3"])
        #expect(transcript.requests.map(\.body) == [Array("ab".utf8), [], Array("x".utf8)])
    }

    @Test func `nothing after a request that closes is read`() throws {
        var decoder = RequestDecoder()
        decoder.feed(Array("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\nGET /2 HTTP/1.1\r\n".utf8))
        #expect(try decoder.nextMessage()?.target == "/1")
        #expect(try decoder.nextMessage() == nil)
        decoder.feed(Array("junk\n".utf8))
        #expect(try decoder.nextMessage() == nil)
        try decoder.finish()
        #expect(!decoder.shouldKeepAlive)
        #expect(decoder.isIdle)
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "close", false), ("HTTP/1.1", "Keep-Alive", true),
        ("HTTP/1.1", "keep-alive, CLOSE", false), ("HTTP/1.1", "closed", true),
        ("HTTP/1.0", "", false), ("HTTP/1.0", "keep-alive", true), ("HTTP/1.0", "foo ,Keep-Alive", true),
        ("HTTP/1.0", "keep-alive, close", false),
    ])
    func `a connection is kept by version and Connection`(version: String, connection: String, kept: Bool) throws {
        let field = connection.isEmpty ? "" : "Connection: \(connection)\r\n"
        var decoder = RequestDecoder()
        decoder.feed(Array("GET / \(version)\r\nHost: a\r\n\(field)\r\n".utf8))
        let request = try #require(try decoder.nextMessage())
        #expect(request.shouldKeepAlive == kept)
        #expect(decoder.shouldKeepAlive == kept)
    }

    @Test func `a client that waits for 100 Continue is seen at the head`() throws {
        var decoder = RequestDecoder()
        decoder.feed(Array("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n".utf8))
        guard case .head(let head) = try decoder.next() else {
            Issue.record("no head")
            return
        }
        #expect(head.expectsContinue)
        #expect(try decoder.next() == nil)
        decoder.feed([0x61])
        #expect(try decoder.next() == .body([0x61]))
        #expect(try decoder.next() == .end(trailers: [:]))
        let old = requestTranscript("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n")
        #expect(old.requests.first?.head.expectsContinue == false)
    }

    @Test func `a fault is final and said again`() {
        var decoder = RequestDecoder()
        decoder.feed(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        for _ in 0..<3 {
            #expect(throws: HTTPFault.missingHost) { try decoder.next() }
            decoder.feed(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        }
        #expect(throws: HTTPFault.missingHost) { try decoder.finish() }
        #expect(!decoder.isIdle)
    }

    @Test func `a request cut off at any byte is waited for, then called truncated`() throws {
        let first = Array(
            "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nabcd\r\n0\r\nT: u\r\n\r\n".utf8)
        let second = Array("PUT /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz".utf8)
        let bytes = first + second
        let ends: Set = [0, first.count, bytes.count]
        for length in 0...bytes.count {
            var decoder = RequestDecoder()
            decoder.feed(Array(bytes[..<length]))
            while try decoder.nextMessage() != nil {}
            if ends.contains(length) {
                try decoder.finish()
                continue
            }
            let fault = #expect(throws: HTTPFault.self) { try decoder.finish() }
            guard case .truncated = fault else {
                Issue.record("\(String(describing: fault)) at \(length)")
                continue
            }
        }
    }

    @Test func `closing before taking what was fed loses no whole request`() throws {
        var decoder = RequestDecoder()
        decoder.feed(Array("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2".utf8))
        try decoder.finish()
        #expect(try decoder.nextMessage()?.target == "/1")
        #expect(throws: HTTPFault.truncated(.head)) { try decoder.nextMessage() }
    }

    @Test func `limits hold at their exact value`() {
        var limits = HTTPLimits(body: 4)
        limits.startLine = 15
        limits.fieldLine = 17
        limits.fieldCount = 2
        let head = "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: "
        #expect(requestTranscript(head + "4\r\n\r\nabcd", limits: limits).fault == nil)
        #expect(requestTranscript(head + "5\r\n\r\nabcde", limits: limits).fault == .bodyTooLarge(limit: 4))
        #expect(requestTranscript(head + "04\r\n\r\nabcd", limits: limits).fault == .fieldLineTooLong(limit: 17))
        #expect(
            requestTranscript("PUT /ab HTTP/1.1\r\n", limits: limits).fault == .startLineTooLong(limit: 15))
        #expect(
            requestTranscript(head + "0\r\nX: y\r\n\r\n", limits: limits).fault == .tooManyFields(limit: 2))
        limits.fieldLine = 100
        let chunked = "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        #expect(requestTranscript(chunked + "1\r\nd\r\n0\r\n\r\n", limits: limits).fault == nil)
        let over = requestTranscript(chunked + "2\r\nde\r\n0\r\n\r\n", limits: limits)
        #expect(over.fault == .bodyTooLarge(limit: 4))
        #expect(over.steps.last == .body(Array("abc".utf8)))
    }

    @Test func `limits without end do not overflow`() {
        var limits = HTTPLimits(body: .max)
        limits.startLine = .max
        limits.fieldLine = .max
        limits.fieldBytes = .max
        limits.chunkLine = .max
        let text = "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n7fffffffffffffff\r\n"
        #expect(requestTranscript(text, limits: limits).fault == .bodyTooLarge(limit: .max))
    }

    @Test func `octets above ASCII in values are read as UTF-8, else as ISO 8859-1`() throws {
        let start = Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8)
        let utf8 = requestTranscript(start + Array("grüß\r\n\r\n".utf8))
        #expect(utf8.requests.first?.fields["X"] == "grüß")
        let latin = requestTranscript(start + [0x67, 0xFC, 0x0D, 0x0A, 0x0D, 0x0A])
        #expect(latin.requests.first?.fields["X"] == "gü")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a large body, a large head and many chunks fed byte by byte stay linear`() throws {
        let body = [UInt8](repeating: 0x61, count: 1 << 20)
        let plain = Array("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        let value = String(repeating: "v", count: 16000)
        let long = Array("GET / HTTP/1.1\r\nHost: a\r\nA: \(value)\r\nB: \(value)\r\nC: \(value)\r\n\r\n".utf8)
        let chunked =
            Array("PUT /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            + Array(String(repeating: "1\r\nx\r\n", count: 20_000).utf8) + Array("0\r\n\r\n".utf8)
        var decoder = RequestDecoder()
        var bodies: [Int] = []
        for byte in plain + long + chunked {
            decoder.feed([byte])
            if let request = try decoder.nextMessage() { bodies.append(request.body.count) }
        }
        #expect(bodies == [1 << 20, 0, 20_000])
    }

    @Test func `bytes can be fed from a raw buffer`() throws {
        var decoder = RequestDecoder()
        Array("GET / HTTP/1.1\r\nHost: a\r\n".utf8).withUnsafeBytes { decoder.feed($0) }
        #expect(try decoder.nextMessage() == nil)
        #expect(!decoder.isIdle)
        Array("\r\n".utf8).withUnsafeBytes { decoder.feed($0) }
        #expect(try decoder.nextMessage()?.target == "/")
        #expect(decoder.isIdle)
    }
}
