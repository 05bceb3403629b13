import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct TokenTests {
    @Test func `a code lives sixty seconds`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().completed()
        world.advance(seconds: 59)
        #expect(try phone.redeem().status == 200)
        let late = try Phone(world, email: "bob@acme.example").enrol().completed()
        world.advance(seconds: 60)
        #expect(try late.redeem().summary == "400 invalid_grant")
        #expect(world.brokenRules == ["code.lifetime"])
    }

    @Test func `a second use is refused and revokes what the first issued`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        #expect(try phone.call().status == 200)
        #expect(try phone.redeem().summary == "400 invalid_grant")
        #expect(try phone.call().summary == "401 invalid_token")
        #expect(try phone.refresh().summary == "400 invalid_grant")
        #expect(world.brokenRules == ["code.once", "access_token.revoked", "refresh.known"])
    }

    @Test func `the verifier must open the challenge, and a wrong one burns nothing`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().completed()
        #expect(try phone.redeem { $0.drop("code_verifier") }.summary == "400 invalid_grant")
        #expect(try phone.redeem { $0.set("code_verifier", "short") }.summary == "400 invalid_grant")
        let other = phone.entropy.token(32)
        #expect(try phone.redeem { $0.set("code_verifier", other) }.summary == "400 invalid_grant")
        #expect(try phone.redeem { $0.set("code_verifier", phone.verifier + "=") }.summary == "400 invalid_grant")
        #expect(world.brokenRules.allSatisfy { $0 == "code.verifier" })
        #expect(try phone.redeem().status == 200)
    }

    @Test func `a code is of its client and its DPoP key, and others burn nothing`() throws {
        let world = try World()
        world.manage(
            "POST", "tenants/acme/applications",
            [
                "client_id": "app_other", "first_party_challenge_enabled": true,
                "redirect_uris": ["https://other.example/app"],
            ])
        let phone = try Phone(world).enrol().completed()
        #expect(try phone.redeem { $0.set("client_id", "app_other") }.summary == "400 invalid_grant")
        #expect(try phone.redeem { $0.set("client_id", "nobody") }.summary == "401 invalid_client")
        #expect(try phone.redeem(proof: .init(key: phone.strangerKey())).summary == "400 invalid_grant")
        #expect(try phone.redeem(proof: .init(values: { _ in [] })).summary == "400 invalid_dpop_proof")
        #expect(try phone.redeem().status == 200)
    }

    @Test func `a nonce is needed, and without it the code is not touched`() throws {
        let phone = try Phone(try World()).enrol().completed()
        #expect(try phone.redeem(proof: .init(claims: { $0["nonce"] = nil })).summary == "400 use_dpop_nonce")
        #expect(try phone.redeem().status == 200)
    }

    @Test func `access lost between code and token is a dead code`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).completed()
        world.manage("PATCH", "tenants/acme/users/\(id)", ["applications": []])
        #expect(try phone.redeem().summary == "400 invalid_grant")
    }

    @Test(arguments: [
        ("password", "400 unsupported_grant_type"), ("", "400 invalid_request"),
        ("AUTHORIZATION_CODE", "400 unsupported_grant_type"),
    ])
    func `other grant types are not served`(grant: String, answer: String) throws {
        let phone = try Phone(try World()).enrol().completed()
        #expect(try phone.redeem { $0.set("grant_type", grant) }.summary == answer)
    }

    @Test func `an application says how long its access tokens live`() throws {
        let world = try World()
        world.manage("PATCH", "tenants/acme/applications/app_demo", ["access_token_lifetime": 20])
        let phone = try Phone(world).enrol().completed()
        #expect(try phone.redeem().json["expires_in"] == 20)
        world.advance(seconds: 19)
        #expect(try phone.call().status == 200)
        world.advance(seconds: 1)
        #expect(try phone.call().summary == "401 invalid_token")
    }

    @Test func `codes, sessions and refresh tokens are stored as hashes only`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let state = String(describing: try world.realm()) + String(describing: world.stored.all.map(\.text))
        let dump = String(decoding: world.manage("GET", "state").body, as: UTF8.self)
        for secret in [phone.code, phone.authSession, phone.refreshToken, phone.accessToken] {
            #expect(!secret.isEmpty)
            #expect(!state.contains(secret))
            #expect(!dump.contains(secret))
        }
    }
}

extension RecordChange {
    var text: String { "\(kind) \(key) \(String(decoding: value ?? [], as: UTF8.self))" }
}

@Suite struct RefreshTests {
    @Test func `a refresh renews without nonce in the id token, and rotates`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let (access, refresh) = (phone.accessToken, phone.refreshToken)
        world.advance(seconds: 301)
        let body = try phone.refresh().json
        #expect(phone.accessToken != access)
        #expect(phone.refreshToken != refresh)
        let idToken = try JSON(parsing: try JWS(compact: try #require(body["id_token"]?.string)).payload)
        #expect(idToken["nonce"] == nil)
        #expect(idToken["auth_time"]?.int == World.start.seconds)
        #expect(idToken["sub"] == (try JSON(parsing: try JWS(compact: access).payload))["sub"])
        #expect(try phone.call().status == 200)
    }

    @Test func `a spent token revokes the family`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let spent = phone.refreshToken
        #expect(try phone.refresh().status == 200)
        #expect(try phone.refresh(spent).summary == "400 invalid_grant")
        #expect(try phone.refresh().summary == "400 invalid_grant")
        #expect(try phone.call().summary == "401 invalid_token")
        #expect(world.brokenRules == ["refresh.once", "refresh.known", "access_token.revoked"])
    }

