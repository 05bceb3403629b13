import HTTP
import Testing

@testable import Transport

/// Responses that are sent while they are made.
@Suite(.timeLimit(.minutes(1))) struct StreamTests {
    private static let eventFeed: HTTPFields = ["Content-Type": "text/event-stream"]

    /// A server whose handler begins a stream and hands it to the test.
    private func streaming(
        _ configuration: ServerConfiguration = ServerConfiguration(), fields: HTTPFields = StreamTests.eventFeed
    ) async throws -> (HTTPServer, Signal<ResponseStream>) {
        let begun = Signal<ResponseStream>()
        let server = try await HTTPServer.start(
            configuration,
            handler: Answering { request, _, reply in
                guard request.target == "/stream" else { return reply.send(HTTPResponse(status: 204)) }
                begun.fire(reply.stream(fields: fields))
            })
        return (server, begun)
    }

    @Test func `events reach the client one by one and the end is seen`() async throws {
        let (server, begun) = try await streaming()
        let socket = try RawSocket.connected(to: server.port)
        defer { socket.close() }
        try socket.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try await blocking { try socket.readHead() }
        #expect(head.contains("Transfer-Encoding: chunked\r\n"))
        let stream = await begun.wait()
        for number in 1...3 {
            #expect(stream.write(Array("data: \(number)\n\n".utf8)))
            #expect(try await blocking { try socket.read(until: "\n\n\r\n") } == "9\r\ndata: \(number)\n\n\r\n")
        }
        stream.finish()
        #expect(try await blocking { try socket.read(until: "0\r\n\r\n") } == "0\r\n\r\n")
        #expect(!stream.write([1]))
        try socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await blocking { try socket.readHead() }.hasPrefix("HTTP/1.1 204 "))
    }

    @Test func `a client of ours reads a stream as one body`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { _, _, reply in
                let stream = reply.stream(fields: ["Content-Type": "text/plain"])
                Task {
                    for number in 0..<1000 { stream.write(Array("\(number),".utf8)) }
                    stream.finish()
                }
            })
        let response = try await HTTPClient().fetch(server.url().text)
        #expect(response.body == Array((0..<1000).map { "\($0)," }.joined().utf8))
    }

    @Test func `a handler hears that the client has left`() async throws {
        let (server, begun) = try await streaming()
        let socket = try RawSocket.connected(to: server.port)
        try socket.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = await begun.wait()
        let closed = Signal<Void>()
        stream.onClose { closed.fire() }
        socket.close()
        await closed.wait()
        #expect(stream.isClosed)
        #expect(!stream.write([1]))
        let late = Signal<Void>()
        stream.onClose { late.fire() }
        await late.wait()
    }

    @Test(arguments: [true, false])
    func `closing one's side ends an event feed and no other stream`(isEventFeed: Bool) async throws {
        let (server, begun) = try await streaming(fields: isEventFeed ? Self.eventFeed : [:])
        let socket = try RawSocket.connected(to: server.port)
        defer { socket.close() }
        try socket.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = await begun.wait()
        if !isEventFeed { stream.write(Array("first".utf8)) }
        socket.finishWriting()
        if isEventFeed {
            let closed = Signal<Void>()
            stream.onClose { closed.fire() }
            await closed.wait()
        } else {
            _ = try await blocking { try socket.read(until: "first\r\n") }
            stream.write(Array("second".utf8))
            stream.finish()
            #expect(try await blocking { try socket.readToEnd() } == "6\r\nsecond\r\n0\r\n\r\n")
        }
    }

    @Test func `a client that does not keep up is cut off`() async throws {
        let (server, begun) = try await streaming(ServerConfiguration(maxStreamBuffer: 100_000))
        let socket = try RawSocket.connected(to: server.port)
        defer { socket.close() }
        try socket.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = await begun.wait()
        let closed = Signal<Void>()
        stream.onClose { closed.fire() }
        // The system's socket buffers hold a few megabytes at most.
        var pieces = 0
        while stream.write([UInt8](repeating: 65, count: 50_000)), pieces < 10_000 {
            pieces += 1
        }
        await closed.wait()
        #expect(pieces < 10_000)
    }

    @Test func `a producer that waits is never cut off`() async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(maxStreamBuffer: 100_000),
            handler: Answering { _, _, reply in
                let stream = reply.stream(fields: [:])
                Task {
                    for _ in 0..<300 {
                        stream.write([UInt8](repeating: 65, count: 90_000))
                        await stream.drained()
                    }
                    stream.finish()
                }
            })
        let client = HTTPClient(ClientConfiguration(limits: HTTPLimits(body: 1 << 26)))
        #expect(try await client.fetch(server.url().text).body.count == 27_000_000)
    }

    @Test func `a stream that its handler forgets is cut, not ended`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { _, _, reply in _ = reply.stream(fields: [:]).write([65]) })
        await #expect {
            try await HTTPClient().fetch(server.url().text)
        } throws: { error in
            guard case TransportError.closedEarly = error else { return false }
            return true
        }
    }

    @Test func `HEAD ends a stream before it begins`() async throws {
        let (server, begun) = try await streaming()
        let client = HTTPClient()
        let response = try await client.fetch(server.url("/stream").text, method: "HEAD")
        #expect(response.status == 200)
        let stream = await begun.wait()
        #expect(!stream.write([1]))
        #expect(try await client.fetch(server.url().text).status == 204)
        #expect(server.acceptedCount == 1)
    }

    @Test func `an HTTP 1.0 client reads a stream to the close`() async throws {
        let (server, begun) = try await streaming()
        let socket = try RawSocket.connected(to: server.port)
        defer { socket.close() }
        try socket.send("GET /stream HTTP/1.0\r\n\r\n")
        let stream = await begun.wait()
        stream.write(Array("plain".utf8))
        stream.finish()
        let answer = try await blocking { try socket.readToEnd() }
        #expect(answer.hasSuffix("\r\n\r\nplain"))
        #expect(!answer.contains("Transfer-Encoding"))
    }

    @Test func `a shutdown ends event feeds at once and waits for other answers`() async throws {
        let (server, begun) = try await streaming()
        let socket = try RawSocket.connected(to: server.port)
        defer { socket.close() }
        try socket.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = await begun.wait()
        stream.write(Array("data: last\n\n".utf8))
        await server.shutdown(graceMilliseconds: 20_000)
        let answer = try await blocking { try socket.readToEnd() }
        #expect(answer.hasSuffix("data: last\n\n\r\n0\r\n\r\n"))
        #expect(stream.isClosed)
    }

    @Test func `a made-up reply collects a stream`() async {
        let received = Signal<HTTPResponse>()
        let stream = Reply { received.fire($0) }.stream(status: 201, fields: ["A": "b"])
        stream.write([1, 2])
        stream.write([3])
        stream.finish()
        let response = await received.wait()
        #expect(response.status == 201)
        #expect(response.body == [1, 2, 3])
    }
}
