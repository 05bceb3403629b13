import Control
import Encoding
import Foundation
import HTTP
import Testing
import Transport

@testable import understudy

/// What the proxy makes of requests and answers, and where `fetch` takes bodies from.
struct ForwardingTests {
    private let local = Peer(address: "127.0.0.1", port: 4000, isLoopback: true, secure: false)

    private func forwarding(_ base: String = "https://api.acme.example") throws -> Forwarding {
        Forwarding(base: try HTTPURL(base))
    }

    private func request(_ target: String = "/accounts", _ fields: HTTPFields = [:], method: String = "GET")
        -> HTTPRequest
    {
        var all: HTTPFields = fields.contains("Host") ? [:] : ["Host": "127.0.0.1:8000"]
        for field in fields { all.append(field.name, field.value) }
        return HTTPRequest(method: method, target: target, fields: all)
    }

    @Test(
        arguments: [
            ("https://api.acme.example", "/a%40b/~c?x=%2F&y", "https://api.acme.example/a%40b/~c?x=%2F&y"),
            ("https://api.acme.example/", "/a", "https://api.acme.example/a"),
            ("http://127.0.0.1:7422/acme", "/accounts?page=2", "http://127.0.0.1:7422/acme/accounts?page=2"),
            ("http://127.0.0.1:7422/acme/", "/accounts", "http://127.0.0.1:7422/acme/accounts"),
            ("https://api.acme.example", "http://127.0.0.1:8000/a?b", "https://api.acme.example/a?b"),
            ("https://api.acme.example", "/?", "https://api.acme.example/?"),
        ])
    func `a target goes to the base as it is`(base: String, target: String, url: String) throws {
        #expect(try forwarding(base).order(for: request(target))["url"]?.string == url)
    }

    @Test func `what is the phone's or one connection's does not go on`() throws {
        let fields: HTTPFields = [
            "Authorization": "Bearer x", "dpop": "y", "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "5",
            "TE": "trailers", "Expect": "100-continue", "Content-Length": "0", "Proxy-Authorization": "z",
            "X-Kept": "1", "Accept": "*/*", "Cookie": "c=1",
        ]
        let order = try forwarding().order(for: request("/a", fields))
        let names = order["headers"]?.array?.compactMap { $0.array?.first?.string }
        #expect(names == ["X-Kept", "Accept", "Cookie"])
    }

    @Test(
        arguments: [
            ["Host": "evil.example"], ["Host": "127.0.0.1.evil.example"], ["Origin": "https://evil.example"],
            ["Origin": "null"], ["Origin": "http://localhost.evil.example"], ["Sec-Fetch-Site": "cross-site"],
        ] as [HTTPFields])
    func `a page of another site is refused`(fields: HTTPFields) throws {
        let refusal = try #require(try forwarding().refusal(of: request("/a", fields), from: local))
        #expect([403, 421].contains(refusal.status))
    }

    @Test(
        arguments: [
            [:], ["Origin": "http://localhost:3000"], ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"],
            ["Host": "localhost:1"], ["Host": "[::1]:80"],
        ] as [HTTPFields])
    func `this machine is not`(fields: HTTPFields) throws {
        #expect(try forwarding().refusal(of: request("/a", fields), from: local) == nil)
    }

    @Test func `another machine, a tunnel and an asterisk are refused`() throws {
        let far = Peer(address: "10.0.0.9", port: 1, isLoopback: false, secure: false)
        #expect(try forwarding().refusal(of: request(), from: far)?.status == 403)
        let tunnel = request("127.0.0.1:443", ["Host": "127.0.0.1:443"], method: "CONNECT")
        #expect(try forwarding().refusal(of: tunnel, from: local) != nil)
        #expect(try forwarding().refusal(of: request("*", [:], method: "OPTIONS"), from: local)?.status == 400)
    }

    @Test func `an answer keeps its fields, their order and their repeats`() throws {
        let fetched = try FetchedDocument([
            "status": 207, "reason": "Many", "body_base64url": "_w",
            "headers": [
                ["Set-Cookie", "a=1"], ["Connection", "X-Hop"], ["X-Hop", "1"], ["Content-Length", "1"],
                ["Set-Cookie", "b=2"], ["Transfer-Encoding", "chunked"], ["WWW-Authenticate", "Basic"],
            ],
        ])
        let answer = try forwarding().answer(fetched, to: "GET")
        #expect((answer.status, answer.reason, answer.body) == (207, "Many", [255]))
        #expect(answer.fields == ["Set-Cookie": "a=1", "Set-Cookie": "b=2", "WWW-Authenticate": "Basic"])
        #expect(try forwarding().answer(fetched, to: "HEAD").fields["Content-Length"] == "1")
    }

    @Test func `without an answer it is 502 and says why`() throws {
        let refusal = ControlRefusal(status: 502, document: ["code": "unreachable", "detail": "no answer"])
        let answer = try forwarding().answer(.refused(refusal))
        #expect(answer.status == 502)
        #expect(try JSON(parsing: answer.body)["code"]?.string == "unreachable")
    }

    @Test func `a body is a text, a file, or a stream that is sent once`() throws {
        #expect(RequestBody.Source(data: "a@b") == .text("a@b"))
        #expect(RequestBody.Source(data: "@-") == .standardInput)
        #expect(RequestBody.Source(data: "@x") == .file("x"))
        #expect(RequestBody.Source(file: "-") == .standardInput)
        let scratch = try Scratch()
        let (file, pipe) = (scratch.path + "/file", scratch.path + "/pipe")
        try Data([0, 255, 10]).write(to: URL(filePath: file))
        #expect(try RequestBody.read(.file(file)) == RequestBody(bytes: [0, 255, 10], isOneShot: false))
        #expect(try RequestBody.read(.file("/dev/null")) == RequestBody(bytes: [], isOneShot: true))
        #expect(throws: CommandFailure.self) { try RequestBody.read(.file(pipe)) }
        #expect(throws: CommandFailure.self) { try RequestBody.read(.file(scratch.path)) }
    }
}
