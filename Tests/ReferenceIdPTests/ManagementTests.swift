import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

@Suite struct ManagementTests {
    @Test func `only a loopback peer with a loopback Host may manage`() throws {
        let world = try World()
        for (peer, host) in [(false, true), (true, false), (false, false)] {
            let response = world.server.handle(
                HTTPRequest(method: "GET", target: "/manage/tenants", fields: HTTPFields(), body: []),
                peerIsLoopback: peer, hostIsLoopback: host)
            #expect(response.status == 403)
            #expect(response.fields["Content-Type"] == "application/problem+json")
        }
        #expect(world.brokenRules.allSatisfy { $0 == "manage.loopback" })
        #expect(world.manage("GET", "tenants").status == 200)
    }

    @Test func `the seed is three tenants with one application each`() throws {
        let world = try World()
        let tenants = try #require(try world.manage("GET", "tenants").json["tenants"]?.array)
        #expect(tenants.map { $0["id"]?.string } == ["acme", "globex", "fapi"])
        #expect(tenants.map { $0["self_signup"]?.bool } == [true, false, false])
        #expect(tenants.map { $0["profile"]?.string } == ["standard", "standard", "fapi2"])
        let application = try world.manage("GET", "tenants/globex/applications/app_globex").json
        #expect(application["resources"] == ["http://127.0.0.1:7422/globex"])
        #expect(application["scopes"] == ["openid", "email", "profile", "offline_access"])
        #expect(application["first_party_challenge_enabled"] == true)
        #expect(application["require_dpop"] == true)
        #expect(application["access_token_lifetime"] == .null)
    }

    @Test func `a tenant is made, changed in part, and deleted with all it has`() throws {
        let world = try World()
        let created = world.manage("POST", "tenants", ["id": "initech", "attestation_mode": "audit"])
        #expect(created.status == 201)
        #expect(world.manage("POST", "tenants", ["id": "initech"]).status == 409)
        let changed = try world.manage("PATCH", "tenants/initech", ["name": "Initech"]).json
        #expect(changed["attestation_mode"] == "audit")
        #expect(changed["name"] == "Initech")
        _ = try world.newUser("a@b.example", tenant: "initech")
        #expect(world.manage("DELETE", "tenants/initech").status == 204)
        #expect(world.manage("GET", "tenants/initech").status == 404)
        #expect(world.stored.all.allSatisfy { !$0.key.hasPrefix("initech") })
    }

    @Test(arguments: ["", "-x", "ACME", "a/b", "manage", "a b", "é", String(repeating: "a", count: 64)])
    func `a tenant id is a plain segment`(id: String) throws {
        let response = try World().manage("POST", "tenants", ["id": .string(id)])
        #expect(response.status == 422)
        #expect(try response.json["field"] == "id")
    }

    /// Saves that break a first-party rule.
    static let refusedSaves: [(JSON, String)] = [
        (["require_dpop": false], "first_party_requires_dpop"),
        (["tls_client_certificate_bound_access_tokens": true], "first_party_conflicts_with_mtls"),
        (["redirect_uris": []], "first_party_requires_redirect_uri"),
    ]

    @Test(arguments: refusedSaves.indices) func `a save that breaks a first-party rule changes nothing`(index: Int)
        throws
    {
        let world = try World()
        let before = world.manage("GET", "tenants/acme/applications/app_demo").body
        let (change, rule) = Self.refusedSaves[index]
        let response = world.manage("PATCH", "tenants/acme/applications/app_demo", change)
        #expect(response.status == 422)
        #expect(try response.json["rule"]?.string == rule)
        #expect(response.fields["Content-Type"] == "application/problem+json")
        #expect(world.manage("GET", "tenants/acme/applications/app_demo").body == before)
    }

