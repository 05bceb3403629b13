import HTTP
import Testing

@testable import Transport

/// Our client and our server, talking to each other.
@Suite(.timeLimit(.minutes(1))) struct ExchangeTests {
    @Test func `a request and its answer arrive as they were sent`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let response = try await HTTPClient().fetch(
            server.url("/a%20b?c=d").text, method: "POST", body: Array("hello".utf8))
        #expect(response.status == 200)
        #expect(response.fields["X-Target"] == "/a%20b?c=d")
        #expect(response.body == Array("hello".utf8))
        await server.shutdown()
    }

    @Test func `requests in sequence share one connection`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let client = HTTPClient()
        for number in 0..<50 {
            let response = try await client.fetch(server.url("/\(number)").text)
            #expect(response.fields["X-Target"] == "/\(number)")
        }
        #expect(server.acceptedCount == 1)
    }

    @Test func `requests at the same time each get their own answer`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let client = HTTPClient(ClientConfiguration(maxConnectionsPerOrigin: 8))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let response = try await client.fetch(
                        server.url("/\(number)").text, method: "POST", body: Array("body \(number)".utf8))
                    return response.fields["X-Target"] == "/\(number)"
                        && response.body == Array("body \(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.acceptedCount <= 8)
    }

    @Test func `sixteen mebibytes go both ways unharmed`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        var body = (0..<4099).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 3) }
        while body.count < 8 << 20 { body += body }
        body += body.prefix((16 << 20) - body.count)
        let response = try await HTTPClient().fetch(server.url().text, method: "PUT", body: body)
        #expect(response.body == body)
    }

    @Test func `a chunked request body arrives whole`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let response = try await HTTPClient().fetch(
            server.url().text, method: "POST", fields: ["Transfer-Encoding": "chunked"],
            body: Array("in a chunk".utf8))
        #expect(response.body == Array("in a chunk".utf8))
    }

    @Test func `HEAD is answered with a length and no body, and the connection stays usable`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { _, _, reply in reply.send(HTTPResponse(status: 200, body: Array("12345".utf8))) })
        let client = HTTPClient()
        let head = try await client.fetch(server.url().text, method: "HEAD")
        #expect(head.fields["Content-Length"] == "5")
        #expect(head.body.isEmpty)
        #expect(try await client.fetch(server.url().text).body == Array("12345".utf8))
        #expect(server.acceptedCount == 1)
    }

    @Test func `a redirect is handed over and not followed`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { _, _, reply in
                reply.send(HTTPResponse(status: 302, fields: ["Location": "/elsewhere"]))
            })
        let response = try await HTTPClient().fetch(server.url().text)
        #expect(response.status == 302)
        #expect(response.fields["Location"] == "/elsewhere")
    }

    @Test func `a reply may come from another thread, long after the handler returned`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { request, _, reply in
                Task { reply.send(HTTPResponse(status: 200, body: request.body)) }
            })
        let client = HTTPClient()
        for number in 0..<100 {
            let body = Array("\(number)".utf8)
            #expect(try await client.fetch(server.url().text, method: "POST", body: body).body == body)
        }
        #expect(server.acceptedCount == 1)
    }

    @Test func `a request asks to close and the connection is not used again`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        let client = HTTPClient()
        let response = try await client.fetch(server.url().text, fields: ["Connection": "close"])
        #expect(response.fields["Connection"] == "close")
        _ = try await client.fetch(server.url().text)
        #expect(server.acceptedCount == 2)
    }

    @Test func `a resolve override says where a name is, and the Host field keeps the name`() async throws {
        let host = Signal<String?>()
        let server = try await HTTPServer.start(
            handler: Answering { request, _, reply in
                host.fire(request.fields["Host"])
                reply.send(HTTPResponse(status: 204))
            })
        let client = HTTPClient(
            ClientConfiguration(resolve: ["idp.test:8443": "127.0.0.1:\(server.port)"]))
        #expect(try await client.fetch("http://idp.test:8443/").status == 204)
        #expect(await host.wait() == "idp.test:8443")
    }

    @Test func `the server sees the local address a client was told to come from`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { _, peer, reply in
                reply.send(HTTPResponse(status: 200, body: Array(peer.address.utf8)))
            })
        let client = HTTPClient(ClientConfiguration(localAddress: "127.0.0.2"))
        #expect(try await client.fetch(server.url().text).body == Array("127.0.0.2".utf8))
        let other = ClientRequest(url: try server.url(), localAddress: "127.0.0.3")
        #expect(try await client.send(other).body == Array("127.0.0.3".utf8))
    }

    @Test func `an IPv6 server is reached and named by its literal`() async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(host: "::1"),
            handler: Answering { request, peer, reply in
                let text = "\(request.fields["Host"] ?? "") \(peer.address) \(peer.isLoopback)"
                reply.send(HTTPResponse(status: 200, body: Array(text.utf8)))
            })
        let response = try await HTTPClient().fetch("http://[::1]:\(server.port)/")
        #expect(String(decoding: response.body, as: UTF8.self) == "[::1]:\(server.port) ::1 true")
    }

    @Test func `names under localhost need no name server`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        #expect(try await HTTPClient().fetch("http://acme.localhost:\(server.port)/").status == 200)
    }

    @Test func `a field that cannot be sent is refused before anything leaves`() async throws {
        let server = try await HTTPServer.start(handler: Answering.echo)
        await #expect(throws: TransportError.badRequest(.malformedFieldValue(name: "X"))) {
            try await HTTPClient().fetch(server.url().text, fields: ["X": "a\r\nY: b"])
        }
        #expect(server.acceptedCount == 0)
    }

    @Test func `a handler that answers with a broken field makes it a 500`() async throws {
        let server = try await HTTPServer.start(
            handler: Answering { _, _, reply in reply.send(HTTPResponse(status: 200, fields: ["X": "\n"])) })
        #expect(try await HTTPClient().fetch(server.url().text).status == 500)
    }

    @Test func `a handler that drops its reply makes it a 500`() async throws {
        let server = try await HTTPServer.start(handler: Answering { _, _, _ in })
        #expect(try await HTTPClient().fetch(server.url().text).status == 500)
    }
}
