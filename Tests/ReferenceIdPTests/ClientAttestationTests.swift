import Crypto
import Encoding
import HTTP
import JOSE
import Profiles
import Testing

@testable import ReferenceIdP

/// OAuth clients that authenticate by attestation, in the normal and the combined mode.
@Suite struct ClientAttestationTests {
    /// An attester with an instance's key, which can get everything wrong on purpose.
    struct Attester {
        let world: World
        let samples: EvidenceSamples
        let instance: P256.PrivateKey
        var attestation: (inout JSONObject) -> Void = { _ in }
        var header: (inout JSONObject) -> Void = { _ in }
        var pop: (inout JSONObject) -> Void = { _ in }
        var signer: P256.PrivateKey?
        var popKey: P256.PrivateKey?
        var isCombined = false
        /// The fields, made of the good ones.
        var fields: (inout Phone.Form) -> Void = { _ in }

        func form(_ phone: Phone) throws -> Phone.Form {
            var head = JSONObject([
                ("typ", "oauth-client-attestation+jwt"), ("alg", "ES256"), ("kid", "attester-1"),
            ])
            var claims = JSONObject([
                ("sub", .string(phone.clientID)), ("iat", .int(world.now.seconds)),
                ("exp", .int(world.now.seconds + 3600)), ("cnf", ["jwk": JWK.p256(instance.publicKey).json]),
            ])
            header(&head)
            attestation(&claims)
            var form: Phone.Form = [
                ("OAuth-Client-Attestation", try phone.signed(head, claims, signer ?? samples.attester))
            ]
            if !isCombined {
                var proof = JSONObject([
                    ("aud", .string(phone.issuer)), ("jti", .string(phone.entropy.token(16))),
                    ("iat", .int(world.now.seconds)),
                    ("challenge", .string(world.server.settings.challenges.issue(for: phone.tenant, now: world.now))),
                ])
                pop(&proof)
                let typ: JSON = "oauth-client-attestation-pop+jwt"
                let compact = try phone.signed(
                    JSONObject([("typ", typ), ("alg", "ES256")]), proof, popKey ?? instance)
                form.append(("OAuth-Client-Attestation-PoP", compact))
            }
            fields(&form)
            return form
        }
    }

    private func stage(_ method: String) throws -> (phone: Phone, attester: Attester) {
        let samples = try EvidenceSamples()
        let world = try World(trust: try samples.trust())
        let saved = world.manage(
            "PATCH", "tenants/acme/applications/app_demo", ["token_endpoint_auth_method": .string(method)])
        #expect(saved.status == 200)
        let phone = try Phone(world).enrol()
        let isCombined = method.hasSuffix("_dpop")
        let instance = isCombined ? phone.dpopKey : samples.attestKey
        return (phone, Attester(world: world, samples: samples, instance: instance, isCombined: isCombined))
    }

    @Test(arguments: ["attest_jwt_client_auth", "attest_jwt_client_auth_dpop"])
    func `an attested client signs in, refreshes and revokes, and the metadata say how`(method: String) throws {
        var (phone, attester) = try stage(method)
        phone.attestation = attester.form
        try phone.signIn()
        #expect(try phone.refresh().status == 200, "\(phone.world.brokenRules)")
        #expect(try phone.refresh { $0.drop("client_id") }.status == 200, "sub names the client")
        let document = try phone.world.send("GET", "/acme/.well-known/openid-configuration").json
        #expect(document["challenge_endpoint"]?.string != nil)
        let methods = document["token_endpoint_auth_methods_supported"]?.array ?? []
        #expect(methods.contains(.string(method)))
        #expect(document["client_attestation_signing_alg_values_supported"] == ["ES256"])
        #expect(document["client_attestation_pop_signing_alg_values_supported"] == ["ES256"])
        attester.signer = attester.samples.appleRoot
        phone.attestation = attester.form
        #expect(try phone.refresh().summary == "400 invalid_client_attestation")
        phone.attestation = { _ in [] }
        #expect(try phone.refresh().summary == "401 invalid_client")
        #expect(phone.revoke(phone.refreshToken).summary == "401 invalid_client")
        #expect(phone.world.brokenRules.last == "client.attestation.missing")
    }

    /// One thing wrong, the answer and the rule.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: String
        let edit: @Sendable (inout Attester) -> Void

