import Encoding
import HTTP
import JOSE
import Profiles
import Testing

@testable import ReferenceIdP

@Suite struct MetadataTests {
    @Test func `the document is the same at both addresses and says what the wire says`() throws {
        let world = try World()
        let discovery = world.send("GET", "/acme/.well-known/openid-configuration")
        let oauth = world.send("GET", "/.well-known/oauth-authorization-server/acme")
        #expect(discovery.status == 200)
        #expect(discovery.body == oauth.body)
        let body = try discovery.json
        #expect(body["issuer"] == "http://127.0.0.1:7421/acme")
        #expect(body["authorization_challenge_endpoint"] == "http://127.0.0.1:7421/acme/oauth2/challenge")
        #expect(body["token_endpoint"] == "http://127.0.0.1:7421/acme/oauth2/token")
        #expect(body["revocation_endpoint"] == "http://127.0.0.1:7421/acme/oauth2/revoke")
        #expect(body["jwks_uri"] == "http://127.0.0.1:7421/acme/jwks.json")
        #expect(body["device_ceremony_endpoint"] == "http://127.0.0.1:7421/acme/device-ceremony")
        #expect(body["code_challenge_methods_supported"] == ["S256"])
        #expect(body["dpop_signing_alg_values_supported"] == ["ES256"])
    }

    @Test func `metadata and key set may be cached, and nothing else`() throws {
        let world = try World()
        #expect(world.send("GET", "/acme/.well-known/openid-configuration").fields["Cache-Control"] == nil)
        #expect(world.send("GET", "/acme/jwks.json").fields["Cache-Control"] == nil)
        #expect(world.send("GET", "/acme/elsewhere").fields["Cache-Control"] == "no-store")
    }

    @Test func `the key set holds public keys only`() throws {
        let world = try World()
        let set = try world.send("GET", "/acme/jwks.json").json
        #expect(set["keys"]?.array?.count == 1)
        #expect(set["keys"]?.array?.first?["d"] == nil)
        #expect(set["keys"]?.array?.first?["alg"] == "ES256")
    }

    @Test(arguments: [
        "/nobody/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/nobody",
        "/nobody/jwks.json", "/", "//", "/acme", "/acme/", "/acme/oauth2/token/", "/acme/%6fauth2/token",
        "/ACME/jwks.json",
    ])
    func `a path that is nobody's is not found`(path: String) throws {
        #expect(try World().send("GET", path).summary == "404 not_found")
    }

    @Test func `the wrong method is told the right one`() throws {
        let world = try World()
        let get = world.send("GET", "/acme/oauth2/token")
        #expect(get.summary == "405 method_not_allowed")
        #expect(get.fields["Allow"] == "POST")
        #expect(world.send("DELETE", "/acme/jwks.json").fields["Allow"] == "GET, HEAD")
    }

    @Test func `the built-in profile reads, and a profile with a hole names it`() throws {
        #expect(SenseCryptProfile.builtIn.limits.mismatches == 3)
        #expect(SenseCryptProfile.builtIn.errors.uniformRefusal.description == "this ceremony cannot continue")
        let error = #expect(throws: ProfileError.self) { try SenseCryptProfile(json5: Array("{name: 'x',}".utf8)) }
        #expect(error?.description.contains("paths") ?? false)
    }
}
