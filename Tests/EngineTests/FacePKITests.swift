import Crypto
import Device
import Encoding
import Engine
import HTTP
import Profiles
import SignIn
import Store
import Testing
import Transport

/// Key operations during whole sign-ins: our phone, our reference IdP.
@Suite struct FacePKITests {
    static let hash = SHA256.hash(ascii: "a payment")
    static let context = [UInt8]("payments-v1".utf8)

    /// A house whose tenant has Face PKI, and a phone that has signed in once, so that its face token holds keys.
    private func ready(_ store: Store? = nil) async throws -> (House, DeviceID) {
        let house = try await House.open(store: store)
        try house.manage("PATCH", "/tenants/acme", ["pki_enabled": true])
        let ada = try await house.phone()
        #expect(try await house.signIn(ada).reason == nil)
        return (house, ada)
    }

    private func request(
        _ kind: SignInPKIRequest.Kind, context: [UInt8] = context, operand: [UInt8]? = nil,
        scope: SignInPKIRequest.Scope = .app
    ) -> SignInPKIRequest {
        SignInPKIRequest(kind: kind, context: context, operand: operand, scope: scope)
    }

    private func result(_ flow: FlowView) throws -> SignInPKIResult {
        guard case .signedIn(let summary) = flow.state else { throw Ended.otherwise("\(flow.state)") }
        return try #require(summary.pki)
    }

    private enum Ended: Error { case otherwise(String) }

    /// The public keys of a phone, by class.
    private func keys(
        _ house: House, _ phone: DeviceID, context: [UInt8] = context, scope: SignInPKIRequest.Scope = .app,
        client: String = "app_demo"
    ) async throws -> [FacePKIClass: [UInt8]] {
        let flow = try await house.signIn(
            phone, client: client, pki: request(.publicKeys, context: context, scope: scope))
        let output = try result(flow).output
        return Dictionary(uniqueKeysWithValues: output.keys.map { ($0.name, $0.point) })
    }

    /// An encapsulation to a phone's key, and the secret in it.
    private func encapsulated(
        _ house: House, _ phone: DeviceID
    ) async throws -> (secret: [UInt8], encapsulation: [UInt8]) {
        let point = try #require(try await keys(house, phone)[.dhkem])
        return try DHKEM.encapsulate(to: try P256.PublicKey(x963: point), ephemeral: .generate(.system))
    }

    @Test func `a hash is signed between match and rotation, and the server hears nothing of it`() async throws {
        let (house, ada) = try await ready()
        let flow = try await house.signIn(ada, pki: request(.sign, operand: Self.hash))
        let result = try result(flow)
        #expect((result.kind, result.context, result.scope) == (.sign, Self.context, .app))
        let told = try #require(result.output.keys.first)
        #expect(result.output.keys.count == 1)
        #expect(told.name == .ecdsa)
        let signature = try #require(result.output.signature)
        #expect(try P256.PublicKey(x963: told.point).verify(signature, digest: Self.hash))
        let events = flow.stepDocuments(after: 0).compactMap { $0["event"]?.string }
        #expect(events == ["opened", "key operation", "re-sealed"])
        #expect(flow.calls == ["start 403 insufficient_authorization", "faceToken 200", "completion 200", "token 200"])
        #expect(try await keys(house, ada)[.ecdsa] == told.point)
    }

    @Test func `keys that are not there yet end the flow after the scan, and one plain sign-in fixes it`() async throws
    {
        let house = try await House.open()
        let ada = try await house.phone()
        #expect(try await house.signIn(ada).reason == nil)
        try house.manage("PATCH", "/tenants/acme", ["pki_enabled": true])
        try await house.engine.signOut(ada)
        for _ in 0..<2 {
            let flow = try await house.signIn(ada, pki: request(.sign, operand: Self.hash))
            #expect(flow.reason == "pkiKeysNotReady")
            #expect(flow.scans == ["match"])
            #expect(flow.generations.isEmpty)
            #expect(try await house.engine.session(of: ada) == nil)
        }
        #expect(try await house.signIn(ada).reason == nil)
        #expect(try await house.signIn(ada, pki: request(.sign, operand: Self.hash)).reason == nil)
    }