        init(
            _ rule: String, _ answer: String = "400 invalid_client_attestation",
            _ edit: @escaping @Sendable (inout Attester) -> Void
        ) {
            testDescription = "client.attestation.\(rule)"
            self.answer = answer
            self.edit = edit
        }
    }

    @Test(arguments: [
        Case("signature") { attester in attester.signer = attester.samples.appleRoot },
        Case("header.typ") { attester in attester.header = { $0["typ"] = "JWT" } },
        Case("header.alg") { attester in attester.header = { $0["alg"] = "HS256" } },
        Case("header") { attester in attester.fields = { $0.append($0[0]) } },
        Case("header") { attester in attester.fields = { $0.removeFirst() } },
        Case("sub") { attester in attester.attestation = { $0["sub"] = "app_other" } },
        Case("exp") { attester in attester.attestation = { $0["exp"] = nil } },
        Case("exp", "400 use_fresh_attestation") { attester in
            let now = attester.world.now.seconds
            attester.attestation = { $0["exp"] = .int(now) }
        },
        Case("exp", "400 use_fresh_attestation") { attester in
            let now = attester.world.now.seconds
            attester.attestation = { $0["iat"] = .int(now - 86_401) }
        },
        Case("iat") { attester in
            let now = attester.world.now.seconds
            attester.attestation = { $0["iat"] = .int(now + 61) }
        },
        Case("cnf") { attester in attester.attestation = { $0["cnf"] = nil } },
        Case("pop.mode") { attester in attester.isCombined = true },
        Case("pop") { attester in attester.fields = { $0.append($0[1]) } },
        Case("pop.signature") { attester in attester.popKey = attester.samples.appleRoot },
        Case("pop.aud") { attester in attester.pop = { $0["aud"] = "http://127.0.0.1:7421/globex" } },
        Case("pop.aud") { attester in attester.pop = { $0["aud"] = .array([$0["aud"] ?? .null]) } },
        Case("pop.jti") { attester in attester.pop = { $0["jti"] = nil } },
        Case("pop.iat") { attester in attester.pop = { $0["iat"] = nil } },
        Case("pop.iat") { attester in
            let now = attester.world.now.seconds
            attester.pop = { $0["iat"] = .int(now - 61) }
        },
        Case("pop.challenge", "400 use_attestation_challenge") { attester in attester.pop = { $0["challenge"] = nil } },
        Case("pop.challenge", "400 use_attestation_challenge") { attester in
            attester.pop = { $0["challenge"] = "another" }
        },
    ])
    func `an attestation with one thing wrong is refused by its rule, with a challenge`(item: Case) throws {
        var (phone, attester) = try stage("attest_jwt_client_auth")
        item.edit(&attester)
        phone.attestation = attester.form
        let answer = try phone.start()
        #expect(answer.summary == item.answer)
        #expect(phone.world.brokenRules.last == item.testDescription)
        #expect(answer.fields["OAuth-Client-Attestation-Challenge"]?.utf8.count == 43)
        #expect(try phone.world.realm().sessions.count == 0)
    }

    @Test func `a proof of possession is good once, and costs nothing where a nonce was wanted`() throws {
        let (phone, attester) = try stage("attest_jwt_client_auth")
        let form = try attester.form(phone)
        phone.attestation = { _ in form }
        phone.world.manage("PATCH", "tenants/acme/policy", ["nonce_on_start": true])
        #expect(try phone.start().status == 403, "the first attempt was answered use_dpop_nonce")
        #expect(try phone.start().summary == "400 invalid_client_attestation")
        #expect(phone.world.brokenRules.last == "client.attestation.pop.jti")
    }

    @Test func `in the combined mode the DPoP key is the key attested`() throws {
        let (phone, attester) = try stage("attest_jwt_client_auth_dpop")
        let other = Attester(
            world: phone.world, samples: attester.samples, instance: attester.samples.attestKey, isCombined: true)
        phone.attestation = other.form
        #expect(try phone.start().summary == "400 invalid_client_attestation")
        #expect(phone.world.brokenRules.last == "client.attestation.dpop")
        phone.attestation = { phone in
            try Attester(world: phone.world, samples: attester.samples, instance: phone.dpopKey).form(phone)
        }
        #expect(try phone.start().summary == "400 invalid_client_attestation")
        #expect(phone.world.brokenRules.last == "client.attestation.pop.mode")
    }

    @Test func `sessions, codes and refresh tokens are the instance's alone`() throws {
        let (phone, attester) = try stage("attest_jwt_client_auth")
        let other = Attester(world: phone.world, samples: attester.samples, instance: attester.samples.androidRoot)
        phone.attestation = attester.form
        try phone.beginAndFetch()
        phone.attestation = other.form
        #expect(try phone.complete().summary == "400 invalid_session")
        phone.attestation = attester.form
        #expect(try phone.complete().status == 200)
        phone.attestation = other.form
        #expect(try phone.redeem().summary == "400 invalid_grant")
        #expect(phone.world.brokenRules.last == "code.instance")
        phone.attestation = attester.form
        #expect(try phone.redeem().status == 200)
        phone.attestation = other.form
        #expect(try phone.refresh().summary == "400 invalid_grant")
        #expect(phone.world.brokenRules.last == "refresh.instance")
    }

    @Test func `a client of another kind may carry an attestation, which nobody looks at`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        phone.attestation = { _ in [("OAuth-Client-Attestation", "junk")] }
        #expect(try phone.signIn().call().status == 200)
    }

    @Test func `the published vector reads, and its signatures hold`() throws {
        let attesterKey = try JWK([
            "kty": "EC", "crv": "P-256", "x": "5r5J0M16Dq7FLNTR39j3cpziguU8nwUfwYbY3Gfhr9Q",
            "y": "EreOVTMNxZKeEslJwUf7ucvtpmuNIW1OInx2iJdI1h8",
        ])
        let attestation =
            "eyJ0eXAiOiJvYXV0aC1jbGllbnQtYXR0ZXN0YXRpb24rand0IiwiYWxnIjoiRVMyNTYiLCJraWQiOiJhdHRlc3Rlci0xIn0.eyJzdWIiOiJtaXN0LWlvcyIsImlhdCI6MTc5MDAwMDAwMCwiZXhwIjoxNzkwMDg2NDAwLCJjbmYiOnsiandrIjp7Imt0eSI6IkVDIiwiY3J2IjoiUC0yNTYiLCJ4IjoiZHpreU82bEdpOU9vZkJlMU5NZXdmOXNnblVqV2FoNEQ1dlJCam9YUWZnayIsInkiOiJ2X2pUS3pPaTE0aURhdUxfRFY2aExSdzB6Ri1EUE9UV2tuV1RrT0phckFzIn19fQ.nbpj_Ek4dtdzQrzM2lTJ8HTs4voL1rzH2_1gqMNnrXbnOUq6In8eLdqANhaFagAzPDdmJL0lSECWVkQ1kjleXA"
        let pop =
            "eyJ0eXAiOiJvYXV0aC1jbGllbnQtYXR0ZXN0YXRpb24tcG9wK2p3dCIsImFsZyI6IkVTMjU2In0.eyJhdWQiOiJodHRwczovL2lkcC50ZXN0IiwianRpIjoiMmI3ZjNjNTItNWExZS00ZDBlLThkNTctOWEwYzFmMmUzZDRiIiwiaWF0IjoxNzkwMDAwMDA1LCJjaGFsbGVuZ2UiOiJjaF80bVM5dDFYcTdaYksifQ.0_h34WoC9Yhnz8_fiCSz1a3W2dJQwKExHaYE4jSr1WIXUD8iAuwlu_n9x6b5Ul8h-6qtwHue9bSnDIWSzHht4g"
        let basis = AttestationBasis(
            isWanted: false, policy: AttestationPolicy(),
            trust: AttestationTrust(attesters: JWKSet([.init(keyID: "attester-1", key: attesterKey)])),
            attestedKey: nil,
            now: Instant(seconds: 1_790_000_005))
        let world = try World(at: basis.now)
        func read(_ attestation: String, _ pop: String) -> ClientAttestationInput {
            let request = HTTPRequest(
                method: "POST", target: "/acme/oauth2/token",
                fields: ["OAuth-Client-Attestation": attestation, "OAuth-Client-Attestation-PoP": pop], body: [])
            let context = IntakeContext(
                request: request, settings: world.server.settings, deviceKey: { _, _ in nil },
                clientKeys: { _, _ in nil }, attestation: { _, _ in basis }, rulesOff: { _ in [] })
            return Reading(context: context, tenant: "acme").clientAttestation()
        }
        guard case .good(let good) = read(attestation, pop) else {
            Issue.record("the vector does not read")
            return
        }
        #expect(good.attester == attesterKey)
        #expect(good.subject == "mist-ios")
        #expect(good.instance == "M5Dy076AMqFhR-W8plpNrnurbmygm5V1s77Qw8pqqi8")
        #expect(good.expiresAt == Instant(seconds: 1_790_086_400))
        #expect(good.possession?.audience == "https://idp.test")
        #expect(good.possession?.challenge == "ch_4mS9t1Xq7ZbK")
        #expect(good.possession?.issuedAt == basis.now)
        let flipped = String(attestation.dropLast(4)) + "AAAA"
        if case .good(let other) = read(flipped, pop) { #expect(other.attester == nil) }
        guard case .bad(let fault, _) = read(attestation, String(pop.dropLast(4)) + "AAAA") else {
            Issue.record("a proof with another signature is taken")
            return
        }
        #expect(fault.rule == "client.attestation.pop.signature")
    }
}
