import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

/// The catalogue of bad proofs (reference table M1 to M23), at every endpoint that takes one.
///
/// M1 to M11, M18 and M19 are run below at each. The others are about one endpoint and have their tests
/// there: M12 to M14 in ``ResourceTests``, M15 and M21 in ``TokenTests``, M16 and M22 in
/// ``CompletionTests``, M17 in ``RefreshTests``, M20 in ``StartTests``. M23 does not apply: this IdP never
/// answers `redirect_to_web`.
@Suite struct MutationTests {
    /// An endpoint with a proof: how to get to the point before the call, and the call.
    enum Endpoint: String, CaseIterable, Sendable {
        case start, completion, token, refresh, api

        func call(_ phone: Phone, _ edit: Phone.ProofEdit) throws -> HTTPResponse {
            switch self {
            case .start: try phone.start(proof: edit)
            case .completion: try phone.complete(proof: edit)
            case .token: try phone.redeem(proof: edit)
            case .refresh: try phone.refresh(proof: edit)
            case .api: try phone.call(proof: edit)
            }
        }

        func ready() throws -> Phone {
            let phone = try Phone(try World()).enrol()
            switch self {
            case .start: _ = try phone.start()
            case .completion: try phone.beginAndFetch()
            case .token: try phone.completed()
            case .refresh: try phone.signIn()
            case .api:
                try phone.signIn()
                phone.apiNonce = phone.world.server.settings.apiNonces.issue(now: phone.world.now)
            }
            return phone
        }

        /// A good call's status.
        var success: Int { self == .start ? 403 : 200 }
        var refusedStatus: Int { self == .api ? 401 : 400 }
        var url: String {
            switch self {
            case .start, .completion: "http://127.0.0.1:7421/acme/oauth2/challenge"
            case .token, .refresh: "http://127.0.0.1:7421/acme/oauth2/token"
            case .api: "http://127.0.0.1:7422/acme/accounts"
            }
        }
        var method: String { self == .api ? "GET" : "POST" }
    }

    struct Mutation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: String
        let edit: @Sendable (Endpoint, Phone) throws -> Phone.ProofEdit

        init(
            _ name: String, _ error: String = "invalid_dpop_proof",
            _ edit: @escaping @Sendable (Endpoint, Phone) throws -> Phone.ProofEdit
        ) {
            testDescription = name
            self.error = error
            self.edit = edit
        }

        static func claims(
            _ name: String, _ error: String = "invalid_dpop_proof",
            _ edit: @escaping @Sendable (Endpoint, inout JSONObject) -> Void
        ) -> Mutation {
            Mutation(name, error) { endpoint, _ in Phone.ProofEdit(claims: { edit(endpoint, &$0) }) }
        }

        static func header(_ name: String, _ edit: @escaping @Sendable (inout JSONObject) -> Void) -> Mutation {
            Mutation(name) { _, _ in Phone.ProofEdit(header: edit) }
        }

        static func values(_ name: String, _ edit: @escaping @Sendable (String) -> [String]) -> Mutation {
            Mutation(name) { _, _ in Phone.ProofEdit(values: edit) }
        }