    @Test func `what is refused before the scan shows no camera, leaves no session and aborts the server's`()
        async throws
    {
        let house = try await House.open()
        let ada = try await house.phone()
        try await refused(house, ada, request(.sign, operand: Self.hash), "pkiNotAvailable")
        try house.manage("PATCH", "/tenants/acme", ["pki_enabled": true])
        try await refused(house, ada, request(.sign, operand: [1]), "invalidPkiRequest")
        let long = request(.publicKeys, context: [UInt8](repeating: 0, count: 256))
        try await refused(house, ada, long, "invalidPkiRequest")
        try await refused(house, ada, request(.publicKeys, scope: .tenant), "pkiScopeNotAllowed")
        try house.manage("PATCH", "/tenants/acme", ["pki_classes": ["ml-dsa-65"]])
        try await refused(house, ada, request(.publicKeys), "pkiNotAvailable")
    }

    private func refused(
        _ house: House, _ phone: DeviceID, _ request: SignInPKIRequest, _ reason: String
    ) async throws {
        let before = house.exchanges.all.count
        let flow = try await house.signIn(phone, pki: request)
        await house.engine.settle(within: 5000)
        #expect(flow.reason == reason)
        #expect(flow.scans.isEmpty)
        #expect(try await house.engine.session(of: phone) == nil)
        let calls = house.exchanges.all.dropFirst(before)
        #expect(calls.last?.request.url.path.hasSuffix("/abort") == true)
        #expect(calls.last?.response?.status == 204)
    }

