import Crypto
import Device
import Encoding
import SignIn
import Testing

/// Key operations during sign-in, rule by rule: SenseCrypt description, "Face-PKI operations during sign-in".
@Suite struct PKIRuleTests {
    private static let hash = SHA256.hash(ascii: "a payment")
    private static let point = Phone.shared.device.publicKey.x963

    private func config(_ request: SignInPKIRequest) -> SignInConfig {
        var config = Phone.shared.config
        config.pki = request
        return config
    }

    private func request(
        _ kind: SignInPKIRequest.Kind, context: [UInt8] = [1], operand: [UInt8]? = nil,
        scope: SignInPKIRequest.Scope = .app
    ) -> SignInPKIRequest {
        SignInPKIRequest(kind: kind, context: context, operand: operand, scope: scope)
    }

    /// The flow once it has the face token's answer.
    private func fetched(_ request: SignInPKIRequest?, pki: JSON = Replies.facePKI) throws -> Script {
        var script = Script(config: request.map(config) ?? Phone.shared.config)
        try script.advance(to: "call(faceToken)")
        try script.respond(Replies.faceToken(pki: pki))
        return script
    }

    /// Refused: no camera, and the session is told.
    private func expectRefusal(_ script: Script, _ reason: String) {
        #expect(script.failure?.reason == reason)
        #expect(script.names == ["signCeremony(abort)"])
        #expect(!script.effects.contains { $0.action.name == "capture" })
    }

    @Test func `the operation runs after the match and before the rotation, and its result is told again`() throws {
        let request = request(.sign, context: Array("payments-v1".utf8), operand: Self.hash)
        var script = try fetched(request)
        #expect(script.names == ["capture"])
        #expect(try script.capture(.live(SampleID(rawValue: "self"))) == ["openFaceToken"])
        #expect(try script.send(.faceTokenOpened(script.awaited())) == ["runPKI(sign)"])
        #expect(script.state == .runningPki)
        guard case .runPKI(let operation) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(operation.request == request)
        #expect(operation.owner == .app("app_demo"))
        #expect(operation.classes == [.ecdsa])
        #expect(try script.send(.pkiRan(script.awaited(), Phone.shared.output)) == ["rotateFaceToken"])
        try script.finish()
        guard case .signedIn(let summary) = script.state else { throw Unexpected.state(script.state.name) }
        let result = try #require(summary.pki)
        #expect((result.kind, result.context, result.scope) == (.sign, request.context, .app))
        #expect(result.output == Phone.shared.output)
    }

    @Test func `the server is told nothing of an operation`() throws {
        var plain = Script()
        var asking = Script(config: Phone.shared.signingConfig)
        try plain.advance(to: "done")
        try asking.advance(to: "done")
        let (calls, others) = (sent(plain), sent(asking))
        #expect(calls.count == 4)
        #expect(calls == others)
    }

    private func sent(_ script: Script) -> [Call] {
        script.effects.compactMap { effect in if case .call(let call) = effect.action { call } else { nil } }
    }

    @Test func `a tenant without Face PKI, or that says nothing of it, refuses before the scan`() throws {
        let enabledWithout: JSON = ["enabled": true, "tenant_scope": false, "classes": []]
        for pki in [Replies.noFacePKI, enabledWithout] {
            expectRefusal(try fetched(request(.sign, operand: Self.hash), pki: pki), "pkiNotAvailable")
        }
        var script = Script(config: Phone.shared.signingConfig)
        try script.advance(to: "call(faceToken)")
        var answer = try #require(try JSON(parsing: Replies.faceToken().body).object)
        answer["pki"] = JSON?.none
        try script.respond(Replies.json(200, .object(answer)))
        expectRefusal(script, "pkiNotAvailable")
    }

    @Test func `a class this build lacks is refused by name where it would be needed`() throws {
        let pki: JSON = ["enabled": true, "tenant_scope": false, "classes": ["ml-dsa-65", "p256-dhkem"]]
        for kind in [request(.publicKeys), request(.sign, operand: Self.hash)] {
            let script = try fetched(kind, pki: pki)
            expectRefusal(script, "pkiNotAvailable")
            #expect(script.failure?.message.contains("'ml-dsa-65'") == true)
        }
        #expect(try fetched(request(.decapsulate, operand: Self.point), pki: pki).names == ["capture"])
    }

    @Test(arguments: [0, 1, 255]) func `a context of this many bytes is allowed`(count: Int) throws {
        let context = [UInt8](repeating: 1, count: count)
        #expect(try fetched(request(.sign, context: context, operand: Self.hash)).names == ["capture"])
    }

