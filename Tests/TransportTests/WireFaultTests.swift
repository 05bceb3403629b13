import HTTP
import Synchronization
import Testing

@testable import Transport

/// Requests that go wrong on their way, against our server and a bare socket's view of it.
@Suite(.timeLimit(.minutes(1))) struct WireFaultTests {
    private func post(_ url: HTTPURL, _ fault: WireFault?, body: [UInt8] = Array("hello".utf8)) -> ClientRequest {
        var request = ClientRequest(url: url, method: "POST", body: body, timeoutMilliseconds: 10_000)
        request.wireFault = fault
        return request
    }

    @Test(arguments: [WireFault.reset, .truncate])
    func `a broken request fails at once, and the next one has a connection of its own`(
        fault: WireFault
    ) async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let client = HTTPClient()
        #expect(try await client.send(post(try HTTPURL(server.url().text), nil)).status == 200)
        await #expect(throws: TransportError.closedEarly(receivedBytes: 0)) {
            try await client.send(post(try HTTPURL(server.url().text), fault))
        }
        #expect(try await client.send(post(try HTTPURL(server.url().text), nil)).body == Array("hello".utf8))
        #expect(server.acceptedCount == 2)
    }

    @Test func `half a request is never acted upon`() async throws {
        let acted = Mutex(0)
        let server = try await HTTPServer.start(
            handler: Answering { _, _, reply in
                acted.withLock { $0 += 1 }
                reply.send(HTTPResponse(status: 204))
            })
        let client = HTTPClient()
        let body = [UInt8](repeating: 7, count: 100_000)
        _ = try? await client.send(post(try HTTPURL(server.url().text), .truncate, body: body))
        #expect(try await client.send(post(try HTTPURL(server.url().text), nil)).status == 204)
        #expect(acted.withLock { $0 } == 1)
        await server.shutdown()
    }

    @Test(arguments: [1, 16, 4096]) func `a request that comes in drips arrives whole, and its connection is not kept`(
        bytes: Int
    ) async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let client = HTTPClient()
        let drip = WireFault.dribble(bytes: bytes, milliseconds: 1)
        let response = try await client.send(post(try HTTPURL(server.url("/x?y=z").text), drip))
        #expect(response.fields["X-Target"] == "/x?y=z")
        #expect(response.body == Array("hello".utf8))
        #expect(try await client.send(post(try HTTPURL(server.url().text), nil)).status == 200)
        #expect(server.acceptedCount == 2)
    }
}