    @Test func `a shared secret is given once, and is in no byte that was stored`() async throws {
        let folder = try TemporaryFolder()
        let (house, ada) = try await ready(try Store(directory: folder.path))
        let sent = try await encapsulated(house, ada)
        let flow = try await house.signIn(ada, pki: request(.decapsulate, operand: sent.encapsulation))
        #expect(try result(flow).output.keys.map(\.name) == [.dhkem])
        #expect(flow.secret == .available)
        #expect(try folder.files(holding: sent.secret).isEmpty)
        // What the search is worth: it finds what is stored, such as the flow's name.
        #expect(try !folder.files(holding: Array(flow.id.rawValue.utf8)).isEmpty)

        #expect(try await house.engine.takeSecret(of: flow.id) == sent.secret)
        #expect(try await house.engine.flow(flow.id).secret == .taken)
        await #expect(throws: EngineError.secretTaken(flow: flow.id.rawValue)) {
            try await house.engine.takeSecret(of: flow.id)
        }
        #expect(try folder.files(holding: sent.secret).isEmpty)
    }

    @Test func `a process that ends takes its secrets along, and the next one says so`() async throws {
        let folder = try TemporaryFolder()
        let (first, ada) = try await ready(try Store(directory: folder.path))
        let sent = try await encapsulated(first, ada)
        let flow = try await first.signIn(ada, pki: request(.decapsulate, operand: sent.encapsulation))
        let second = try await House.open(store: try Store(directory: folder.path), idp: first.idp)
        #expect(try await second.engine.flow(flow.id).secret == .gone)
        await #expect(throws: EngineError.secretGone(flow: flow.id.rawValue)) {
            try await second.engine.takeSecret(of: flow.id)
        }
    }

    @Test func `the secret of a parked flow waits for the retry, and goes with a flow that is given up`() async throws {
        let (house, ada) = try await ready()
        let sent = try await encapsulated(house, ada)
        for retries in [true, false] {
            let parked = try await house.signIn(
                ada, faults: ["drop:completion:2"], pki: request(.decapsulate, operand: sent.encapsulation))
            #expect(parked.state.isParked)
            await #expect(throws: EngineError.noSecret(flow: parked.id.rawValue)) {
                try await house.engine.takeSecret(of: parked.id)
            }
            if retries {
                let done = try await house.rest(of: try await house.engine.retry(parked.id))
                #expect(try result(done).kind == .decapsulate)
                #expect(try await house.engine.takeSecret(of: parked.id) == sent.secret)
            } else {
                _ = try await house.engine.cancel(parked.id)
                await #expect(throws: EngineError.noSecret(flow: parked.id.rawValue)) {
                    try await house.engine.takeSecret(of: parked.id)
                }
            }
        }
        let plain = try await house.signIn(ada)
        await #expect(throws: EngineError.noSecret(flow: plain.id.rawValue)) {
            try await house.engine.takeSecret(of: plain.id)
        }
    }

    @Test func `two phones of one person that hold one face token have the same keys`() async throws {
        let house = try await House.open()
        try house.manage("PATCH", "/tenants/acme", ["pki_enabled": true])
        let ada = try await house.phone()
        let user = try #require(try house.manage("GET", "/tenants/acme/users")["users"]?.array?.first?["id"]?.string)
        try house.manage("PATCH", "/tenants/acme/users/\(user)", ["shared_face_token": true])
        let tablet = try await house.phone("tablet", ticket: try ticket(house, user), faceOf: ada)
        #expect(try await house.signIn(tablet).reason == nil)
        let first = try await keys(house, ada)
        #expect(first.count == 2)
        #expect(try await keys(house, tablet) == first)
        #expect(try await keys(house, ada) == first, "rotation by either changes nothing")

        let stranger = try await house.phone("stranger", ticket: try ticket(house, user))
        #expect(try await house.signIn(stranger).reason == "faceMismatch")
    }

    @Test func `two phones with face tokens of their own have keys of their own`() async throws {
        let (house, ada) = try await ready()
        let user = try #require(try house.manage("GET", "/tenants/acme/users")["users"]?.array?.first?["id"]?.string)
        let tablet = try await house.phone("tablet", ticket: try ticket(house, user), faceOf: ada)
        #expect(try await house.signIn(tablet).reason == nil)
        let (one, two) = (try await keys(house, ada), try await keys(house, tablet))
        #expect(one[.ecdsa] != two[.ecdsa])
        #expect(one[.dhkem] != two[.dhkem])
    }

    @Test func `a token that an administrator imports gives every phone of the user the keys in it`() async throws {
        let house = try await House.open()
        try house.manage("PATCH", "/tenants/acme", ["pki_enabled": true])
        let ada = try await house.phone()
        let user = try #require(try house.manage("GET", "/tenants/acme/users")["users"]?.array?.first?["id"]?.string)
        var contents = FaceTokenContents.drawn(from: .system, at: Instant(seconds: 1_790_000_000))
        contents.addMissingSeeds(of: FacePKIClass.allCases, from: .system)
        let face = try #require(try house.store.read { try $0.device(ada) }).face
        let sealed = try FaceToken.seal(
            contents, face: face, generation: 7, binding: FaceTokenBinding(issuer: house.issuer), entropy: .system)
        try house.manage(
            "POST", "/tenants/acme/users/\(user)/import",
            ["face_token": .string(Base64URL.encode(sealed)), "generation": 7])
        let tablet = try await house.phone("tablet", ticket: try ticket(house, user), faceOf: ada)
        let expected = try FacePKIKeys(contents, owner: .app("app_demo")).publicKey(.ecdsa, context: Self.context).x963
        for phone in [ada, tablet, ada] { #expect(try await keys(house, phone)[.ecdsa] == expected) }
    }

    private func ticket(_ house: House, _ user: String) throws -> String {
        try #require(try house.manage("POST", "/tenants/acme/users/\(user)/tickets")["ticket"]?.string)
    }

    @Test func `tenant keys are shared by allowed applications, an application's own are not`() async throws {
        let (house, ada) = try await ready()
        try house.manage(
            "POST", "/tenants/acme/applications",
            [
                "client_id": "app_other", "first_party_challenge_enabled": true,
                "redirect_uris": ["https://other.example/app"], "scopes": ["openid", "email", "offline_access"],
                "resources": [.string(house.api)], "pki_tenant_scope": true,
            ])
        try house.manage("PATCH", "/tenants/acme/applications/app_demo", ["pki_tenant_scope": true])
        let own = try await keys(house, ada)
        let other = try await keys(house, ada, client: "app_other")
        let tenant = try await keys(house, ada, scope: .tenant)
        #expect(try await keys(house, ada, scope: .tenant, client: "app_other") == tenant)
        #expect(try await keys(house, ada, context: []) != own)
        for name in FacePKIClass.allCases { #expect(Set([own[name], other[name], tenant[name]]).count == 3) }
    }

    @Test func `a 64-byte hash is signed as the profile says`() async throws {
        let long = Self.hash + SHA256.hash(ascii: "and more")
        let (house, ada) = try await ready()
        let result = try result(try await house.signIn(ada, pki: request(.sign, operand: long))).output
        let key = try P256.PublicKey(x963: try #require(result.keys.first).point)
        let signature = try #require(result.signature)
        #expect(key.verify(signature, digest: Self.hash), "the first 32 bytes alone are bound")
        #expect(SenseCryptProfile.builtIn.facePki.longOperand == "leftmost")
        #expect(SenseCryptProfile.builtIn.facePki.classes == FacePKIClass.allCases.map(\.rawValue))
    }

    @Test func `no device has the face of one there is not`() async throws {
        let house = try await House.open()
        let (tablet, nobody) = (try #require(DeviceID(rawValue: "tablet")), try #require(DeviceID(rawValue: "nobody")))
        #expect(throws: EngineError.self) { try house.engine.createDevice(tablet, faceOf: nobody) }
        #expect(try house.store.read { try $0.device(tablet) } == nil)
    }
}