    @Test func `opting in needs the tenant's own app, and turning that off is allowed`() throws {
        let world = try World()
        #expect(world.manage("PATCH", "tenants/acme", ["runs_own_app": false]).status == 200)
        let response = world.manage("PATCH", "tenants/acme/applications/app_demo", ["name": "Demo"])
        #expect(try response.json["rule"] == "first_party_requires_tenant_app")
        let optedOut: JSON = ["first_party_challenge_enabled": false, "require_dpop": false]
        #expect(world.manage("PATCH", "tenants/acme/applications/app_demo", optedOut).status == 200)
        #expect(
            try world.manage(
                "POST", "tenants/globex/applications", ["first_party_challenge_enabled": true]
            ).json["rule"] == "first_party_requires_redirect_uri")
    }

    /// Bodies that are refused, with the field that is at fault.
    static let badFields: [(String, String, JSON, String)] = [
        ("POST", "tenants/acme/applications", ["nmae": "x"], "nmae"),
        ("POST", "tenants/acme/applications", ["name": 7], "name"),
        ("POST", "tenants/acme/applications", ["client_id": "a b"], "client_id"),
        ("POST", "tenants/acme/applications", ["scopes": "openid"], "scopes"),
        ("POST", "tenants/acme/applications", ["scopes": ["a b"]], "scopes"),
        ("POST", "tenants/acme/applications", ["redirect_uris": ["nocolon"]], "redirect_uris"),
        ("POST", "tenants/acme/applications", ["resources": ["https://a#b"]], "resources"),
        ("POST", "tenants/acme/applications", ["access_token_lifetime": 0], "access_token_lifetime"),
        ("POST", "tenants/acme/applications", ["access_token_lifetime": "300"], "access_token_lifetime"),
        ("POST", "tenants/acme/applications", ["id_token_signed_response_alg": "none"], "id_token_signed_response_alg"),
        ("POST", "tenants/acme/applications", ["refresh_token_rotation": "yes"], "refresh_token_rotation"),
        ("POST", "tenants/acme/users", [:], "email"),
        ("POST", "tenants/acme/users", ["email": "nobody"], "email"),
        ("POST", "tenants/acme/users", ["email": "a@b", "applications": ["nope"]], "applications"),
        ("POST", "tenants/acme/users", ["email": "a@b", "ticket": 1], "ticket"),
        ("PATCH", "tenants/acme", ["id": "other"], "id"),
        ("PATCH", "tenants/acme", ["attestation_mode": "strict"], "attestation_mode"),
        ("PATCH", "tenants/acme/policy", ["session_lifetime": 0], "session_lifetime"),
        ("PATCH", "tenants/acme/policy", ["code_lifetime": 601], "code_lifetime"),
        ("PATCH", "tenants/acme/policy", ["max_replacements": 4], "max_replacements"),
        ("PUT", "clock", [:], "mode"),
        ("PUT", "clock", ["mode": "fast"], "mode"),
        ("PUT", "clock", ["mode": "frozen"], "at"),
        ("PUT", "clock", ["mode": "offset", "seconds": "1"], "seconds"),
        ("PUT", "clock", ["mode": "real", "at": 1], "at"),
    ]

    @Test(arguments: badFields.indices) func `a bad field is named with its rule`(index: Int) throws {
        let (method, path, body, field) = Self.badFields[index]
        let response = try World().manage(method, path, body)
        #expect(response.status == 422)
        #expect(try response.json["field"]?.string == field)
        #expect(try response.json["rule"]?.string != nil)
    }

    @Test func `a user is made, found by page, changed and deleted`() throws {
        let world = try World()
        for index in 0..<7 { _ = try world.newUser("u\(index)@acme.example") }
        var seen: [String] = []
        var path = "tenants/acme/users?limit=3"
        for _ in 0..<4 {
            let page = try world.manage("GET", path).json
            seen += (page["users"]?.array ?? []).compactMap { $0["email"]?.string }
            guard let next = page["next"]?.string else { break }
            path = "tenants/acme/users?limit=3&after=\(next)"
        }
        #expect(seen == (0..<7).map { "u\($0)@acme.example" })
        #expect(world.manage("GET", "tenants/acme/users?limit=0").status == 422)
        #expect(world.manage("GET", "tenants/acme/users?limit=101").status == 422)
        #expect(world.manage("POST", "tenants/acme/users", ["email": "U3@ACME.example"]).status == 409)
        let id = try #require(try world.realm().usersByAddress["u3@acme.example"])
        #expect(world.manage("PATCH", "tenants/acme/users/\(id)", ["email": "u4@acme.example"]).status == 409)
        #expect(world.manage("PATCH", "tenants/acme/users/\(id)", ["email": "new@acme.example"]).status == 200)
        #expect(world.manage("POST", "tenants/acme/users", ["email": "u3@acme.example"]).status == 201)
        #expect(world.manage("DELETE", "tenants/acme/users/\(id)").status == 204)
        #expect(world.manage("GET", "tenants/acme/users/\(id)").status == 404)
    }

    @Test func `a user shows devices without keys and tokens`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket)
        let devices = try world.manage("GET", "tenants/acme/users/\(id)").json["devices"]
        #expect(
            devices == [
                [
                    "kid": .string(phone.kid), "platform": "ios", "enrolled_at": .int(World.start.seconds),
                    "generation": 1, "password_protected": false,
                ]
            ])
    }

    @Test func `the clock moves and freezes what the IdP takes for the time`() throws {
        let world = try World()
        #expect(world.manage("PUT", "clock", ["mode": "frozen", "at": 1_900_000_000]).status == 200)
        world.advance(seconds: 50)
        #expect(try world.manage("GET", "clock").json["now"] == 1_900_000_000)
        world.manage("PUT", "clock", ["mode": "offset", "seconds": -3600])
        #expect(try world.manage("GET", "clock").json["now"]?.int == World.start.seconds + 50 - 3600)
        world.manage("PUT", "clock", ["mode": "real"])
        #expect(try world.manage("GET", "clock").json["now"]?.int == World.start.seconds + 50)
    }

    @Test func `findings say rule, expected and actual, are numbered, and the ring is bounded`() throws {
        let world = try World()
        let phone = try Phone(world)
        for _ in 0..<600 { _ = world.post("/acme/oauth2/token", form: [("client_id", "app_demo")]) }
        _ = try phone.start { $0.set("client_id", "nobody") }
        let all = try world.manage("GET", "findings").json
        #expect(all["findings"]?.array?.count == 512)
        #expect(all["total"] == 601)
        let last = try #require(all["findings"]?.array?.last)
        #expect(last["rule"] == "client.known")
        #expect(last["endpoint"] == "challenge")
        #expect(last["tenant"] == "acme")
        #expect(last["client_id"] == "nobody")
        #expect(last["at"]?.int == World.start.seconds)
        let newest = try world.manage("GET", "findings?after=600").json["findings"]?.array
        #expect(newest?.map { $0["sequence"]?.int } == [601])
        #expect(try world.manage("GET", "findings?limit=2").json["findings"]?.array?.count == 2)
        #expect(world.manage("GET", "findings?after=x").status == 422)
    }

    @Test func `a reset goes back to the seed, in memory and in the store`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        world.manage("POST", "tenants", ["id": "initech"])
        world.manage("PUT", "clock", ["mode": "offset", "seconds": 5])
        #expect(world.manage("POST", "reset").status == 204)
        #expect(try phone.call().summary == "401 invalid_token")
        #expect(try world.manage("GET", "tenants").json["tenants"]?.array?.count == 3)
        let kinds = Set(world.stored.all.map(\.kind))
        #expect(kinds == [.tenant, .application, .signingKey, .codeSecret])
        #expect(try Phone(world).enrol().signIn().call().status == 200)
    }

    @Test func `the state dump counts and shows, and holds no secret`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let dump = try world.manage("GET", "state").json
        let acme = try #require(dump["tenants"]?.array?.first)
        #expect(acme["counts"]?["sessions"] == 1)
        #expect(acme["counts"]?["grants"] == 1)
        #expect(acme["sessions"]?.array?.first?["progress"] == "completed, 0 replacement codes")
        #expect(!dump.text.contains(Base64URL.encode(phone.faceToken(2))))
    }

    @Test(arguments: [
        ("GET", "nowhere", 404), ("GET", "", 404), ("GET", "tenants/nobody", 404), ("PUT", "tenants", 405),
        ("GET", "tenants/acme/applications/nope", 404), ("GET", "tenants/acme/users/nope", 404),
        ("DELETE", "tenants/acme/users/nope/devices/x", 404), ("GET", "reset", 405), ("GET", "tenants?limit=%zz", 400),
    ])
    func `paths that are not there say so`(method: String, path: String, status: Int) throws {
        let response = try World().manage(method, path)
        #expect(response.status == status)
        #expect(response.fields["Content-Type"] == "application/problem+json")
    }
}
