import Encoding
import HTTP
import Testing

struct HTTPEncoderTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `a request keeps order, case and repeats of its fields and gets a length`() throws {
        let request = HTTPRequest(
            method: "POST", target: "/t?x=%7e", fields: ["hOST": "a", "DPoP": "1", "dpop": "2"], body: [0x68, 0x69])
        #expect(
            text(try HTTPEncoder.encode(request))
                == "POST /t?x=%7e HTTP/1.1\r\nhOST: a\r\nDPoP: 1\r\ndpop: 2\r\nContent-Length: 2\r\n\r\nhi")
    }

    @Test(arguments: [("GET", false), ("DELETE", false), ("POST", true), ("PUT", true), ("PATCH", true)])
    func `an empty body has a length only where one is expected`(method: String, hasLength: Bool) throws {
        let bytes = try HTTPEncoder.encode(HTTPRequest(method: method, target: "/", fields: ["Host": "a"]))
        #expect(text(bytes).contains("Content-Length: 0\r\n") == hasLength)
    }

    @Test func `trailers and chunked bodies are framed in chunks`() throws {
        var request = HTTPRequest(
            method: "PUT", target: "/", fields: ["Host": "a"], body: Array(repeating: 0x61, count: 17),
            trailers: ["X": "y"])
        let expected =
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n" + String(repeating: "a", count: 17)
            + "\r\n0\r\nX: y\r\n\r\n"
        #expect(text(try HTTPEncoder.encode(request)) == expected)
        request.fields.append("Transfer-Encoding", "chunked")
        #expect(text(try HTTPEncoder.encode(request)) == expected)
        #expect(text(HTTPEncoder.chunk(Array("abc".utf8))) == "3\r\nabc\r\n")
        #expect(HTTPEncoder.chunk([]).isEmpty)
        #expect(text(try HTTPEncoder.lastChunk()) == "0\r\n\r\n")
    }

    @Test(
        arguments: [
            (HTTPRequest(method: "GET", target: "/"), .hostNotSentOnce),
            (HTTPRequest(method: "GET", target: "/", fields: ["Host": "a", "host": "a"]), .hostNotSentOnce),
            (HTTPRequest(method: "", target: "/", fields: ["Host": "a"]), .malformedMethod),
            (HTTPRequest(method: "G T", target: "/", fields: ["Host": "a"]), .malformedMethod),
            (HTTPRequest(method: "GET", target: "", fields: ["Host": "a"]), .malformedTarget),
            (HTTPRequest(method: "GET", target: "/ HTTP/1.1\r\nX: y", fields: ["Host": "a"]), .malformedTarget),
            (HTTPRequest(method: "GET", target: "/é", fields: ["Host": "a"]), .malformedTarget),
            (HTTPRequest(method: "GET", target: "/", fields: ["Host": "a", "X\r": "y"]), .malformedFieldName),
            (HTTPRequest(method: "GET", target: "/", fields: ["Host": "a", "": "y"]), .malformedFieldName),
            (HTTPRequest(method: "GET", target: "/", fields: ["Host": "a", "X ": "y"]), .malformedFieldName),
            (
                HTTPRequest(method: "GET", target: "/", fields: ["Host": "a", "X": "y\r\nZ: w"]),
                .malformedFieldValue(name: "X")
            ),
            (HTTPRequest(method: "GET", target: "/", fields: ["Host": "a\u{0}"]), .malformedFieldValue(name: "Host")),
            (
                HTTPRequest(method: "POST", target: "/", fields: ["Host": "a", "Content-Length": "2"], body: [1]),
                .wrongContentLength
            ),
            (
                HTTPRequest(
                    method: "POST", target: "/", fields: ["Host": "a", "Content-Length": "1", "content-length": "1"],
                    body: [1]), .wrongContentLength
            ),
            (
                HTTPRequest(
                    method: "POST", target: "/",
                    fields: ["Host": "a", "Content-Length": "1", "Transfer-Encoding": "chunked"], body: [1]),
                .wrongTransferEncoding
            ),
            (
                HTTPRequest(method: "POST", target: "/", fields: ["Host": "a", "Transfer-Encoding": "gzip"]),
                .wrongTransferEncoding
            ),
            (
                HTTPRequest(
                    method: "POST", target: "/", fields: ["Transfer-Encoding": "chunked"], version: .http10),
                .wrongTransferEncoding
            ),
            (
                HTTPRequest(method: "PUT", target: "/", fields: ["Host": "a"], trailers: ["X": "\n"]),
                .malformedFieldValue(name: "X")
            ),
        ] as [(HTTPRequest, HTTPEncodingError)])
    func `a request that cannot be sent is refused by name`(request: HTTPRequest, error: HTTPEncodingError) {
        #expect(throws: error) { try HTTPEncoder.encode(request) }
    }

    @Test func `a phone that misbehaves sends its fields as given, but never a line end`() throws {
        var request = HTTPRequest(
            method: "POST", target: "/", fields: ["Content-Length": "9", "Transfer-Encoding": "chunked"], body: [0x78])
        #expect(
            text(try HTTPEncoder.encode(request, framing: .asGiven))
                == "POST / HTTP/1.1\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\nx")
        request.fields.append("X", "a\nb")
        #expect(throws: HTTPEncodingError.malformedFieldValue(name: "X")) {
            try HTTPEncoder.encode(request, framing: .asGiven)
        }
    }

    @Test func `a response gets its phrase, its length and the fate of the connection`() throws {
        let response = HTTPResponse.text("hé", status: 404)
        let head = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\n"
        #expect(text(try HTTPEncoder.encode(response)) == head + "Content-Length: 3\r\n\r\nhé")
        #expect(
            text(try HTTPEncoder.encode(response, for: "HEAD", keepAlive: false))
                == head + "Connection: close\r\nContent-Length: 3\r\n\r\n")
        #expect(
            text(try HTTPEncoder.encode(response, clientVersion: .http10))
                == head + "Connection: keep-alive\r\nContent-Length: 3\r\n\r\nhé")
        #expect(text(try HTTPEncoder.encode(HTTPResponse(status: 299))).hasPrefix("HTTP/1.1 299 \r\n"))
    }

    @Test func `responses without a body have no framing`() throws {
        #expect(text(try HTTPEncoder.encode(HTTPResponse(status: 204))) == "HTTP/1.1 204 No Content\r\n\r\n")
        #expect(text(try HTTPEncoder.encode(HTTPResponse(status: 100))) == "HTTP/1.1 100 Continue\r\n\r\n")
        let notModified = HTTPResponse(status: 304, fields: ["Content-Length": "7"])
        #expect(text(try HTTPEncoder.encode(notModified)).hasSuffix("Content-Length: 7\r\n\r\n"))
        for status in [100, 204, 304] {
            #expect(throws: HTTPEncodingError.bodyNotAllowed(status: status)) {
                try HTTPEncoder.encode(HTTPResponse(status: status, body: [1]))
            }
        }
        #expect(throws: HTTPEncodingError.bodyNotAllowed(status: 204)) {
            try HTTPEncoder.encode(HTTPResponse(status: 204, fields: ["content-length": "0"]))
        }
    }

    @Test func `a response that cannot be sent is refused by name`() {
        #expect(throws: HTTPEncodingError.malformedStatus(99)) { try HTTPEncoder.encode(HTTPResponse(status: 99)) }
        #expect(throws: HTTPEncodingError.malformedReason) {
            try HTTPEncoder.encode(HTTPResponse(status: 200, reason: "OK\r\nX: y"))
        }
        #expect(throws: HTTPEncodingError.malformedFieldName) {
            try HTTPEncoder.encode(HTTPResponse(status: 200, fields: ["X:": "y"]))
        }
    }

    @Test func `a streamed response is chunked for HTTP/1.1 and closes for HTTP/1.0`() throws {
        let head = HTTPResponseHead(status: 200, fields: ["Content-Type": "text/event-stream"])
        let new = try HTTPEncoder.streamHead(head)
        let body = HTTPEncoder.chunk([0x61]) + HTTPEncoder.chunk([]) + HTTPEncoder.chunk([0x62])
        let transcript = responseTranscript(new + body + (try HTTPEncoder.lastChunk(trailers: ["X": "y"])))
        #expect(transcript.responses.first?.body == [0x61, 0x62])
        #expect(transcript.responses.first?.trailers == ["X": "y"])
        let old = try HTTPEncoder.streamHead(head, clientVersion: .http10)
        #expect(text(old).contains("Connection: close\r\n"))
        #expect(!text(old).contains("chunked"))
        #expect(throws: HTTPEncodingError.wrongTransferEncoding) {
            try HTTPEncoder.streamHead(HTTPResponseHead(status: 200, fields: ["Content-Length": "1"]))
        }
    }

    @Test func `JSON, text and problem bodies have their media types`() throws {
        let json = HTTPResponse.json(["a": 1], status: 201, fields: ["Cache-Control": "no-store"])
        #expect(text(json.body) == #"{"a":1}"#)
        #expect(json.fields == ["Cache-Control": "no-store", "Content-Type": "application/json"])
        let problem = HTTPResponse.problem(
            status: 409, title: "Conflict", detail: "taken", type: "urn:x", extra: [("code", "a.b")])
        #expect(problem.mediaType?.essence == "application/problem+json")
        #expect(
            text(problem.body)
                == #"{"type":"urn:x","title":"Conflict","status":409,"detail":"taken","code":"a.b"}"#)
        let refusal = HTTPResponse.problem(HTTPFault.repeatedHost)
        #expect(refusal.status == 400)
        #expect(try JSON(parsing: refusal.body)["code"] == "http.host.repeated")
        #expect(HTTPResponse.json(1, fields: ["content-type": "application/x+json"]).fields.count == 1)
    }
}
