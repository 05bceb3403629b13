import HTTP
import Testing
import Transport

@Suite(.timeLimit(.minutes(1))) struct ExchangeTests {
    @Test func `a request and its answer arrive as they were sent`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let client = HTTPClient()
        let response = try await client.fetch(
            server.url("/a%20b?c=d").text, method: "POST", body: Array("hello".utf8))
        #expect(response.status == 200)
        #expect(response.fields["X-Target"] == "/a%20b?c=d")
        #expect(response.body == Array("hello".utf8))
        await server.shutdown()
    }
}
