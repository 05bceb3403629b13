import HTTP
import Testing

@testable import Transport

/// Starting, stopping and letting go.
@Suite(.timeLimit(.minutes(1))) struct LifetimeTests {
    @Test func `a port that is taken is named in the error`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        await #expect(throws: TransportError.portInUse(port: server.port)) {
            _ = try await HTTPServer.start(ServerConfiguration(port: server.port), handler: Answering.echo)
        }
    }

    @Test func `a port is free again after a shutdown`() async throws {
        let first = try await HTTPServer.start(handler: Answering.echo)
        _ = try await HTTPClient().fetch(first.url().text)
        await first.shutdown()
        let second = try await HTTPServer.start(ServerConfiguration(port: first.port), handler: Answering.echo)
        #expect(second.port == first.port)
    }

    @Test func `an address that is not ours cannot be listened on`() async throws {
        await #expect {
            _ = try await HTTPServer.start(ServerConfiguration(host: "192.0.2.1"), handler: Answering.echo)
        } throws: { error in
            guard case TransportError.cannotListen(host: "192.0.2.1", _) = error else { return false }
            return true
        }
    }

    @Test func `a shutdown lets a request under way be answered and closes idle connections`() async throws {
        let arrived = Signal<Reply>()
        let server = try await HTTPServer.start(
            handler: Answering { request, _, reply in
                if request.target == "/slow" { arrived.fire(reply) } else { reply.send(HTTPResponse(status: 204)) }
            })
        let idle = try RawSocket.connected(to: server.port)
        defer { idle.close() }
        try idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await blocking { try idle.readHead() }
        let url = try server.url("/slow").text
        async let slow = HTTPClient().fetch(url)
        let reply = await arrived.wait()
        async let stopped: Void = server.shutdown(graceMilliseconds: 20_000)
        // The idle connection is closed while the other one is still waiting for its answer.
        #expect(try await blocking { try idle.readToEnd() } == "")
        reply.send(HTTPResponse(status: 200, body: Array("done".utf8)))
        let response = try await slow
        #expect(response.body == Array("done".utf8))
        #expect(response.fields["Connection"] == "close")
        await stopped
        #expect(server.connectionCount == 0)
    }

    @Test func `a shutdown cuts what is not done when its grace is over`() async throws {
        let arrived = Signal<Reply>()
        let server = try await HTTPServer.start(handler: Answering { _, _, reply in arrived.fire(reply) })
        let url = try server.url().text
        let fetch = Task { try await HTTPClient().fetch(url) }
        let reply = await arrived.wait()
        await server.shutdown(graceMilliseconds: 10)
        await #expect(throws: TransportError.closedEarly(receivedBytes: 0)) { try await fetch.value }
        reply.send(HTTPResponse(status: 204))
    }

    @Test func `a server that is released closes its connections and its port`() async throws {
        var server: HTTPServer? = try await HTTPServer.start(handler: Answering.echo)
        let port = try #require(server?.port)
        let socket = try RawSocket.connected(to: port)
        defer { socket.close() }
        try socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await blocking { try socket.readHead() }
        server = nil
        #expect(try await blocking { try socket.readToEnd() } == "")
    }

    @Test func `a group of loops that is released ends its threads and fails nobody`() async throws {
        let released = Signal<Void>()
        do {
            let group = EventLoopGroup(threads: 1)
            let loop = try #require(group.loops.first)
            let sentinel = Sentinel { released.fire() }
            // The timer is never due: it goes, and the sentinel with it, when the loop does.
            loop.execute { loop.set(LoopTimer { _ = sentinel }, milliseconds: 1_000_000_000) }
            let server = try await HTTPServer.start(loops: group, handler: Answering.echo)
            let client = HTTPClient(loops: group)
            #expect(try await client.fetch(server.url().text).status == 200)
            client.close()
            await server.shutdown()
        }
        await released.wait()
    }

    /// Tells when it is released.
    private final class Sentinel: Sendable {
        private let action: @Sendable () -> Void

        init(_ action: @escaping @Sendable () -> Void) { self.action = action }

        deinit { action() }
    }

    @Test func `a closed client refuses`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let client = HTTPClient()
        _ = try await client.fetch(server.url().text)
        client.close()
        await #expect(throws: TransportError.clientClosed) { try await client.fetch(server.url().text) }
    }
}
