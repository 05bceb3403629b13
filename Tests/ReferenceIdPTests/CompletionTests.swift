import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct CompletionTests {
    @Test func `completion needs a nonce, and consumes nothing without one`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        let refused = try phone.complete(proof, proof: .init(claims: { $0["nonce"] = nil }))
        #expect(refused.summary == "400 use_dpop_nonce")
        #expect(refused.nonce != nil)
        #expect(try world.realm().devices[phone.kid]?.faceToken.generation == 1)
        #expect(try phone.complete(proof).status == 200)
    }

    @Test func `completion rotates the face token in the same step`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().completed()
        let device = try #require(try world.realm().devices[phone.kid])
        #expect(
            device.faceToken == FaceTokenRecord(sealed: phone.faceToken(2), generation: 2, passwordProtected: false))
    }

    /// What a ceremony proof can get wrong.
    static let unfitting: [(String, @Sendable (inout JSONObject) -> Void)] = [
        ("completion.cer", { $0["cer"] = "another" }),
        ("completion.chl", { $0["chl"] = "another" }),
        ("completion.ash", { $0["ash"] = .string(storedHash("another")) }),
        ("completion.jkt", { $0["jkt"] = .string(storedHash("another")) }),
        ("completion.fth", { $0["fth"] = .string(storedHash("another")) }),
        ("completion.iat", { $0["iat"] = .int(World.start.seconds - 61) }),
        ("completion.iat", { $0["iat"] = .int(World.start.seconds + 11) }),
    ]

    @Test(arguments: unfitting.indices)
    func `a ceremony proof that does not fit is refused, and the session lives on`(index: Int) throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let (rule, edit) = Self.unfitting[index]
        #expect(try phone.complete(try phone.ceremonyProof(edit: edit)).summary == "400 invalid_ceremony_proof")
        #expect(world.brokenRules == [rule])
        #expect(try phone.complete().status == 200)
    }

    @Test func `another key's proof, a forged proof and an unbound session are refused`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().begin()
        #expect(try phone.complete().summary == "400 invalid_ceremony_proof")
        _ = try phone.fetchFaceToken()
        let stranger = try phone.strangerKey()
        #expect(try phone.complete(try phone.ceremonyProof(key: stranger)).summary == "400 invalid_ceremony_proof")
        var forged = Array(try phone.ceremonyProof().utf8)
        forged[forged.count - 20] ^= 1
        #expect(
            try phone.complete(String(decoding: forged, as: UTF8.self)).summary == "400 invalid_ceremony_proof")
        #expect(world.brokenRules == ["completion.kid", "completion.kid", "completion.signature"])
        #expect(try phone.complete().status == 200)
    }

    @Test func `a stale generation is told, and costs nothing`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        #expect(
            try phone.complete(try phone.ceremonyProof { $0["gen"] = 7 }).summary == "400 face_token_stale")
        #expect(try phone.complete().status == 200)
    }

    @Test func `of two sessions of one device, the one that completes second is stale`() throws {
        let world = try World()
        let one = try Phone(world).enrol().beginAndFetch()
        let two = try Phone(world).beginAndFetch()
        #expect(try one.complete().status == 200)
        #expect(try two.complete().summary == "400 face_token_stale")
    }

    @Test func `a removed device and a lost access are denied`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).beginAndFetch()
        world.manage("PATCH", "tenants/acme/users/\(id)", ["enabled": false])
        #expect(try phone.complete().summary == "403 access_denied")
        world.manage("PATCH", "tenants/acme/users/\(id)", ["enabled": true])
        world.manage("DELETE", "tenants/acme/users/\(id)/devices/\(phone.kid)")
        #expect(try phone.complete().summary == "403 access_denied")
        #expect(world.brokenRules == ["completion.access", "completion.device"])
    }

    @Test func `an account with a password-protected face token cannot use in-app sign-in`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket)
        let imported: JSON = ["face_token": "aW1wb3J0ZWQ", "password_protected": true]
        #expect(world.manage("POST", "tenants/acme/users/\(id)/import", imported).status == 200)
        try phone.begin()
        let body = try phone.fetchFaceToken().json
        #expect(body["password_protected"] == true)
        #expect(body["generation"] == 2)
        #expect(body["face_token"] == "aW1wb3J0ZWQ")
        #expect(try phone.complete().summary == "403 access_denied")
    }

    @Test func `a session is of its client, its DPoP key and its handle`() throws {
        let world = try World()
        world.manage(
            "POST", "tenants/acme/applications",
            [
                "client_id": "app_other", "first_party_challenge_enabled": true,
                "redirect_uris": ["https://other.example/app"],
            ])
        let phone = try Phone(world).enrol().beginAndFetch()
        #expect(try phone.complete { $0.set("client_id", "app_other") }.summary == "400 invalid_session")
        #expect(try phone.complete(proof: .init(key: phone.strangerKey())).summary == "400 invalid_session")
        #expect(try phone.complete { $0.set("auth_session", "made-up") }.summary == "400 invalid_session")
        #expect(world.brokenRules == ["completion.client", "completion.dpop_key", "completion.session"])
        #expect(try phone.complete().status == 200)
    }

    @Test func `the same proof again gives the same code while it is good`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        #expect(try phone.complete(proof).status == 200)
        let code = phone.code
        world.advance(seconds: 59)
        #expect(try phone.complete(proof).text("authorization_code") == code)
        #expect(try world.realm().devices[phone.kid]?.faceToken.generation == 2)
        #expect(try phone.redeem().status == 200)
    }

    @Test func `a redeemed code is replaced, and what it issued is revoked`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        _ = try phone.complete(proof)
        _ = try phone.redeem()
        let (code, access, refresh) = (phone.code, phone.accessToken, phone.refreshToken)
        #expect(try phone.call().status == 200)
        #expect(try phone.complete(proof).status == 200)
        #expect(phone.code != code)
        #expect(try phone.call(token: access).summary == "401 invalid_token")
        #expect(try phone.refresh(refresh).summary == "400 invalid_grant")
        #expect(try phone.redeem().status == 200)
        #expect(try phone.call().status == 200)
        #expect(try world.realm().grants.count == 1)
    }

    @Test func `an expired code is replaced within the session's lifetime only`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        _ = try phone.complete(proof)
        let first = phone.code
        world.advance(seconds: 60)
        #expect(try phone.redeem().summary == "400 invalid_grant")
        #expect(try phone.complete(proof).status == 200)
        #expect(phone.code != first)
        #expect(try phone.redeem().status == 200)
        world.advance(seconds: 240)
        #expect(try phone.complete(proof).summary == "400 invalid_session")
    }

    @Test func `there are three replacements and no fourth`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        for _ in 0...3 {
            #expect(try phone.complete(proof).status == 200)
            #expect(try phone.redeem().status == 200)
        }
        #expect(try phone.complete(proof).summary == "400 invalid_session")
        #expect(world.brokenRules == ["completion.replacements"])
        #expect(try phone.call().status == 200, "the newest grant lives")
        #expect(try world.realm().grants.count == 1)
    }

    @Test func `another proof on a completed session is refused`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().completed()
        #expect(try phone.complete(try phone.ceremonyProof { $0["gen"] = 2 }).summary == "400 invalid_session")
        #expect(world.brokenRules == ["completion.repeat"])
        #expect(try phone.redeem().status == 200)
    }

    @Test func `a completed session hands out no face token and counts no mismatch`() throws {
        let phone = try Phone(try World()).enrol().completed()
        #expect(try phone.fetchFaceToken().summary == "400 invalid_session")
        #expect(try phone.mismatch().summary == "400 invalid_session")
        #expect(try phone.redeem().status == 200)
    }

    @Test func `the same proof with another face token is refused`() throws {
        let phone = try Phone(try World()).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        #expect(try phone.complete(proof).status == 200)
        #expect(try phone.complete(proof) { $0.set("face_token", "b3RoZXI") }.summary == "400 invalid_ceremony_proof")
    }

    @Test(arguments: ["", "!!!!", "YQ==", "YQ=", "Y", "Yx"])
    func `a face token that is not base64url is malformed`(text: String) throws {
        let phone = try Phone(try World()).enrol().beginAndFetch()
        #expect(try phone.complete { $0.set("face_token", text) }.summary == "400 invalid_request")
    }

    @Test(arguments: [
        "code_challenge", "scope", "login_hint", "nonce", "resource", "code_challenge_method", "dpop_jkt",
    ])
    func `a completion with a parameter of a start is malformed`(name: String) throws {
        let phone = try Phone(try World()).enrol().beginAndFetch()
        #expect(try phone.complete { $0.append((name, "x")) }.summary == "400 invalid_request")
    }
}
