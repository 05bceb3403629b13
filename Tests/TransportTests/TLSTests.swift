import HTTP
import Testing

@testable import Transport

/// TLS with a private authority made for the test.
@Suite(.timeLimit(.minutes(1))) struct TLSTests {
    private let certificates: Certificates

    init() async throws { certificates = try await Certificates.shared.value }

    private func settings(_ name: String = "leaf") -> TLSServerSettings {
        TLSServerSettings(
            certificateChainFile: certificates.path("\(name).pem"), privateKeyFile: certificates.path("\(name).key"))
    }

    private func start(_ certificate: String = "leaf") async throws -> HTTPServer {
        try await HTTPServer.start(ServerConfiguration(tls: settings(certificate)), handler: Answering.echo)
    }

    /// A client that trusts the authority and finds every test name at the server.
    private func client(
        of server: HTTPServer, trusting authority: String? = "ca", pinned: String? = nil
    ) -> HTTPClient {
        let names = ["idp.test", "a.wild.test", "other.test"].map { ("\($0):443", "127.0.0.1:\(server.port)") }
        let tls = TLSClientSettings(
            caFile: authority.map { certificates.path("\($0).pem") }, pinnedServerName: pinned)
        return HTTPClient(ClientConfiguration(tls: tls, resolve: Dictionary(uniqueKeysWithValues: names)))
    }

    private func reason(_ body: () async throws -> HTTPResponse) async -> String {
        do {
            return "status \(try await body().status)"
        } catch TransportError.tls(let reason) {
            return reason
        } catch {
            return "\(error)"
        }
    }

    @Test func `a named server is trusted, and one connection serves many requests`() async throws {
        let server = try await start()
        let client = client(of: server)
        for number in 0..<20 {
            let response = try await client.fetch("https://idp.test/\(number)", method: "POST", body: [1, 2, 3])
            #expect(response.body == [1, 2, 3])
        }
        #expect(try await client.fetch("https://a.wild.test/").status == 200)
        #expect(server.acceptedCount == 2)
    }

    @Test func `an address in the certificate is trusted`() async throws {
        let server = try await start()
        #expect(try await client(of: server).fetch("https://127.0.0.1:\(server.port)/").status == 200)
    }

    @Test func `a wrong name is refused and nothing is sent`() async throws {
        let server = try await start()
        let client = client(of: server)
        #expect(
            await reason { try await client.fetch("https://other.test/") }
                == "certificate verify failed: hostname mismatch")
    }

    @Test func `a wrong address is refused`() async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(host: "127.0.0.2", tls: settings()), handler: Answering.echo)
        let client = client(of: server)
        #expect(
            await reason { try await client.fetch("https://127.0.0.2:\(server.port)/") }
                == "certificate verify failed: IP address mismatch")
    }

    @Test func `a pinned name is looked for instead of the host`() async throws {
        let server = try await start()
        let client = client(of: server, pinned: "idp.test")
        #expect(try await client.fetch("https://other.test/").status == 200)
    }

    @Test func `an unknown authority is refused, the system's store included`() async throws {
        let server = try await start()
        let reasons = [
            await reason { try await client(of: server, trusting: "stranger").fetch("https://idp.test/") },
            await reason { try await client(of: server, trusting: nil).fetch("https://idp.test/") },
        ]
        for reason in reasons {
            #expect(reason == "certificate verify failed: unable to get local issuer certificate")
        }
    }

    @Test func `an expired certificate is refused`() async throws {
        let server = try await start("old")
        let client = client(of: server)
        #expect(
            await reason { try await client.fetch("https://idp.test/") }
                == "certificate verify failed: certificate has expired")
    }

    @Test func `large bodies pass both ways`() async throws {
        let server = try await start()
        let body = [UInt8](repeating: 7, count: 10 << 20)
        let response = try await client(of: server).fetch("https://idp.test/", method: "PUT", body: body)
        #expect(response.body == body)
    }

    @Test func `plain HTTP to a TLS server, and TLS to a plain one, fail cleanly`() async throws {
        let server = try await start()
        await #expect(throws: TransportError.self) {
            try await HTTPClient().fetch("http://127.0.0.1:\(server.port)/")
        }
        let plain = try await HTTPServer.start(handler: Answering.echo)
        let client = client(of: plain)
        #expect(await reason { try await client.fetch("https://idp.test/") } == "wrong version number")
    }

    @Test func `a handshake that stalls is cut after the header time`() async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(tls: settings(), headerMilliseconds: 50), handler: Answering.echo)
        let socket = try RawSocket.connected(to: server.port)
        defer { socket.close() }
        try socket.send([0x16])
        #expect(try await blocking { try socket.readToEnd() } == "")
    }

    @Test func `the handler is told that the request came over TLS`() async throws {
        let server = try await HTTPServer.start(
            ServerConfiguration(tls: settings()),
            handler: Answering { _, peer, reply in reply.send(HTTPResponse(status: peer.secure ? 200 : 500)) })
        #expect(try await client(of: server).fetch("https://idp.test/").status == 200)
    }

    @Test func `files that cannot be used are named`() async throws {
        let mixed = TLSServerSettings(
            certificateChainFile: certificates.path("leaf.pem"), privateKeyFile: certificates.path("old.key"))
        await #expect {
            _ = try await HTTPServer.start(ServerConfiguration(tls: mixed), handler: Answering.echo)
        } throws: { "\($0)".contains("key") }
        let server = try await start()
        let client = client(of: server, trusting: "missing")
        #expect(await reason { try await client.fetch("https://idp.test/") }.contains("missing.pem cannot be used"))
    }

    @Test(arguments: [true, false])
    func `a body that ends with the connection needs a close_notify to be whole`(isNotified: Bool) async throws {
        let context = try TLSContext.server(settings())
        let server = try ScriptedServer { socket in
            let tls = try ScriptedTLS(context, on: socket)
            try tls.readHead()
            try tls.send("HTTP/1.1 200 OK\r\n\r\nto the end")
            if isNotified { try tls.sendCloseNotify() }
            socket.close()
        }
        let names = ["idp.test:443": "127.0.0.1:\(server.port)"]
        let client = HTTPClient(
            ClientConfiguration(tls: TLSClientSettings(caFile: certificates.path("ca.pem")), resolve: names))
        let outcome = await reason { try await client.fetch("https://idp.test/") }
        #expect(outcome == (isNotified ? "status 200" : "closed without close_notify: the body may be cut short"))
    }
}

/// The server's side of TLS on a blocking socket.
private final class ScriptedTLS {
    private let session: TLSSession
    private let socket: RawSocket

    /// Shakes hands.
    init(_ context: TLSContext, on socket: RawSocket) throws {
        session = try context.serverSession()
        self.socket = socket
        while try !session.handshake() {
            try flush()
            try receive()
        }
        try flush()
    }

    /// Reads until the end of a request head.
    func readHead() throws {
        var text = ""
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 1)
        defer { buffer.deallocate() }
        while !text.hasSuffix("\r\n\r\n") {
            switch try session.read(into: buffer) {
            case .bytes(let count): text += String(decoding: buffer[..<count], as: UTF8.self)
            case .nothing: try receive()
            case .closed: return
            }
        }
    }

    func send(_ text: String) throws {
        try session.write(Array(text.utf8))
        try flush()
    }

    func sendCloseNotify() throws {
        session.sendCloseNotify()
        try flush()
    }

    private func flush() throws { try socket.send(session.takeOutput()) }

    private func receive() throws { try (try socket.receive()).withUnsafeBytes { try session.receive($0) } }
}
