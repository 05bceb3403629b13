import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

/// Client assertions (RFC 7523, FAPI 2.0; SenseCrypt wire, section 12), at every endpoint that wants one.
@Suite struct ClientAuthenticationTests {
    /// An endpoint that authenticates clients: how to get to the point before the call, and the call.
    enum Endpoint: String, CaseIterable, Sendable {
        case start, completion, token, refresh, revocation

        func call(_ phone: Phone) throws -> HTTPResponse {
            switch self {
            case .start: try phone.start()
            case .completion: try phone.complete()
            case .token: try phone.redeem()
            case .refresh: try phone.refresh()
            case .revocation: phone.revoke(phone.refreshToken)
            }
        }

        func ready(_ key: Backend.Key? = nil) throws -> (phone: Phone, backend: Backend) {
            let (phone, backend) = try Phone.confidential(try World(), key: key)
            switch self {
            case .start: _ = try phone.start()
            case .completion: try phone.beginAndFetch()
            case .token: try phone.completed()
            case .refresh, .revocation: try phone.signIn()
            }
            return (phone, backend)
        }

        var success: Int { self == .start ? 403 : 200 }
    }

    struct Bent: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rule: String
        let edit: Backend.Edit

        init(_ name: String, _ rule: String, _ edit: Backend.Edit) {
            testDescription = name
            self.rule = "client.assertion." + rule
            self.edit = edit
        }

        static func claim(_ name: String, _ value: JSON?, _ label: String) -> Bent {
            Bent("\(name) \(label)", name, Backend.Edit(claims: { $0[name] = value }))
        }

