import Foundation
import HTTP
import Testing

@testable import Transport

/// Our server against scripts that write bytes no client of ours would.
@Suite(.timeLimit(.minutes(1))) struct ServerProtocolTests {
    private func exchange(
        _ server: HTTPServer, _ script: @escaping @Sendable (RawSocket) throws -> String
    ) async throws -> String {
        let port = server.port
        return try await blocking {
            let socket = try RawSocket.connected(to: port)
            defer { socket.close() }
            return try script(socket)
        }
    }

    @Test func `pipelined requests are answered in order even when the first takes longest`() async throws {
        let first = Signal<Reply>()
        let server = try await HTTPServer.start(
            handler: Answering { request, _, reply in
                if request.target == "/1" { return first.fire(reply) }
                reply.send(HTTPResponse(status: 200, body: Array(request.target.utf8)))
            })
        let socket = try RawSocket.connected(to: server.port)
        defer { socket.close() }
        try socket.send((1...5).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        await first.wait().send(HTTPResponse(status: 200, body: Array("/1".utf8)))
        let answers = try await blocking { try socket.read(until: "/5") }
        let bodies = answers.components(separatedBy: "\r\n\r\n").dropFirst().map { $0.prefix(2) }
        #expect(bodies == ["/1", "/2", "/3", "/4", "/5"])
    }

    @Test func `a request that comes byte by byte is understood`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let answer = try await exchange(server) { socket in
            for byte in "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8 {
                try socket.send([byte])
            }
            return try socket.read(until: "\r\n\r\nabc")
        }
        #expect(answer.contains("X-Target: /slow\r\n"))
    }

    @Test func `100-continue is said before the body comes`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let answer = try await exchange(server) { socket in
            try socket.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            let interim = try socket.readHead()
            try socket.send("body")
            return interim + (try socket.read(until: "body"))
        }
        #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
    }

    @Test func `an expectation we do not know is refused`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let answer = try await exchange(server) { socket in
            try socket.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 4\r\n\r\n")
            return try socket.readToEnd()
        }
        #expect(answer.hasPrefix("HTTP/1.1 417 "))
    }

    /// Input a server refuses; described by its beginning, since some of it is very long.
    struct Refused: CustomTestStringConvertible, Sendable {
        let input: String
        let status: Int

        init(_ input: String, _ status: Int) {
            self.input = input
            self.status = status
        }

        var testDescription: String { "\(status): \(input.prefix(60).split(separator: "\r\n").joined(separator: "|"))" }
    }

    @Test(arguments: [
        Refused("GET / HTTP/1.1\r\n\r\n", 400),
        Refused("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        Refused("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        Refused("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        Refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        Refused("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 20_000) + "\r\n\r\n", 431),
        Refused("GET /" + String(repeating: "x", count: 9000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        Refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413),
        Refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413),
    ])
    func `what cannot be accepted is answered with its status and the connection closed`(
        _ refused: Refused
    ) async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(limits: HTTPLimits(body: 1000)), handler: Answering.echo)
        let answer = try await exchange(server) { socket in
            try socket.send(refused.input)
            return try socket.readToEnd()
        }
        #expect(answer.hasPrefix("HTTP/1.1 \(refused.status) "))
        #expect(answer.contains("Connection: close\r\n"))
    }

    @Test func `a body over the limit is read off so that its sender sees the answer`() async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(limits: HTTPLimits(body: 1000)), handler: Answering.echo)
        let answer = try await exchange(server) { socket in
            try socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n")
            for _ in 0..<80 { try socket.send([UInt8](repeating: 65, count: 100_000)) }
            return try socket.readToEnd()
        }
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
    }

    @Test func `a head that does not come in time is answered 408`() async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(headerMilliseconds: 50), handler: Answering.echo)
        let answer = try await exchange(server) { socket in
            try socket.send("GET / HTTP/1.1\r\nHo")
            return try socket.readToEnd()
        }
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
    }

    @Test func `a silent connection is closed without a word`() async throws {
        let server = try await HTTPServer.start(ServerConfiguration(idleSeconds: 1), handler: Answering.echo)
        #expect(try await exchange(server) { try $0.readToEnd() } == "")
    }

    @Test func `one connection too many is answered 503`() async throws {
        let server = try await HTTPServer.start(ServerConfiguration(maxConnections: 1), handler: Answering.echo)
        let answer = try await exchange(server) { socket in
            try socket.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try socket.readHead()
            let second = try RawSocket.connected(to: server.port)
            defer { second.close() }
            try second.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
            let refusal = try second.readToEnd()
            try socket.send("GET /again HTTP/1.1\r\nHost: a\r\n\r\n")
            return refusal + (try socket.readHead())
        }
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(answer.contains("X-Target: /again"))
    }

    @Test func `a client that has closed its side still gets the answer`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { _, _, reply in
                Task { reply.send(HTTPResponse(status: 200, body: [UInt8](repeating: 66, count: 3_000_000))) }
            })
        let answer = try await exchange(server) { socket in
            try socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            socket.finishWriting()
            return try socket.readToEnd()
        }
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.hasSuffix(String(repeating: "B", count: 1000)))
        #expect(answer.count > 3_000_000)
    }

    @Test func `a client that is gone takes its reply with it and nobody else's`() async throws {
        let arrived = Signal<Reply>()
        let server = try await HTTPServer.start(
            handler: Answering { request, _, reply in
                if request.target == "/gone" { arrived.fire(reply) } else { reply.send(HTTPResponse(status: 204)) }
            })
        _ = try await exchange(server) { socket in
            try socket.send("GET /gone HTTP/1.1\r\nHost: a\r\n\r\n")
            return ""
        }
        await arrived.wait().send(HTTPResponse(status: 200, body: [UInt8](repeating: 0, count: 1 << 20)))
        #expect(try await HTTPClient().fetch(server.url().text).status == 204)
    }

    @Test func `HTTP 1.0 is answered and closed, and kept when asked for`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let closed = try await exchange(server) { socket in
            try socket.send("GET /old HTTP/1.0\r\n\r\n")
            return try socket.readToEnd()
        }
        #expect(closed.contains("X-Target: /old"))
        let kept = try await exchange(server) { socket in
            try socket.send("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let first = try socket.readHead()
            try socket.send("GET /2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            return first + (try socket.readHead())
        }
        #expect(kept.contains("X-Target: /1") && kept.contains("X-Target: /2"))
        #expect(kept.contains("Connection: keep-alive"))
    }

    @Test func `chunks and trailers of a request are put together`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { request, _, reply in
                let text = String(decoding: request.body, as: UTF8.self) + (request.trailers["X-Sum"] ?? "")
                reply.send(HTTPResponse(status: 200, body: Array(text.utf8)))
            })
        let answer = try await exchange(server) { socket in
            try socket.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in ["3\r\nabc\r\n", "2;x=y\r\nde\r\n", "0\r\nX-Sum: 5\r\n\r\n"] { try socket.send(piece) }
            return try socket.read(until: "abcde5")
        }
        #expect(answer.contains("Content-Length: 6\r\n"))
    }
}