    @Test func `a context of 256 bytes is refused before the scan`() throws {
        let context = [UInt8](repeating: 1, count: 256)
        expectRefusal(try fetched(request(.sign, context: context, operand: Self.hash)), "invalidPkiRequest")
    }

    @Test func `operands have exactly the size of their kind`() throws {
        for count in 0...130 {
            let bytes = [UInt8](repeating: 2, count: count)
            let sign = try fetched(request(.sign, operand: bytes))
            if count == 32 || count == 64 {
                #expect(sign.names == ["capture"])
            } else {
                expectRefusal(sign, "invalidPkiRequest")
            }
            expectRefusal(try fetched(request(.decapsulate, operand: bytes)), "invalidPkiRequest")
            expectRefusal(try fetched(request(.publicKeys, operand: bytes)), "invalidPkiRequest")
        }
        for kind in [SignInPKIRequest.Kind.sign, .decapsulate] {
            expectRefusal(try fetched(request(kind)), "invalidPkiRequest")
        }
        #expect(try fetched(request(.publicKeys)).names == ["capture"])
        #expect(try fetched(request(.decapsulate, operand: Self.point)).names == ["capture"])
    }

    @Test func `an encapsulation that is no point of the curve is refused before the scan`() throws {
        var bent = Self.point
        bent[64] ^= 1
        expectRefusal(try fetched(request(.decapsulate, operand: bent)), "invalidPkiRequest")
        expectRefusal(
            try fetched(request(.decapsulate, operand: [2] + Self.point.dropFirst())), "invalidPkiRequest")
    }

    @Test func `the phone enforces the tenant scope`() throws {
        let request = request(.sign, operand: Self.hash, scope: .tenant)
        let denied: JSON = ["enabled": true, "tenant_scope": false, "classes": ["p256-ecdsa"]]
        expectRefusal(try fetched(request, pki: denied), "pkiScopeNotAllowed")
        var script = try fetched(request)
        try script.advance(to: "runPKI(sign)")
        guard case .runPKI(let operation) = try #require(script.last.last).action else { throw Unexpected.body }
        #expect(operation.owner == .tenant(Phone.issuer))
    }

    @Test func `of several faults the tenant's comes first, then the request's, then the scope`() throws {
        let bad = request(.sign, operand: [1], scope: .tenant)
        expectRefusal(try fetched(bad, pki: Replies.noFacePKI), "pkiNotAvailable")
        let denied: JSON = ["enabled": true, "tenant_scope": false, "classes": ["p256-ecdsa"]]
        expectRefusal(try fetched(bad, pki: denied), "invalidPkiRequest")
    }

    @Test func `keys the face token does not hold end the flow after the scan, and nothing is rotated`() throws {
        var script = Script(config: Phone.shared.signingConfig)
        try script.advance(to: "runPKI(sign)")
        #expect(try script.send(.pkiKeysNotReady(script.awaited())) == ["signCeremony(abort)"])
        #expect(script.failure == .pkiKeysNotReady)
        try script.finish()
        #expect(script.calls(.abort).count == 1)
        #expect(script.calls(.completion).isEmpty)
        #expect(!script.effects.contains { $0.action.name == "rotateFaceToken" })
    }

    @Test func `a plain sign-in adds the seeds the tenant offers, a key operation adds none`() throws {
        let three: JSON = [
            "enabled": true, "tenant_scope": false, "classes": ["p256-dhkem", "ml-dsa-65", "p256-ecdsa"],
        ]
        #expect(try seedsAdded(request(.sign, operand: Self.hash), pki: Replies.facePKI) == [])
        #expect(try seedsAdded(nil, pki: Replies.facePKI) == [.ecdsa, .dhkem])
        #expect(try seedsAdded(nil, pki: three) == [.dhkem, .ecdsa])
        #expect(try seedsAdded(nil, pki: Replies.noFacePKI) == [])
    }

    private func seedsAdded(_ request: SignInPKIRequest?, pki: JSON) throws -> [FacePKIClass]? {
        var script = try fetched(request, pki: pki)
        try script.advance(to: "rotateFaceToken")
        guard case .rotateFaceToken(_, let classes) = try #require(script.last.last).action else { return nil }
        return classes
    }

    @Test func `a malformed offer is the server's failure`() throws {
        for pki: JSON in [true, ["enabled": 1], ["enabled": true, "tenant_scope": true, "classes": [1]]] {
            #expect(try fetched(nil, pki: pki).failure?.reason == "server")
        }
    }
}