    @Test func `without rotation the token stays good and no successor is sent`() throws {
        let world = try World()
        world.manage("PATCH", "tenants/acme/applications/app_demo", ["refresh_token_rotation": false])
        let phone = try Phone(world).enrol().signIn()
        for _ in 0..<3 { #expect(try phone.refresh().json["refresh_token"] == nil) }
        #expect(try phone.call().status == 200)
    }

    @Test func `another key or no proof is refused, and then the right key still works (M17)`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        #expect(try phone.refresh(proof: .init(key: phone.strangerKey())).summary == "400 invalid_grant")
        #expect(try phone.refresh(proof: .init(values: { _ in [] })).summary == "400 invalid_dpop_proof")
        #expect(try phone.refresh(proof: .init(claims: { $0["nonce"] = nil })).summary == "400 use_dpop_nonce")
        #expect(try phone.refresh { $0.set("client_id", "nobody") }.summary == "401 invalid_client")
        #expect(try phone.refresh().status == 200)
    }

    @Test func `a family ends thirty days after its sign-in, however often it was refreshed`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        world.advance(seconds: 2_591_999)
        #expect(try phone.start().status == 403)
        #expect(try phone.refresh().status == 200)
        world.advance(seconds: 1)
        #expect(try phone.refresh().summary == "400 invalid_grant")
        #expect(try phone.call().status == 200, "the access token has its own end")
    }

    @Test func `scope may shrink and not grow, the resource may not change`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        #expect(try phone.refresh { $0.append(("scope", "openid profile")) }.summary == "400 invalid_scope")
        #expect(try phone.refresh { $0.append(("resource", "https://else")) }.summary == "400 invalid_target")
        #expect(try phone.refresh { $0.append(("scope", "openid")) }.json["scope"] == "openid")
        #expect(try phone.refresh().json["scope"] == "openid email offline_access")
    }

    @Test func `access lost ends the family`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).signIn()
        world.manage("PATCH", "tenants/acme/users/\(id)", ["enabled": false])
        #expect(try phone.refresh().summary == "400 invalid_grant")
        world.manage("PATCH", "tenants/acme/users/\(id)", ["enabled": true])
        #expect(try phone.refresh().summary == "400 invalid_grant")
    }

    @Test(arguments: ["made-up", ".", "a.b", "", String(repeating: "x", count: 2000)])
    func `a made-up refresh token is refused`(token: String) throws {
        let phone = try Phone(try World()).enrol().signIn()
        #expect(try phone.refresh(token).status == 400)
        #expect(try phone.refresh().status == 200)
    }
}

@Suite struct RevocationTests {
    @Test func `a refresh token takes its access tokens with it`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        let response = phone.revoke(phone.refreshToken)
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(try phone.call().summary == "401 invalid_token")
        #expect(try phone.refresh().summary == "400 invalid_grant")
    }

    @Test func `an access token goes alone`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        let revoked = phone.accessToken
        #expect(phone.revoke(revoked).status == 200)
        #expect(try phone.call().summary == "401 invalid_token")
        #expect(try phone.refresh().status == 200)
        #expect(try phone.call().status == 200)
        #expect(try phone.call(token: revoked).summary == "401 invalid_token")
    }

    @Test func `unknown tokens and those of others are answered alike, and live on`() throws {
        let world = try World()
        world.manage("POST", "tenants/acme/applications", ["client_id": "app_other"])
        let phone = try Phone(world).enrol().signIn()
        let known = phone.revoke("made-up")
        let other = phone.revoke(phone.refreshToken) { $0.set("client_id", "app_other") }
        let access = phone.revoke(phone.accessToken) { $0.set("client_id", "app_other") }
        #expect(known == other && known == access)
        #expect(known.status == 200)
        #expect(try phone.call().status == 200)
        #expect(try phone.refresh().status == 200)
    }

    @Test func `a client is needed, a proof is not, a wrong hint changes nothing`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        #expect(phone.revoke("x") { $0.set("client_id", "nobody") }.summary == "401 invalid_client")
        #expect(phone.revoke("x") { $0.drop("client_id") }.summary == "400 invalid_request")
        #expect(phone.revoke("x") { $0.drop("token") }.summary == "400 invalid_request")
        #expect(phone.revoke(phone.refreshToken) { $0.append(("token_type_hint", "access_token")) }.status == 200)
        #expect(try phone.refresh().summary == "400 invalid_grant")
    }

    @Test func `an administrator ends all grants of a user at once, and new ones work`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).signIn()
        #expect(world.manage("POST", "tenants/acme/users/\(id)/revoke").status == 204)
        #expect(try phone.call().summary == "401 invalid_token")
        #expect(try phone.refresh().summary == "400 invalid_grant")
        try phone.signIn()
        #expect(try phone.call().status == 200)
    }

    @Test func `an application deleted and made again has none of the old grants`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let application = try world.manage("GET", "tenants/acme/applications/app_demo").json
        world.manage("DELETE", "tenants/acme/applications/app_demo")
        #expect(world.manage("POST", "tenants/acme/applications", application).status == 201)
        #expect(try phone.refresh().summary == "400 invalid_grant")
        #expect(try phone.call().summary == "401 invalid_token")
    }
}
