import HTTP
import Synchronization
import Testing

@testable import Transport

/// Our client against servers that break, stall, or lie.
@Suite(.timeLimit(.minutes(1))) struct ClientFailureTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Reads one request without body, and answers it.
    private static func answer(_ socket: RawSocket, _ text: String = ok) throws {
        _ = try socket.readHead()
        try socket.send(text)
    }

    private func failure(_ body: () async throws -> HTTPResponse) async -> TransportError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? TransportError
        }
    }

    @Test func `a response that comes byte by byte, after an interim one, is understood`() async throws {
        let server = try ScriptedServer { socket in
            _ = try socket.readHead()
            let head = "HTTP/1.1 200 Fine\r\ntransfer-encoding: chunked\r\nX-a: 1\r\nx-A: 2\r\n\r\n"
            let text = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + head + "3\r\nabc\r\n0\r\n\r\n"
            for byte in text.utf8 { try socket.send([byte]) }
        }
        let response = try await HTTPClient().fetch(server.url())
        #expect(response.reason == "Fine")
        #expect(response.body == Array("abc".utf8))
        #expect(response.fields.map(\.name) == ["transfer-encoding", "X-a", "x-A"])
    }

    @Test func `fields go out in the order and case given, with Host first and the length last`() async throws {
        let head = Signal<String>()
        let server = try ScriptedServer { socket in
            head.fire(try socket.read(until: "\r\n\r\nabc"))
            try socket.send(Self.ok)
        }
        let fields: HTTPFields = ["dPoP": "1", "DPOP": "2", "aCCept": "x"]
        _ = try await HTTPClient().fetch(server.url("/p"), method: "POST", fields: fields, body: Array("abc".utf8))
        let expected = """
            POST /p HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\ndPoP: 1\r\nDPOP: 2\r\naCCept: x\r\n\
            Content-Length: 3\r\n\r\nabc
            """
        #expect(await head.wait() == expected)
    }

    @Test func `a body without a length ends with the connection`() async throws {
        let server = try ScriptedServer { socket in
            try Self.answer(socket, "HTTP/1.1 200 OK\r\n\r\nall of it")
            socket.close()
        }
        #expect(try await HTTPClient().fetch(server.url()).body == Array("all of it".utf8))
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
    ])
    func `a connection closed early says how much came`(text: String) async throws {
        let server = try ScriptedServer { socket in
            try Self.answer(socket, text)
            socket.close()
        }
        let error = await failure { try await HTTPClient().fetch(server.url()) }
        #expect(error == .closedEarly(receivedBytes: text.utf8.count))
    }

    @Test func `a reset in the middle of a body is an early close`() async throws {
        let mayReset = Signal<Void>()
        let server = try ScriptedServer { socket in
            try Self.answer(socket, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort")
            Task {
                await mayReset.wait()
                socket.reset()
            }
        }
        mayReset.fire()
        let error = await failure { try await HTTPClient().fetch(server.url()) }
        guard case .closedEarly = error else {
            Issue.record("not an early close: \(String(describing: error))")
            return
        }
    }

    @Test func `a POST on a kept connection that died is not sent again`() async throws {
        let bodies = Mutex<[String]>([])
        let server = try ScriptedServer(
            { socket in
                try Self.answer(socket)
                bodies.withLock { $0.append("") }
                _ = try socket.readHead()
                bodies.withLock { $0.append("") }
                socket.close()
            },
            { socket in try Self.answer(socket) })
        let client = HTTPClient()
        _ = try await client.fetch(server.url())
        let error = await failure { try await client.fetch(server.url(), method: "POST") }
        #expect(error == .closedEarly(receivedBytes: 0))
        #expect(server.accepted == 1)
        #expect(bodies.withLock { $0.count } == 2)
    }

    @Test func `a GET on a kept connection that died is sent once more, on a fresh one`() async throws {
        let server = try ScriptedServer(
            { socket in
                try Self.answer(socket)
                _ = try socket.readHead()
                socket.close()
            },
            { socket in try Self.answer(socket, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond") })
        let client = HTTPClient()
        _ = try await client.fetch(server.url())
        #expect(try await client.fetch(server.url()).body == Array("second".utf8))
        #expect(server.accepted == 2)
    }

    @Test func `a GET is not sent a third time`() async throws {
        let server = try ScriptedServer(
            { socket in
                try Self.answer(socket)
                _ = try socket.readHead()
                socket.close()
            },
            { socket in
                _ = try socket.readHead()
                socket.close()
            })
        let client = HTTPClient()
        _ = try await client.fetch(server.url())
        #expect(await failure { try await client.fetch(server.url()) } == .closedEarly(receivedBytes: 0))
        #expect(server.accepted == 2)
    }

    @Test func `a GET whose answer had begun is not sent again`() async throws {
        let server = try ScriptedServer { socket in
            try Self.answer(socket)
            try Self.answer(socket, "HTTP/1.1 2")
            socket.close()
        }
        let client = HTTPClient()
        _ = try await client.fetch(server.url())
        #expect(await failure { try await client.fetch(server.url()) } == .closedEarly(receivedBytes: 10))
        #expect(server.accepted == 1)
    }

    @Test func `a POST is not risked on a connection the server has closed`() async throws {
        let closed = Signal<Void>()
        let server = try ScriptedServer(
            { socket in
                try Self.answer(socket)
                socket.close()
                closed.fire()
            },
            { socket in try Self.answer(socket) })
        let client = HTTPClient()
        _ = try await client.fetch(server.url())
        await closed.wait()
        #expect(try await client.fetch(server.url(), method: "POST").status == 200)
        #expect(server.accepted == 2)
    }

    @Test func `bytes nobody asked for end a connection`() async throws {
        let server = try ScriptedServer { socket in
            try Self.answer(socket, Self.ok + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        }
        let client = HTTPClient()
        #expect(try await client.fetch(server.url()).body == Array("ok".utf8))
        #expect(try await client.fetch(server.url()).body == Array("ok".utf8))
        #expect(server.accepted == 2)
    }

    @Test func `an answer that comes before the request is sent whole is taken`() async throws {
        let server = try ScriptedServer { socket in
            _ = try socket.receive()
            try socket.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        }
        let client = HTTPClient()
        let response = try await client.fetch(
            server.url(), method: "POST", body: [UInt8](repeating: 0, count: 32 << 20))
        #expect(response.status == 413)
    }

    @Test func `what is not HTTP is refused with the rule it breaks`() async throws {
        let server = try ScriptedServer { try Self.answer($0, "SSH-2.0-OpenSSH_9.2\r\n\r\n") }
        #expect(await failure { try await HTTPClient().fetch(server.url()) } == .badResponse(.malformedStatusLine))
    }

    @Test func `a body over the limit is refused`() async throws {
        let server = try ScriptedServer { try Self.answer($0, "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n") }
        let client = HTTPClient(ClientConfiguration(limits: HTTPLimits(body: 100)))
        #expect(await failure { try await client.fetch(server.url()) } == .tooLarge(limit: 100))
    }

    @Test func `the total time names the stage it ran out in`() async throws {
        let silent = try ScriptedServer { _ = try $0.readHead() }
        #expect(await failure { try await HTTPClient().fetch(silent.url(), timeout: 30) } == .timedOut(.head))
        let slow = try ScriptedServer { try Self.answer($0, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") }
        #expect(await failure { try await HTTPClient().fetch(slow.url(), timeout: 300) } == .timedOut(.body))
    }

    @Test func `an exchange in line for a connection runs out of time too, and frees its place`() async throws {
        let silent = try ScriptedServer { _ = try $0.readHead() }
        let client = HTTPClient(ClientConfiguration(maxConnectionsPerOrigin: 1))
        let url = silent.url()
        async let first = failure { try await client.fetch(url, timeout: 400) }
        async let second = failure { try await client.fetch(url, timeout: 200) }
        let errors = await [first, second]
        #expect(errors.contains(.timedOut(.head)))
        #expect(errors.contains(.timedOut(.queue)) || silent.accepted == 2)
    }

    @Test func `a handshake that never ends runs into the connect time`() async throws {
        let silent = try ScriptedServer { _ = try $0.readToEnd() }
        let client = HTTPClient(ClientConfiguration(connectMilliseconds: 30))
        let error = await failure { try await client.fetch("https://127.0.0.1:\(silent.port)/") }
        #expect(error == .timedOut(.handshake))
    }

    @Test func `nobody listening is unreachable`() async throws {
        let port = try { try ScriptedServer { $0.close() }.port }()
        let error = await failure { try await HTTPClient().fetch("http://127.0.0.1:\(port)/") }
        #expect(error == .unreachable(host: "127.0.0.1:\(port)", reason: "connection refused"))
    }

    @Test func `a name nobody has is unreachable`() async throws {
        let error = await failure { try await HTTPClient().fetch("http://nobody.invalid/") }
        guard case .unreachable(host: "nobody.invalid", _) = error else {
            Issue.record("not unreachable: \(String(describing: error))")
            return
        }
    }

    @Test func `cancelling the task cuts the connection`() async throws {
        let asked = Signal<Void>()
        let cut = Signal<Void>()
        let server = try ScriptedServer { socket in
            _ = try socket.readHead()
            asked.fire()
            _ = try? socket.receive()
            cut.fire()
        }
        let task = Task { try await HTTPClient().fetch(server.url()) }
        await asked.wait()
        task.cancel()
        await #expect(throws: TransportError.cancelled) { try await task.value }
        await cut.wait()
    }

    @Test func `a task cancelled before it sends sends nothing`() async throws {
        let server = try ScriptedServer { try Self.answer($0) }
        let mayGo = Signal<Void>()
        let task = Task {
            await mayGo.wait()
            return try await HTTPClient().fetch(server.url())
        }
        task.cancel()
        mayGo.fire()
        await #expect(throws: TransportError.cancelled) { try await task.value }
        #expect(server.accepted == 0)
    }

    @Test func `an override that is no address is reported`() async throws {
        let client = HTTPClient(ClientConfiguration(resolve: ["a:80": "b:80"]))
        guard case .badConfiguration = await failure({ try await client.fetch("http://a/") }) else {
            Issue.record("accepted")
            return
        }
    }
}
