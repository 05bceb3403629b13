import HTTP
import Testing

@testable import Transport

/// Requests through a proxy written for the test.
@Suite(.timeLimit(.minutes(1))) struct ProxyTests {
    @Test func `a plain request names the whole URL to the proxy`() async throws {
        let head = Signal<String>()
        let proxy = try ScriptedServer { socket in
            head.fire(try socket.readHead())
            try socket.send("HTTP/1.1 204 No Content\r\n\r\n")
        }
        let client = HTTPClient(ClientConfiguration(proxy: .url(try HTTPURL(proxy.url()))))
        #expect(try await client.fetch("http://idp.test:81/p?q").status == 204)
        #expect(await head.wait() == "GET http://idp.test:81/p?q HTTP/1.1\r\nHost: idp.test:81\r\n\r\n")
    }

    @Test func `a TLS request goes through a tunnel`() async throws {
        let certificates = try await Certificates.shared.value
        let tls = TLSServerSettings(
            certificateChainFile: certificates.path("leaf.pem"), privateKeyFile: certificates.path("leaf.key"))
        let server = try await HTTPServer.start(ServerConfiguration(tls: tls), handler: Answering.echo)
        let head = Signal<String>()
        let port = server.port
        let proxy = try ScriptedServer { socket in
            head.fire(try socket.readHead())
            let origin = try RawSocket.connected(to: port)
            try socket.send("HTTP/1.1 200 Connection Established\r\n\r\n")
            Threads.start(name: "test-relay") { try? Self.relay(from: origin, to: socket) }
            try Self.relay(from: socket, to: origin)
        }
        let client = HTTPClient(
            ClientConfiguration(
                tls: TLSClientSettings(caFile: certificates.path("ca.pem")), proxy: .url(try HTTPURL(proxy.url()))))
        for _ in 0..<3 {
            let response = try await client.fetch("https://idp.test/deep", method: "POST", body: [1])
            #expect(response.fields["X-Target"] == "/deep")
        }
        #expect(await head.wait() == "CONNECT idp.test:443 HTTP/1.1\r\nHost: idp.test:443\r\n\r\n")
        #expect(proxy.accepted == 1)
    }

    private static func relay(from source: RawSocket, to sink: RawSocket) throws {
        while true {
            let bytes = try source.receive()
            if bytes.isEmpty { return sink.finishWriting() }
            try sink.send(bytes)
        }
    }

    @Test func `a refused tunnel is an error of the proxy`() async throws {
        let proxy = try ScriptedServer { socket in
            _ = try socket.readHead()
            try socket.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        }
        let client = HTTPClient(ClientConfiguration(proxy: .url(try HTTPURL(proxy.url()))))
        await #expect(throws: TransportError.proxy(reason: "no tunnel to idp.test:443: status 407")) {
            try await client.fetch("https://idp.test/")
        }
    }
}

/// What the environment's variables mean.
struct ProxyRulesTests {
    private func route(_ url: String, _ environment: [String: String]) throws -> String {
        switch ProxyRules(environment: environment).route(to: try HTTPURL(url)) {
        case .direct: "direct"
        case .proxy(let proxy): proxy.url.origin + (proxy.authorization.map { " " + $0 } ?? "")
        case .unusable(let text): "unusable \(text)"
        }
    }

    @Test(arguments: [
        ("http://idp.test/", ["http_proxy": "http://p.test:3128"], "http://p.test:3128"),
        ("http://idp.test/", ["HTTP_PROXY": "http://p.test:3128"], "direct"),
        ("https://idp.test/", ["http_proxy": "http://p.test:3128"], "direct"),
        ("https://idp.test/", ["HTTPS_PROXY": "p.test:3128"], "http://p.test:3128"),
        ("https://idp.test/", ["https_proxy": "a.test:1", "HTTPS_PROXY": "b.test:2"], "http://a.test:1"),
        ("https://idp.test/", ["all_proxy": "p.test"], "http://p.test:1080"),
        ("http://idp.test/", ["http_proxy": "", "ALL_PROXY": "p.test"], "direct"),
        ("http://idp.test/", ["http_proxy": "http://[::1]"], "http://[::1]:1080"),
        ("http://idp.test/", ["http_proxy": "http://[::1]:8080/"], "http://[::1]:8080"),
        ("http://idp.test/", ["http_proxy": "http://u%40x:p@p.test:1"], "http://p.test:1 Basic dUB4OnA="),
        ("https://idp.test/", ["https_proxy": "socks5://u:p@p.test:1"], "unusable p.test:1"),
        ("https://idp.test/", ["https_proxy": "https://p.test:1"], "unusable https://p.test:1"),
    ])
    func `the proxy of a URL`(url: String, environment: [String: String], expected: String) throws {
        #expect(try route(url, environment) == expected)
    }

    @Test(arguments: [
        ("idp.test", "idp.test", true), ("idp.test", "test", true), ("idp.test", ".test", true),
        ("idp.test", "dp.test", false), ("idp.test", "x.idp.test", false), ("IDP.test", "a.test, Idp.Test", true),
        ("idp.test", "*", true), ("idp.test", "*.test", false), ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.0/24", true), ("192.0.3.7", "192.0.2.0/24", false), ("192.0.2.7", "0.0.0.0/0", true),
        ("192.0.2.7", "2.7", false), ("[2001:db8::1]", "2001:db8::/32", true),
        ("[2001:db9::1]", "2001:db8::/32", false),
        ("192.0.2.129", "192.0.2.128/25", true), ("192.0.2.127", "192.0.2.128/25", false),
        ("192.0.2.7", "192.0.2.7/33", false), ("idp.test", "", false),
    ])
    func `exceptions of no_proxy`(host: String, exceptions: String, isDirect: Bool) throws {
        let environment = ["http_proxy": "p.test:1", "no_proxy": exceptions]
        #expect(try route("http://\(host)/", environment) == (isDirect ? "direct" : "http://p.test:1"))
    }

    @Test(arguments: ["127.0.0.1:8080", "127.9.9.9", "[::1]", "localhost", "idp.localhost:80"])
    func `this machine is never reached through a proxy of the environment`(host: String) throws {
        #expect(try route("http://\(host)/", ["http_proxy": "p.test:1"]) == "direct")
    }
}
