import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct ResourceTests {
    @Test func `a bound token with its proof reads the accounts, the same ones each time`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        let first = try phone.call()
        #expect(first.status == 200)
        #expect(try first.json["accounts"]?.array?.count == 2)
        #expect(try phone.call().body == first.body)
        #expect(first.fields.values("DPoP-Nonce").count == 1)
        #expect(first.fields["Cache-Control"] == "no-store")
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"])
    func `any other path echoes what came`(method: String) throws {
        let phone = try Phone(try World()).enrol().signIn()
        let body = try phone.call(method, "/echo/this", body: [1, 2, 3]).json
        #expect(body["method"]?.string == method)
        #expect(body["path"] == "/acme/echo/this")
        #expect(body["body_bytes"] == 3)
        #expect(body["scope"] == "openid email offline_access")
        #expect(body["sub"] == (try JSON(parsing: try JWS(compact: phone.accessToken).payload))["sub"])
    }

    @Test(arguments: ["dpop", "DPOP", "dPoP"]) func `the scheme is read without case`(scheme: String) throws {
        #expect(try Phone(try World()).enrol().signIn().call(scheme: scheme).status == 200)
    }

    @Test func `no token is a bare challenge`() throws {
        let response = try World().send("GET", "/acme/accounts", surface: .resourceAPI)
        #expect(response.status == 401)
        #expect(response.fields.values("WWW-Authenticate") == [#"DPoP algs="ES256""#])
        #expect(response.body.isEmpty)
    }

    @Test(arguments: ["Basic YTpi", "DPoP", "Bearer", "", " ", "DPoP  "])
    func `a scheme of another kind, or none with a token, is a bare challenge`(value: String) throws {
        let response = try World().send(
            "GET", "/acme/accounts", fields: [("Authorization", value)], surface: .resourceAPI)
        #expect(response.status == 401)
    }

    @Test func `two Authorization fields are an invalid request`() throws {
        let response = try World().send(
            "GET", "/acme/accounts", fields: [("Authorization", "DPoP a"), ("Authorization", "Bearer b")],
            surface: .resourceAPI)
        #expect(response.summary == "400 invalid_request")
    }

    @Test func `M14 a bound token as Bearer is refused, with and without a proof`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        let response = try phone.call(scheme: "Bearer")
        #expect(response.summary == "401 invalid_token")
        #expect(response.fields["WWW-Authenticate"] == #"DPoP error="invalid_token", algs="ES256""#)
        #expect(try phone.call(scheme: "bearer", proof: .init(values: { _ in [] })).summary == "401 invalid_token")
    }

    @Test func `M12 ath must be there, of this token, and base64url`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let other = try Phone(world, email: "bob@acme.example").enrol().signIn().accessToken
        let hex = Hex.encode(SHA256.hash(ascii: phone.accessToken))
        for ath in [nil, JSON.string(storedHash(other)), .string(hex), 7] {
            #expect(
                try phone.call(proof: .init(claims: { $0["ath"] = ath })).summary == "401 invalid_dpop_proof")
        }
        #expect(try phone.call().status == 200)
    }

    @Test func `M13 another key with the right ath is an invalid token`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        #expect(try phone.call(proof: .init(key: phone.strangerKey())).summary == "401 invalid_token")
        #expect(world.brokenRules == ["access_token.cnf"])
    }

    @Test func `a nonce is asked where the policy says so`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        world.manage("PATCH", "tenants/acme/policy", ["nonce_at_resource": true])
        let refused = try phone.call(proof: .init())
        #expect(refused.summary == "401 use_dpop_nonce")
        #expect(refused.fields["WWW-Authenticate"] == #"DPoP error="use_dpop_nonce", algs="ES256""#)
        #expect(try phone.call(proof: .init()).status == 200)
        phone.apiNonce = phone.nonce
        #expect(try phone.call(proof: .init()).summary == "401 use_dpop_nonce", "the IdP's nonce is not the API's")
    }

    @Test func `an id token, a forged token and another tenant's are no access tokens`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().completed()
        let idToken = try #require(try phone.redeem().json["id_token"]?.string)
        var forged = Array(phone.accessToken.utf8)
        forged[forged.count - 20] ^= 1
        let forgedText = String(decoding: forged, as: UTF8.self)
        let stripped = phone.accessToken.split(separator: ".").prefix(2).joined(separator: ".") + "."
        let unsigned =
            JWS.signingInput(header: JSONObject([("typ", "at+jwt"), ("alg", "none")]), payload: Array("{}".utf8)) + "."
        for token in [idToken, forgedText, stripped, unsigned, "x", "a.b.c", String(repeating: "a", count: 9000)] {
            #expect(try phone.call(token: token).summary == "401 invalid_token")
        }
        #expect(try phone.call().status == 200)
    }

    @Test func `htu is compared without the query and with the raw path`() throws {
        let phone = try Phone(try World()).enrol().signIn()
        #expect(try phone.call("GET", "/accounts?limit=1").status == 200)
        #expect(try phone.call("GET", "/a%2Fb").status == 200)
        #expect(
            try phone.call("GET", "/a%2Fb", proof: .init(claims: { $0["htu"] = "http://127.0.0.1:7422/acme/a/b" }))
                .summary == "401 invalid_dpop_proof")
    }

    @Test func `the API of an unknown tenant is not found`() throws {
        #expect(try World().send("GET", "/nobody/accounts", surface: .resourceAPI).status == 404)
    }

    @Test func `a body over the API's limit is refused`() throws {
        let world = try World(profile: try .builtIn(limits: ["resource_body_bytes": 1000]))
        let phone = try Phone(world).enrol().signIn()
        #expect(try phone.call("POST", "/echo", body: [UInt8](repeating: 0, count: 1001)).status == 413)
        #expect(try phone.call("POST", "/echo", body: [UInt8](repeating: 0, count: 1000)).status == 200)
    }
}