        static func signature(_ name: String, _ edit: @escaping @Sendable ([UInt8]) -> [UInt8]) -> Mutation {
            values(name) { proof in
                let parts = proof.split(separator: ".").map(String.init)
                let signature = (try? Base64URL.decode(parts[2])) ?? []
                return ["\(parts[0]).\(parts[1]).\(Base64URL.encode(edit(signature)))"]
            }
        }
    }

    static let mutations: [Mutation] = [
        .values("M1 no header") { _ in [] },
        .values("M2 two headers") { [$0, $0] },
        .values("M2 two joined by a comma") { ["\($0), \($0)"] },
        .header("M3 typ JWT") { $0["typ"] = "JWT" },
        .header("M3 typ missing") { $0["typ"] = nil },
        .header("M3 typ spelled oddly") { $0["typ"] = "DPoP+JWT" },
        .header("M4 alg none") { $0["alg"] = "none" },
        .header("M4 alg HS256") { $0["alg"] = "HS256" },
        .header("M4 alg RS256 with an EC key") { $0["alg"] = "RS256" },
        .header("M4 alg ES384") { $0["alg"] = "ES384" },
        Mutation("M5 jwk with d") { _, phone in
            let scalar = Base64URL.encode(try phone.dpopKey.scalar)
            return Phone.ProofEdit(header: {
                var jwk = $0["jwk"]?.object ?? JSONObject()
                jwk["d"] = .string(scalar)
                $0["jwk"] = .object(jwk)
            })
        },
        .header("M5 no jwk") { $0["jwk"] = nil },
        .header("M5 jwk not on the curve") {
            var jwk = $0["jwk"]?.object ?? JSONObject()
            jwk["y"] = jwk["x"]
            $0["jwk"] = .object(jwk)
        },
        .header("M5 x of 31 bytes") {
            var jwk = $0["jwk"]?.object ?? JSONObject()
            jwk["x"] = .string(Base64URL.encode([UInt8](repeating: 1, count: 31)))
            $0["jwk"] = .object(jwk)
        },
        .signature("M6 DER signature") { (try? P256.ECDSASignature.der(raw: $0)) ?? [] },
        .signature("M6 63 bytes") { Array($0.dropLast()) },
        .signature("M6 65 bytes") { $0 + [0] },
        .signature("M6 a flipped bit") { [$0[0] ^ 1] + $0.dropFirst() },
        .signature("M6 all zero") { _ in [UInt8](repeating: 0, count: 64) },
        .values("M7 padded") { [$0 + "=="] },
        .values("M7 standard alphabet") {
            [$0.replacing("-", with: "+").replacing("_", with: "/") + "+"]
        },
        .claims("M8 htm in lower case") { $1["htm"] = .string($0.method.lowercased()) },
        .claims("M8 another method") { $1["htm"] = "PUT" },
        .claims("M9 another path") { $1["htu"] = .string($0.url + "/more") },
        .claims("M9 another host") { $1["htu"] = .string($0.url.replacing("127.0.0.1", with: "127.0.0.2")) },
        .claims("M9 another scheme") { $1["htu"] = .string($0.url.replacing("http:", with: "https:")) },
        .claims("M9 another port") { $1["htu"] = .string($0.url.replacing(":742", with: ":743")) },
        .claims("M9 a trailing slash") { $1["htu"] = .string($0.url + "/") },
        .claims("M9 userinfo") { $1["htu"] = .string($0.url.replacing("//", with: "//a@")) },
        .claims("M10 iat two minutes ahead") { $1["iat"] = .int(World.start.seconds + 120) },
        .claims("M10 iat in milliseconds") { $1["iat"] = .int(World.start.milliseconds) },
        .claims("M10 iat a string") { $1["iat"] = .string("\(World.start.seconds)") },
        .claims("M10 iat fractional") { $1["iat"] = .double(Double(World.start.seconds) + 0.5) },
        .claims("M10 iat huge") { $1["iat"] = .double(1e18) },
        .claims("M10 iat negative") { $1["iat"] = -1 },
        .claims("M10 no iat") { $1["iat"] = nil },
        .claims("M18 a made-up nonce", "use_dpop_nonce") { $1["nonce"] = "made-up" },
        .claims("M18 the other origin's nonce", "use_dpop_nonce") {
            $1["nonce"] = .string(otherNonce(at: $0))
        },
        .claims("M18 a nonce that is no string") { $1["nonce"] = 7 },
        .claims("M19 jti of 10 kB") { $1["jti"] = .string(String(repeating: "j", count: 10_000)) },
        .claims("jti missing") { $1["jti"] = nil },
        .claims("jti empty") { $1["jti"] = "" },
        .claims("htm missing") { $1["htm"] = nil },
        .claims("htu missing") { $1["htu"] = nil },
    ]

    /// A nonce that is good, at the other of the two origins.
    private static func otherNonce(at endpoint: Endpoint) -> String {
        guard let world = try? World() else { return "" }
        let settings = world.server.settings
        return (endpoint == .api ? settings.nonces : settings.apiNonces).issue(now: world.now)
    }

    @Test(arguments: Endpoint.allCases, mutations)
    func `a mutated proof is refused and consumes nothing`(endpoint: Endpoint, mutation: Mutation) throws {
        let phone = try endpoint.ready()
        let before = phone.world.footprint
        let response = try endpoint.call(phone, mutation.edit(endpoint, phone))
        #expect(response.summary == "\(endpoint.refusedStatus) \(mutation.error)")
        #expect(phone.world.footprint == before)
        #expect(try endpoint.call(phone, .none).status == endpoint.success, "a good proof goes through afterwards")
    }

    static let accepted: [Mutation] = [
        .claims("M9 htu with a query") { $1["htu"] = .string($0.url + "?a=b") },
        .claims("M9 htu with a fragment") { $1["htu"] = .string($0.url + "#x") },
        .claims("M9 scheme in upper case") { $1["htu"] = .string($0.url.replacing("http:", with: "HTTP:")) },
        .claims("M9 a percent-encoded letter") { $1["htu"] = .string($0.url.replacing("acme", with: "%61cme")) },
        .claims("M10 iat an hour back, dated by a fresh nonce") { $1["iat"] = .int(World.start.seconds - 3600) },
        .claims("more claims") { $1["extra"] = ["a": 1] },
        .header("more header members") { $0["x"] = "y" },
    ]

    @Test(arguments: Endpoint.allCases, accepted)
    func `what the RFC allows is accepted`(endpoint: Endpoint, mutation: Mutation) throws {
        let phone = try endpoint.ready()
        #expect(try endpoint.call(phone, mutation.edit(endpoint, phone)).status == endpoint.success)
    }

    @Test(arguments: Endpoint.allCases) func `M11 the same proof again is refused`(endpoint: Endpoint) throws {
        let phone = try endpoint.ready()
        let jti = phone.entropy.token(16)
        let same = Phone.ProofEdit(claims: { $0["jti"] = .string(jti) })
        #expect(try endpoint.call(phone, same).status == endpoint.success)
        let before = phone.world.footprint
        #expect(try endpoint.call(phone, same).summary == "\(endpoint.refusedStatus) invalid_dpop_proof")
        #expect(phone.world.brokenRules.last == "dpop.jti.replayed")
        #expect(phone.world.footprint == before, "a replay consumes and revokes nothing")
    }

    @Test(arguments: [-3600, -61, 11, 120] as [Int64])
    func `M10 without a nonce iat is bound on both sides`(offset: Int64) throws {
        let phone = try Phone(try World())
        let edit = Phone.ProofEdit(claims: {
            $0["nonce"] = nil
            $0["iat"] = .int(World.start.seconds + offset)
        })
        #expect(try phone.start(proof: edit).summary == "400 invalid_dpop_proof")
    }

    @Test func `M18 a nonce is good for its minute and the next, and then stale`() throws {
        let phone = try Phone(try World()).enrol().beginAndFetch()
        let nonce = phone.nonce
        phone.world.advance(seconds: 60)
        let old = Phone.ProofEdit(claims: { $0["nonce"] = nonce.map(JSON.string) })
        #expect(try phone.complete(proof: old).status == 200)
        phone.world.advance(seconds: 60)
        #expect(try phone.redeem(proof: old).summary == "400 use_dpop_nonce")
    }

    @Test func `a proof with a fresh nonce is remembered for as long as the nonce lives`() throws {
        let world = try World()
        let phone = try Phone(world)
        _ = try phone.start()
        let proof = try phone.proofs("POST", world.origin + "/acme/oauth2/challenge", nonce: phone.nonce)
        var answers: [String] = []
        for _ in 0..<5 {
            answers.append(try phone.start(proof: .init(values: { _ in proof })).summary)
            world.advance(seconds: 29)
        }
        #expect(answers[0] == "403 insufficient_authorization")
        #expect(answers.dropFirst().allSatisfy { ["400 invalid_dpop_proof", "400 use_dpop_nonce"].contains($0) })
    }

    @Test func `M19 a flood of proofs leaves bounded memory`() throws {
        let world = try World(profile: try .builtIn(limits: ["replay_entries": 1000]))
        let phone = try Phone(world)
        for _ in 0..<1500 {
            _ = try phone.start { $0.set("scope", "openid") }
        }
        #expect(try world.realm().proofs.count <= 1000)
    }
}

extension World {
    /// What refusals must leave alone: everything but findings.
    var footprint: String {
        guard let realm = try? realm() else { return "none" }
        let sessions = realm.sessions.entries.values.map { "\($0.progress) \($0.mismatchCount)" }.sorted()
        let codes = realm.codes.entries.values.map { "\($0.progress)" }.sorted()
        let grants = realm.grants.entries.values.map { "\($0.id) \($0.refresh?.currentHash ?? "-")" }.sorted()
        let generations = realm.devices.values.map { $0.faceToken.generation }.sorted()
        return "\(sessions) \(codes) \(grants) \(generations) \(realm.proofs.count) \(realm.apiProofs.count)"
    }
}
