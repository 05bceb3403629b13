import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import JOSE
import SignIn
import Store
import Testing
import Transport

/// Confidential clients over sockets: SenseCrypt description, "Confidential clients and FAPI 2.0 tenants".
@Suite struct ConfidentialTests {
    private static let rsa = Result { try RSA.PrivateKey.generate(bits: 2048) }

    @Test func `the provider is asked once for every attempt, nonce repeats included, and never for ceremony calls`()
        async throws
    {
        let house = try await House.open()
        let backend = try CountingBackend()
        try house.register(backend.key)
        try house.manage("PATCH", "/tenants/fapi/policy", ["nonce_on_start": true])
        let ada = try await house.confidentialPhone()
        let flow = try await house.confidentialSignIn(ada, .provider(backend))
        #expect(flow.reason == nil)
        #expect(
            flow.calls == [
                "start 400 use_dpop_nonce", "start 403 insufficient_authorization", "faceToken 200", "completion 200",
                "token 200",
            ])
        #expect(backend.asked.count == 4)
        #expect(try house.assertionsSent() == backend.given)
        let jkt = try await house.engine.device(ada).installThumbprint
        #expect(
            Set(backend.asked) == [
                ClientAssertionRequest(clientID: "app_fapi", audience: house.fapi, dpopJkt: jkt)
            ])
    }

    @Test func `a local key signs in with either algorithm, refreshes and signs out`() async throws {
        for key in [SigningKey.p256(try P256.PrivateKey.generate(.system)), .rsa(try Self.rsa.get())] {
            let house = try await House.open()
            try house.manage(
                "PATCH", "/tenants/fapi/applications/app_fapi",
                ["jwks": JWKSet([JWKSet.Entry(keyID: "k1", key: key.publicKey)]).json])
            let ada = try await house.confidentialPhone()
            let flow = try await house.confidentialSignIn(ada, .key(SigningKeyFile(key: key, keyID: "k1")))
            #expect(flow.reason == nil)
            _ = try await house.engine.refreshSession(of: ada)
            try await house.engine.signOut(ada)
            await house.engine.settle(within: 5000)
            let fapi = try #require(try house.manage("GET", "/state")["tenants"]?.array?.last)
            #expect(fapi["grants"]?.array?.count == 0)
            #expect(try house.findings().isEmpty)
            let sent = try house.assertionsSent()
            #expect(sent.count == 5)
            #expect(Set(sent).count == 5)
        }
    }

    @Test(arguments: [
        "drop:start", "lose-reply:start", "lose-reply:completion", "drop:completion", "lose-reply:token", "drop:token",
        "status-503:token", "lose-reply:token:2",
    ])
    func `whatever is lost, no assertion goes out twice`(fault: String) async throws {
        let house = try await House.open()
        let backend = try CountingBackend()
        try house.register(backend.key)
        let ada = try await house.confidentialPhone()
        let flow = try await house.confidentialSignIn(ada, .provider(backend), faults: [fault])
        #expect(flow.reason == nil)
        let attempts = flow.calls.filter { !$0.hasPrefix("faceToken") }
        #expect(backend.asked.count == attempts.count)
        #expect(Set(backend.given).count == backend.asked.count)
        #expect(try house.findings().isEmpty)
    }

    @Test(
        arguments: [
            (Set([1]), nil, false), ([1, 2], "network", false), ([2], nil, false), ([2, 3], nil, true),
            ([3], nil, false),
            ([3, 5], nil, false), ([3, 5, 7], nil, true), ([3, 4], nil, false), ([3, 4, 5], nil, true),
        ] as [(Set<Int>, String?, Bool)])
    func `a provider without an assertion counts as a lost request`(
        absent: Set<Int>, reason: String?, parks: Bool
    ) async throws {
        let house = try await House.open()
        let backend = try CountingBackend(absent: absent)
        try house.register(backend.key)
        let ada = try await house.confidentialPhone()
        var flow = try await house.confidentialSignIn(ada, .provider(backend))
        #expect(flow.reason == reason)
        #expect(flow.state.isParked == parks)
        if parks {
            flow = try await house.rest(of: try await house.engine.retry(flow.id))
            #expect(flow.reason == nil)
        }
        let lost = flow.stepDocuments(after: 0).compactMap { $0["lost"]?.string }
        #expect(lost.count == absent.count)
        #expect(lost.allSatisfy { $0 == "no client assertion: the backend sleeps" })
        #expect(flow.scans.count == (reason == nil ? 1 : 0))
        // What was never sent was never seen by the server.
        #expect(try house.assertionsSent() == backend.given)
    }

    @Test func `without a provider a refresh is refused as server, and the session stays; registered, it goes through`()
        async throws
    {
        let folder = try TemporaryFolder()
        let first = try await House.open(store: try Store(directory: folder.path))
        let backend = try CountingBackend()
        try first.register(backend.key)
        let ada = try await first.confidentialPhone()
        _ = try await first.confidentialSignIn(ada, .provider(backend))

        let second = try await House.open(store: try Store(directory: folder.path), idp: first.idp)
        let before = try #require(try await second.engine.session(of: ada)).session
        await #expect {
            _ = try await second.engine.refreshSession(of: ada)
        } throws: { error in
            guard case .refresh(.server(let message)) = error as? EngineError else { return false }
            return message.contains("invalid_client")
        }
        #expect(try await second.engine.session(of: ada)?.session.accessToken == before.accessToken)

        try second.engine.registerClientAssertions(.provider(backend), for: "app_fapi", on: ada)
        _ = try await second.engine.refreshSession(of: ada)
        #expect(try await second.engine.session(of: ada)?.session.accessToken != before.accessToken)
        try second.engine.clearClientAssertions(on: ada)
        await #expect(throws: EngineError.self) { _ = try await second.engine.refreshSession(of: ada) }
    }

    @Test func `a provider of the launch serves every device, and starting a public flow clears what was registered`()
        async throws
    {
        let house = try await House.open()
        let backend = try CountingBackend()
        try house.register(backend.key)
        try house.engine.launchClientAssertions(.provider(backend), for: "app_fapi")
        let ada = try await house.confidentialPhone()
        #expect(try await house.confidentialSignIn(ada, nil).reason == nil)
        _ = try await house.engine.refreshSession(of: ada)
        #expect(backend.asked.count == 4)

        // A public client's flow, which ends before any call: the device is enrolled elsewhere.
        _ = try await house.signIn(ada)
        await #expect(throws: EngineError.self) { _ = try await house.engine.refreshSession(of: ada) }

        try house.engine.registerClientAssertions(.provider(backend), for: nil, on: ada)
        #expect(try await house.engine.device(ada).clientAssertions?.kind == "test backend")
        _ = try await house.signIn(ada)
        #expect(try await house.engine.device(ada).clientAssertions == nil)
    }

    @Test func `a public client signs out without an assertion, and its grant is gone`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        _ = try await house.signIn(ada, scans: [.match])
        await house.engine.settle(within: 5000)
        let grants = { try house.manage("GET", "/state")["tenants"]?.array?.first?["grants"]?.array?.count }
        #expect(try grants() == 1)
        try await house.engine.signOut(ada)
        await house.engine.settle(within: 5000)
        #expect(try grants() == 0)
        #expect(try house.assertionsSent().isEmpty)
    }

    @Test func `a provider that was registered for one client speaks for no other`() async throws {
        let house = try await House.open()
        let backend = try CountingBackend()
        try house.register(backend.key)
        let ada = try await house.confidentialPhone()
        _ = try await house.confidentialSignIn(ada, .provider(backend))
        try house.engine.registerClientAssertions(.provider(backend), for: "app_other", on: ada)
        let before = backend.asked.count
        await #expect(throws: EngineError.self) { _ = try await house.engine.refreshSession(of: ada) }
        #expect(backend.asked.count == before)
    }

    @Test func `an assertion stands in nothing that is shown or stored`() async throws {
        let folder = try TemporaryFolder()
        let house = try await House.open(store: try Store(directory: folder.path))
        let api = ControlAPI(engine: house.engine, version: "test")
        let backend = try CountingBackend()
        try house.register(backend.key)
        let ada = try await house.confidentialPhone()
        let flow = try await house.confidentialSignIn(ada, .provider(backend), faults: ["lose-reply:token"])
        var shown: [String] = [String(reflecting: flow.state)]
        for path in ["/v1/devices/ada", "/v1/journal?limit=10000", "/v1/flows/\(flow.id)", "/v1/flows"] {
            let response = await api.respond(to: HTTPRequest(method: "GET", target: path))
            shown.append(String(decoding: response.body, as: UTF8.self))
        }
        #expect(shown.contains { $0.contains("\"client_assertion\":{\"by\":\"test backend\"}") })
        for name in ["understudy.db", "understudy.db-wal"] {
            shown.append(
                String(decoding: PrivateFile.read(folder.path + "/" + name, limit: 64 << 20) ?? [], as: UTF8.self))
        }
        #expect(backend.given.count >= 5)
        for assertion in backend.given {
            let signature = try #require(assertion.split(separator: ".").last)
            #expect(shown.allSatisfy { !$0.contains(signature) })
        }
    }
}