        static func time(_ name: String, _ offset: Int64, _ rule: String? = nil) -> Bent {
            let at = World.start.seconds + offset
            return Bent("\(name) \(offset)", rule ?? name, Backend.Edit(claims: { $0[name] = .int(at) }))
        }
    }

    static let issuer = "http://127.0.0.1:7421/fapi"
    static let strangerKey = Result { try P256.PrivateKey.generate(Entropy(seed: [99])) }

    static let claims: [Bent] = [
        .claim("iss", "app_demo", "of another client"), .claim("iss", nil, "missing"), .claim("iss", 7, "a number"),
        .claim("sub", "app_demo", "of another client"), .claim("sub", nil, "missing"),
        .claim("sub", "app_fapi ", "with a blank"),
        .claim("aud", [.string(issuer)], "an array of the issuer"),
        .claim("aud", [.string(issuer), .string(issuer + "/oauth2/token")], "an array of two"),
        .claim("aud", .string(issuer + "/oauth2/token"), "the token endpoint"),
        .claim("aud", .string(issuer + "/oauth2/challenge"), "the challenge endpoint"),
        .claim("aud", .string(issuer + "/"), "with a slash"),
        .claim("aud", "http://127.0.0.1:7421/acme", "another tenant"), .claim("aud", nil, "missing"),
        .claim("exp", nil, "missing"), .claim("exp", "soon", "a word"), .claim("exp", -1, "negative"),
        .claim("iat", "now", "a word"), .claim("nbf", [], "an array"),
        .claim("jti", nil, "missing"), .claim("jti", "", "empty"),
        .claim("jti", .string(String(repeating: "j", count: 257)), "long"),
        .time("exp", 0), .time("exp", -1), .time("exp", 301), .time("exp", 86_400), .time("iat", 61), .time("nbf", 61),
        .time("iat", -241, "exp"),
    ]

    static let signatures: [Bent] = [
        Bent("alg none", "jws", Backend.Edit(header: { $0["alg"] = "none" }, sign: { _ in [] })),
        Bent("alg none with bytes", "alg", Backend.Edit(header: { $0["alg"] = "none" }, sign: { _ in [1] })),
        Bent(
            "HS256 with the public key", "alg",
            Backend.Edit(
                header: { $0["alg"] = "HS256" },
                sign: { HMAC.sha256(key: Array("public".utf8), message: Array($0.utf8)) })),
        Bent("RS256", "alg", Backend.Edit(header: { $0["alg"] = "RS256" })),
        Bent("PS256 on a P-256 key", "kid", Backend.Edit(header: { $0["alg"] = "PS256" })),
        Bent("another kid", "kid", Backend.Edit(header: { $0["kid"] = "key-0" })),
        Bent("a stranger's key", "signature", Backend.Edit(sign: { try strangerKey.get().sign([UInt8]($0.utf8)) })),
        Bent("a signature of zeros", "signature", Backend.Edit(sign: { _ in [UInt8](repeating: 0, count: 64) })),
        Bent("crit", "jws", Backend.Edit(header: { $0["crit"] = ["b64"] })),
    ]

    static let parameters: [Bent] = [
        Bent("nothing", "missing", Backend.Edit(form: { $0 = [] })),
        Bent("no type", "type", Backend.Edit(form: { $0.drop("client_assertion_type") })),
        Bent("another type", "type", Backend.Edit(form: { $0.set("client_assertion_type", "jwt-bearer") })),
        Bent("a type alone", "missing", Backend.Edit(form: { $0.drop("client_assertion") })),
        Bent("two segments", "jws", Backend.Edit(form: { $0.set("client_assertion", "a.b") })),
    ]

    @Test(arguments: Endpoint.allCases, claims + signatures + parameters)
    func `a bent assertion is invalid_client, touches nothing, and says why in a finding`(
        endpoint: Endpoint, bent: Bent
    ) throws {
        let (phone, backend) = try endpoint.ready()
        let before = phone.world.manage("GET", "state")
        phone.credentials = { _ in try backend.credentials(bent.edit) }
        let refused = try endpoint.call(phone)
        #expect(refused.summary == "401 invalid_client")
        #expect(phone.world.brokenRules.last == bent.rule)
        #expect(try Self.records(phone.world.manage("GET", "state")) == Self.records(before))
        phone.credentials = { _ in try backend.credentials() }
        #expect(try endpoint.call(phone).status == endpoint.success)
    }

    /// Everything the state has but the findings.
    private static func records(_ state: HTTPResponse) throws -> JSON? { try state.json["tenants"] }

    @Test(arguments: Endpoint.allCases)
    func `a good assertion passes, with either algorithm`(endpoint: Endpoint) throws {
        for key in [nil, Backend.Key.rsa(try Backend.rsaKey.get())] {
            let (phone, _) = try endpoint.ready(key)
            #expect(try endpoint.call(phone).status == endpoint.success)
        }
    }

    @Test(arguments: [
        Bent.time("iat", 60), .time("iat", -239), .time("nbf", 60), .time("nbf", -9999), .time("exp", 1),
        .time("exp", 300), .claim("iat", nil, "missing"), .claim("exp", .double(1_800_000_030.5), "with a fraction"),
        .claim("tenant", "extra", "an unknown claim"),
        Bent("typ", "", Backend.Edit(header: { $0["typ"] = "client-authentication+jwt" })),
        Bent("no kid with one key", "", Backend.Edit(header: { $0["kid"] = nil })),
    ])
    func `what FAPI allows is taken`(bent: Bent) throws {
        let (phone, backend) = try Phone.confidential()
        phone.credentials = { _ in try backend.credentials(bent.edit) }
        #expect(try phone.start().status == 403)
    }

    @Test(arguments: Endpoint.allCases, Endpoint.allCases)
    func `an assertion used at one endpoint is refused at every other`(first: Endpoint, second: Endpoint) throws {
        let (phone, backend) = try first.ready()
        let used = try backend.credentials()
        phone.credentials = { _ in used }
        #expect(try first.call(phone).status == first.success)
        // The second request is well-formed, whatever it has to show.
        if phone.code.isEmpty { phone.code = "none" }
        if phone.refreshToken.isEmpty { phone.refreshToken = "none" }
        #expect(try second.call(phone).summary == "401 invalid_client")
        #expect(phone.world.brokenRules.last == "client.assertion.jti")
    }

    @Test func `a nonce challenge and a bad proof cost no assertion`() throws {
        let (phone, backend) = try Endpoint.token.ready()
        let assertion = try backend.credentials()
        phone.credentials = { _ in assertion }
        phone.nonce = nil
        #expect(try phone.redeem(proof: Phone.ProofEdit()).error == "use_dpop_nonce")
        #expect(try phone.redeem(proof: Phone.ProofEdit(values: { _ in [] })).error == "invalid_dpop_proof")
        #expect(try phone.redeem().status == 200)
    }

    @Test func `an unauthenticated caller is told of nothing but that`() throws {
        let (phone, _) = try Endpoint.token.ready()
        phone.credentials = { _ in [] }
        #expect(
            try phone.redeem(code: "no such code", proof: Phone.ProofEdit(values: { _ in [] })).error
                == "invalid_client")
        phone.world.manage("PATCH", "tenants/fapi", ["runs_own_app": false])
        #expect(try phone.start().error == "invalid_client")
    }

    @Test func `a used identifier stays used until its assertion has ended`() throws {
        let (phone, backend) = try Phone.confidential()
        let pinned = Backend.Edit(claims: { $0["jti"] = "the same again" })
        phone.credentials = { _ in try backend.credentials(pinned) }
        #expect(try phone.start().status == 403)
        phone.world.advance(seconds: 59)
        #expect(try phone.start().summary == "401 invalid_client")
        phone.world.advance(seconds: 60)
        #expect(try phone.start().status == 403)
    }

    @Test func `client_id may be left out where an assertion names the client, and must agree where it is given`()
        throws
    {
        let (phone, _) = try Phone.confidential()
        #expect(try phone.start { $0.drop("client_id") }.status == 403)
        #expect(try phone.start { $0.set("client_id", "app_other") }.summary == "401 invalid_client")
        phone.credentials = { _ in [] }
        #expect(try phone.start { $0.drop("client_id") }.summary == "400 invalid_request")
    }

    @Test func `two methods of authentication at once are a malformed request`() throws {
        let (phone, backend) = try Phone.confidential()
        phone.credentials = { _ in try backend.credentials() + [("client_secret", "s3cret")] }
        #expect(try phone.start().summary == "400 invalid_request")
        #expect(phone.world.brokenRules.last == "request.client_authentication")
    }

    @Test func `a public client that brings an assertion is refused`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        let backend = try Backend(world)
        phone.credentials = { _ in try backend.credentials() }
        #expect(try phone.start().summary == "401 invalid_client")
        #expect(world.brokenRules.last == "client.assertion.unexpected")
    }

    @Test func `the seeded application can do nothing before keys are registered`() throws {
        let world = try World()
        let backend = try Backend(world)
        let phone = try Phone(world, tenant: "fapi", clientID: "app_fapi", email: "ada@fapi.example").enrol()
        #expect(try phone.start().summary == "401 invalid_client")
        phone.credentials = { _ in try backend.credentials() }
        #expect(try phone.start().summary == "401 invalid_client")
        #expect(world.brokenRules.last == "client.assertion.kid")
        backend.register()
        #expect(try phone.start().status == 403)
    }

    @Test func `a key that is withdrawn is good for nothing, and a new one is good at once`() throws {
        let (phone, old) = try Endpoint.refresh.ready()
        let new = try Backend(phone.world, seed: 42)
        new.register()
        phone.credentials = { _ in try old.credentials() }
        #expect(try phone.refresh().summary == "401 invalid_client")
        phone.credentials = { _ in try new.credentials() }
        #expect(try phone.refresh().status == 200)
    }

    @Test func `the refresh token of a confidential client follows its authentication, not the DPoP key`() throws {
        let (phone, _) = try Endpoint.refresh.ready()
        let other = try phone.strangerKey()
        let refreshed = try phone.refresh(proof: Phone.ProofEdit(key: other, answersNonceChallenge: true))
        #expect(refreshed.status == 200)
        let claims = try JWS(compact: phone.accessToken).payload
        #expect(try JSON(parsing: claims)["cnf"]?["jkt"]?.string == JWK.p256(other.publicKey).thumbprint)
    }

    @Test func `FAPI codes live sixty seconds`() throws {
        let (phone, _) = try Endpoint.token.ready()
        phone.world.advance(seconds: 60)
        #expect(try phone.redeem().summary == "400 invalid_grant")
        #expect(phone.world.brokenRules.last == "code.lifetime")
    }
}
