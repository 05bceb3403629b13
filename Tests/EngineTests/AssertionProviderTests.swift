import Control
import Crypto
import Device
import Encoding
import HTTP
import JOSE
import Store
import Synchronization
import Testing
import Transport

@testable import Engine

/// The three providers, each by itself.
@Suite struct AssertionProviderTests {
    private let request = ClientAssertionRequest(
        clientID: "app_fapi", audience: "https://idp.test/fapi", dpopJkt: "thumbprint")

    private func details(_ work: () async throws(ClientAssertionError) -> String) async -> String? {
        do throws(ClientAssertionError) {
            _ = try await work()
            return nil
        } catch {
            guard case .unavailable(let details) = error else { return nil }
            return details
        }
    }

    // MARK: Local key

    @Test func `a local key mints what FAPI asks for, with a fresh jti each time`() async throws {
        let key = SigningKey.p256(try P256.PrivateKey.generate(.system))
        let clock = ManualClock(at: Instant(seconds: 1_800_000_000))
        let provider = LocalKeyAssertions(SigningKeyFile(key: key), clock: clock, draws: DeviceEntropy(.system))
        var seen: Set<String> = []
        for _ in 0..<50 {
            let jws = try JWS(compact: try await provider.clientAssertion(for: request))
            let claims = try jws.verify(key.publicKey, algorithms: [.es256]).claims()
            #expect(jws.keyID == key.publicKey.thumbprint)
            #expect(claims["iss"] == "app_fapi" && claims["sub"] == "app_fapi")
            #expect(claims["aud"] == "https://idp.test/fapi")
            #expect(claims["iat"] == 1_800_000_000 && claims["exp"] == 1_800_000_060)
            seen.insert(try #require(claims["jti"]?.string))
        }
        #expect(seen.count == 50)
    }

    // MARK: Command

    private func run(_ command: String, timeout: Int = 10_000) async throws(ClientAssertionError) -> String {
        try await CommandAssertions(command, timeoutMilliseconds: timeout).clientAssertion(for: request)
    }

    @Test func `a command reads the request and prints the assertion`() async throws {
        #expect(try await run("cat") == request.json.text)
        #expect(try await run("cat > /dev/null; echo; echo '  aaa.bbb.ccc  '; echo words >&2") == "aaa.bbb.ccc")
        // One that never reads its input, and one that leaves a child behind, are as good.
        #expect(try await run("echo aaa.bbb.ccc") == "aaa.bbb.ccc")
        #expect(try await run("sleep 20 & echo aaa.bbb.ccc") == "aaa.bbb.ccc")
    }

    @Test(arguments: [
        ("exit 3", "the command exited with 3"),
        ("echo no route to vault >&2; exit 1", "the command exited with 1: no route to vault"),
        ("kill -9 $$", "the command exited with 137"), ("true", "the command printed nothing"),
        ("echo '  '", "the command gave nothing"), ("/no/such/program", "the command exited with 127"),
        ("echo two words", "the command gave something that is no assertion"),
        ("head -c 9000 /dev/zero | tr '\\0' a", "the command gave something that is no assertion"),
        ("printf 'a\\000b'", "the command gave something that is no assertion"),
    ])
    func `a command that gives none says why`(command: String, why: String) async {
        let details = await details { () throws(ClientAssertionError) in try await run(command) }
        #expect(details?.hasPrefix(why) == true, "\(details ?? "none")")
    }

    @Test func `a command that takes too long is ended with all it started`() async {
        let start = ContinuousClock.now
        let details = await details { () throws(ClientAssertionError) in
            try await run("echo waiting >&2; sleep 300 | sleep 300", timeout: 200)
        }
        #expect(details == "the command took over 200 ms: waiting")
        #expect(ContinuousClock.now - start < .seconds(200))
    }

    @Test func `what could be an assertion is never told, wherever it was printed`() async {
        let assertion = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJhcHBfZmFwaSJ9.c2lnbmF0dXJlc2lnbmF0dXJl"
        for command in ["echo got \(assertion) >&2; exit 1", "echo \(assertion); echo \(assertion) >&2; exit 1"] {
            let details = await details { () throws(ClientAssertionError) in try await run(command) }
            #expect(details?.contains("eyJ") == false)
            #expect(details?.contains("‹hidden›") == true)
        }
    }

    // MARK: Backend

    /// A backend that answers as told.
    private final class Handler: RequestHandler {
        let answer: HTTPResponse
        let seen = Mutex<[HTTPRequest]>([])
        init(_ answer: HTTPResponse) { self.answer = answer }
        func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
            seen.withLock { $0.append(request) }
            reply.send(answer)
        }
    }

