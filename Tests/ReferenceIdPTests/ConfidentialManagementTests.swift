import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

/// Saves of confidential clients and FAPI tenants: what is refused, by which rule, and that nothing changed.
@Suite struct ConfidentialManagementTests {
    private let world: World
    private let backend: Backend

    init() throws {
        world = try World()
        backend = try Backend(world)
    }

    private func save(_ body: JSON, tenant: String = "fapi") throws -> (status: Int, rule: String?) {
        let client = tenant == "fapi" ? "app_fapi" : "app_demo"
        let response = world.manage("PATCH", "tenants/\(tenant)/applications/\(client)", body)
        return (response.status, try response.json["rule"]?.string)
    }

    @Test func `keys are shown as they were registered, with their kid`() throws {
        #expect(backend.register().status == 200)
        let shown = try world.manage("GET", "tenants/fapi/applications/app_fapi").json
        #expect(shown["token_endpoint_auth_method"] == "private_key_jwt")
        #expect(shown["jwks"]?["keys"]?.array?.first?["kid"]?.string == backend.kid)
    }

    @Test func `a key without a kid is known by its thumbprint`() throws {
        _ = try save(["jwks": ["keys": [backend.publicKey.json]]])
        let shown = try world.manage("GET", "tenants/fapi/applications/app_fapi").json
        #expect(shown["jwks"]?["keys"]?.array?.first?["kid"]?.string == backend.publicKey.thumbprint)
    }

    @Test func `a FAPI tenant takes no public application, none without keys, and none that redirects in the clear`()
        throws
    {
        #expect(try save(["name": "Still without keys"]).rule == "private_key_jwt_requires_jwks")
        backend.register()
        for (body, rule) in [
            (["token_endpoint_auth_method": "none"], "fapi2_requires_private_key_jwt"),
            (["jwks": .null], "private_key_jwt_requires_jwks"),
            (["redirect_uris": ["http://app.example/"]], "fapi2_requires_https_or_loopback_redirect_uri"),
            (["redirect_uris": ["com.example.app:/done"]], "fapi2_requires_https_or_loopback_redirect_uri"),
        ] as [(JSON, String)] {
            let before = world.manage("GET", "tenants/fapi/applications/app_fapi").body
            let refused = try save(body)
            #expect(refused.status == 422)
            #expect(refused.rule == rule)
            #expect(world.manage("GET", "tenants/fapi/applications/app_fapi").body == before)
        }
        #expect(try save(["redirect_uris": ["https://app.example/", "http://127.0.0.1:1/"]]).status == 200)
        let new = world.manage("POST", "tenants/fapi/applications", ["client_id": "app_new"])
        #expect(try new.json["rule"]?.string == "fapi2_requires_private_key_jwt")
    }

    @Test func `a tenant becomes FAPI only when every application could live there`() throws {
        let refused = world.manage("PATCH", "tenants/acme", ["profile": "fapi2"])
        #expect(try refused.json["rule"]?.string == "fapi2_requires_private_key_jwt")
        let body: JSON = ["token_endpoint_auth_method": "private_key_jwt", "jwks": ["keys": [backend.jwk]]]
        #expect(try save(body, tenant: "acme").status == 200)
        #expect(world.manage("PATCH", "tenants/acme", ["profile": "fapi2"]).status == 200)
        #expect(world.manage("PATCH", "tenants/acme", ["profile": "gold"]).status == 422)
    }

    @Test func `a code of a FAPI tenant cannot be made to live longer than a minute`() throws {
        let refused = world.manage("PATCH", "tenants/fapi/policy", ["code_lifetime": 61])
        #expect(try refused.json["rule"]?.string == "fapi2_limits_code_lifetime")
        #expect(world.manage("PATCH", "tenants/fapi/policy", ["code_lifetime": 30]).status == 200)
        #expect(world.manage("PATCH", "tenants/acme/policy", ["code_lifetime": 61]).status == 200)
        #expect(world.manage("PATCH", "tenants/globex/policy", ["code_lifetime": 60]).status == 200)
    }

    @Test func `a confidential client in a standard tenant authenticates as well`() throws {
        let body: JSON = ["token_endpoint_auth_method": "private_key_jwt", "jwks": ["keys": [backend.jwk]]]
        #expect(try save(body, tenant: "acme").status == 200)
        let phone = try Phone(world).enrol()
        #expect(try phone.start().summary == "401 invalid_client")
        let backend = backend
        phone.credentials = { _ in
            [
                ("client_assertion_type", Backend.type),
                ("client_assertion", try backend.assertion(clientID: "app_demo", tenant: "acme")),
            ]
        }
        #expect(try phone.start().status == 403)
    }

    @Test func `keys that could never be used are refused with the reason`() throws {
        guard case .p256(let key) = backend.key else { return }
        var secret = backend.jwk.object ?? JSONObject()
        secret["d"] = .string(Base64URL.encode(try key.scalar))
        var twice = backend.jwk.object ?? JSONObject()
        twice["x"] = .string("AAAA")
        var encryption = backend.jwk.object ?? JSONObject()
        encryption["use"] = "enc"
        let rsa = JWK.rsa(try Backend.rsaKey.get().publicKey)
        var forRS256 = rsa.json.object ?? JSONObject()
        forRS256["alg"] = "RS256"
        for (keys, rule) in [
            ([.object(secret)], "jose.jwk.private"), ([.object(twice)], "jose.jwk.coordinate"),
            ([.object(encryption)], "jose.jwk.use"), ([.object(forRS256)], "alg"),
            ([backend.jwk, backend.jwk], "kid"), ([], "jwks"), (["a key"], "jose.jwk.not_object"),
        ] as [([JSON], String)] {
            let refused = try save(["jwks": ["keys": .array(keys)]])
            #expect(refused.status == 422)
            #expect(refused.rule == rule)
        }
        #expect(try save(["jwks": ["keys": .array((0..<17).map { _ in backend.jwk })]]).rule == "jwks")
    }

    @Test func `metadata says how clients authenticate`() throws {
        let fapi = try world.send("GET", "/fapi/.well-known/openid-configuration").json
        let acme = try world.send("GET", "/acme/.well-known/openid-configuration").json
        #expect(fapi["token_endpoint_auth_methods_supported"] == ["private_key_jwt"])
        #expect(acme["token_endpoint_auth_methods_supported"] == ["none", "private_key_jwt"])
        for document in [fapi, acme] {
            #expect(document["token_endpoint_auth_signing_alg_values_supported"] == ["ES256", "PS256"])
        }
    }

    @Test func `keys and profile survive a restart, and records from before there were any are read`() throws {
        backend.register()
        let again = try World(records: world.stored.all)
        let phone = try Phone(again, tenant: "fapi", clientID: "app_fapi", email: "eve@fapi.example").enrol()
        let backend = backend
        phone.credentials = { _ in try backend.credentials() }
        #expect(try phone.start().status == 403)
        let old = try world.stored.all.map { record -> RecordChange in
            guard [.tenant, .application].contains(record.kind), let value = record.value else { return record }
            var object = try #require(try JSON(parsing: value).object)
            for name in ["profile", "token_endpoint_auth_method", "jwks"] { object[name] = nil }
            return RecordChange(kind: record.kind, key: record.key, value: JSON.object(object).serialized())
        }
        #expect(try World(records: old).realm("fapi").tenant.profile == .standard)
    }
}
