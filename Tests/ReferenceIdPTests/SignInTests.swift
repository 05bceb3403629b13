import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct SignInTests {
    @Test func `a whole sign-in gives tokens bound to the phone's key`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let keys = try JWKSet(world.send("GET", "/acme/jwks.json").json)
        let access = try JWS(compact: phone.accessToken)
        let key = try #require(keys.candidates(keyID: access.keyID, algorithm: .es256).first)
        let claims = try access.verify(key, algorithms: [.es256]).claims()
        #expect(access.type == "at+jwt")
        #expect(claims["iss"]?.string == "http://127.0.0.1:7421/acme")
        #expect(claims["aud"]?.string == "http://127.0.0.1:7422/acme")
        #expect(claims["client_id"] == "app_demo")
        #expect(claims["cnf"]?["jkt"]?.string == phone.jkt)
        #expect(claims["exp"]?.int == World.start.seconds + 300)
        #expect(claims["auth_time"]?.int == World.start.seconds)
        #expect(world.brokenRules.isEmpty)
    }

    @Test func `the token answer has what the wire says and the id token what was asked`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().completed()
        let response = try phone.redeem()
        let body = try response.json
        #expect(body["token_type"] == "DPoP")
        #expect(body["expires_in"] == 300)
        #expect(body["scope"] == "openid email offline_access")
        #expect(body["refresh_token"]?.string != nil)
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(response.fields["Content-Type"] == "application/json")
        let idToken = try JWS(compact: try #require(body["id_token"]?.string))
        let claims = try #require(try JSON(parsing: idToken.payload).object)
        #expect(claims["nonce"]?.string == phone.oidcNonce)
        #expect(claims["aud"] == "app_demo")
        #expect(claims["email"] == "ada@acme.example")
        #expect(claims["iss"]?.string == phone.issuer)
        #expect(claims["exp"]?.int == World.start.seconds + 300)
    }

    @Test func `without offline_access there is no refresh token, without email no email`() throws {
        let phone = try Phone(try World()).enrol().completed(scope: "openid")
        let body = try phone.redeem().json
        #expect(body["refresh_token"] == nil)
        let idToken = try JWS(compact: try #require(body["id_token"]?.string))
        #expect(try JSON(parsing: idToken.payload)["email"] == nil)
    }

    @Test func `an RS256 application gets RS256 id tokens and ES256 access tokens`() throws {
        let world = try World()
        world.manage("PATCH", "tenants/acme/applications/app_demo", ["id_token_signed_response_alg": "RS256"])
        let phone = try Phone(world).enrol().completed()
        let body = try phone.redeem().json
        let keys = try JWKSet(world.send("GET", "/acme/jwks.json").json)
        let idToken = try JWS(compact: try #require(body["id_token"]?.string))
        let key = try #require(keys.candidates(keyID: idToken.keyID, algorithm: .rs256).first)
        #expect(throws: Never.self) { try idToken.verify(key, algorithms: [.rs256]) }
        #expect(try JWS(compact: phone.accessToken).algorithm == "ES256")
        #expect(try phone.call().status == 200)
    }

    @Test func `the audience is the issuer when no resource was asked`() throws {
        let phone = try Phone(try World()).enrol()
        #expect(try phone.start(resource: false).status == 403)
        #expect(try phone.fetchFaceToken().status == 200)
        #expect(try phone.complete().status == 200)
        #expect(try phone.redeem().status == 200)
        #expect(try JSON(parsing: try JWS(compact: phone.accessToken).payload)["aud"]?.string == phone.issuer)
        #expect(try phone.call().summary == "401 invalid_token")
    }

    @Test func `the second sign-in fetches the generation the first one wrote`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        try phone.begin()
        let body = try phone.fetchFaceToken().json
        #expect(body["generation"] == 2)
        #expect(body["face_token"]?.string == Base64URL.encode(phone.faceToken(2)))
        #expect(try phone.complete().status == 200)
        #expect(try world.realm().devices[phone.kid]?.faceToken.generation == 3)
    }

    @Test func `tenants are worlds apart`() throws {
        let world = try World()
        let ada = try Phone(world).enrol().beginAndFetch()
        let eve = try Phone(world, tenant: "globex", clientID: "app_globex").enrol()
        eve.authSession = ada.authSession
        eve.ceremonyID = ada.ceremonyID
        eve.ceremonyChallenge = ada.ceremonyChallenge
        #expect(try eve.fetchFaceToken().summary == "403 access_denied")
        #expect(try eve.complete().summary == "400 invalid_session")
        _ = try ada.complete()
        #expect(try eve.redeem(code: ada.code).summary == "400 invalid_grant")
        _ = try ada.redeem()
        #expect(try eve.call(token: ada.accessToken).summary == "401 invalid_token")
        #expect(try ada.call().status == 200)
    }

    @Test func `answers to a request with a proof carry one nonce, and no-store`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        let answers = [
            try phone.start(), try phone.start { $0.drop("scope") }, try phone.start { $0.set("client_id", "nobody") },
            try phone.redeem(code: "made-up"),
            world.post("/nobody/oauth2/token", form: [], proofs: ["x"]),
            world.post("/acme/nowhere", form: [], proofs: ["x"]),
        ]
        for answer in answers {
            #expect(answer.fields.values("DPoP-Nonce").count == 1)
            #expect(answer.fields["Cache-Control"] == "no-store")
        }
        #expect(world.post("/acme/oauth2/token", form: []).nonce == nil)
    }
}