    private func ask(_ answer: HTTPResponse) async throws -> (Result<String, ClientAssertionError>, [HTTPRequest]) {
        let handler = Handler(answer)
        let server = try await HTTPServer.start(ServerConfiguration(port: 0), handler: handler)
        let network = Network(
            client: HTTPClient(), policy: HostPolicy(),
            observer: { _, _ in
                Issue.record("an exchange with the backend was observed")
            })
        let url = try HTTPURL("http://127.0.0.1:\(server.port)/assertions")
        let provider = BackendAssertions(url, network: network, timeoutMilliseconds: 5000)
        let result: Result<String, ClientAssertionError>
        do throws(ClientAssertionError) {
            result = .success(try await provider.clientAssertion(for: request))
        } catch {
            result = .failure(error)
        }
        await server.shutdown()
        return (result, handler.seen.withLock { $0 })
    }

    @Test func `a backend gets the request as JSON and answers with JSON or text`() async throws {
        let (json, requests) = try await ask(.json(["client_assertion": "aaa.bbb.ccc"]))
        #expect(json == .success("aaa.bbb.ccc"))
        #expect(requests.map(\.method) == ["POST"])
        #expect(try JSON(parsing: requests[0].body) == request.json)
        let text = HTTPResponse(
            status: 200, fields: ["Content-Type": "text/plain"], body: Array("aaa.bbb.ccc\n".utf8))
        #expect(try await ask(text).0 == .success("aaa.bbb.ccc"))
    }

    @Test func `a backend that gives none says why`() async throws {
        for (answer, why) in [
            (HTTPResponse(status: 503), "the backend answered 503"),
            (.json(["assertion": "aaa"]), "the backend's JSON has no client_assertion"),
            (.json(["client_assertion": ""]), "the backend gave nothing"),
            (HTTPResponse(status: 200), "the backend gave nothing"),
        ] {
            #expect(try await ask(answer).0 == .failure(.unavailable(details: why)))
        }
    }

    @Test func `a backend is a host like any other: allowed by name, and plain http on loopback alone`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        for (url, code) in [
            ("https://backend.test/a", "host_not_allowed"), ("http://backend.test/a", "invalid_field"),
        ] {
            #expect {
                try house.engine.registerClientAssertions(.backend(try HTTPURL(url)), for: nil, on: ada)
            } throws: {
                ($0 as? EngineError)?.code == code
            }
        }
    }

    // MARK: The control API

    private func respond(
        _ api: ControlAPI, _ method: String, _ body: JSON? = nil
    ) async throws -> (status: Int, code: String?, text: String) {
        let response = await api.respond(
            to: HTTPRequest(
                method: method, target: "/v1/devices/ada/client-assertion-provider",
                fields: ["Content-Type": "application/json"], body: body?.serialized() ?? []))
        let text = String(decoding: response.body, as: UTF8.self)
        return (response.status, (try? JSON(parsing: response.body))?["code"]?.string, text)
    }

    @Test func `the control API registers and clears a provider, and runs a caller's command only where it may`()
        async throws
    {
        let house = try await House.open()
        _ = try await house.phone()
        let closed = ControlAPI(engine: house.engine, version: "test")
        let open = ControlAPI(engine: house.engine, version: "test", mayRunCommands: true)
        #expect(try await respond(closed, "PUT", ["command": "cat"]).code == "commands_not_allowed")
        #expect(try await respond(open, "PUT", ["command": "cat"]).status == 204)
        #expect(
            try await respond(closed, "PUT", ["url": "http://127.0.0.1:1/", "client_id": "app_fapi"]).status == 204)
        let shown = await closed.respond(to: HTTPRequest(method: "GET", target: "/v1/devices/ada"))
        #expect(
            try JSON(parsing: shown.body)["client_assertion_provider"]
                == ["kind": "backend", "client_id": "app_fapi"])
        #expect(try await respond(closed, "DELETE").status == 204)
        for body in [
            [:], ["url": "http://127.0.0.1:1/", "command": "cat"], ["url": "ftp://x/"], ["kid": "k"],
            ["url": "http://127.0.0.1:1/", "kid": "k"], ["key": "-----BEGIN"], ["secret": "x"],
        ] as [JSON] {
            #expect(try await respond(open, "PUT", body).status == 422)
        }
    }

    @Test func `a key that cannot be used is refused without a word of it`() async throws {
        let house = try await House.open()
        _ = try await house.phone()
        let api = ControlAPI(engine: house.engine, version: "test")
        let key = try P256.PrivateKey.generate(.system)
        let scalar = Base64URL.encode(try key.scalar)
        var jwk = JWK.p256(key.publicKey).json.object ?? JSONObject()
        jwk["d"] = .string(scalar)
        #expect(try await respond(api, "PUT", ["key": .object(jwk)]).status == 204)
        jwk["x"] = jwk["y"]
        let refused = try await respond(api, "PUT", ["key": .object(jwk)])
        #expect(refused.status == 422)
        #expect(!refused.text.contains(scalar))
    }
}
