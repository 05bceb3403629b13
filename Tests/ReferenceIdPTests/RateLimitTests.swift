import Encoding
import HTTP
import Profiles
import Testing

@testable import ReferenceIdP

/// Section "Rate limits" of the description, on a clock that moves when told to.
@Suite struct RateLimitTests {
    private func starts(_ phone: Phone, _ count: Int, hint: String? = "ada@acme.example") throws -> [String] {
        try (0..<count).map { _ in try phone.start(hint: hint).summary }
    }

    private let opened = "403 insufficient_authorization"
    private let limited = "429 rate_limited"

    @Test func `thirty starts in an hour lock an address out for the rest of that hour`() throws {
        let world = try World()
        let phone = try Phone(world)
        #expect(try starts(phone, 1) == [opened])
        world.advance(seconds: 1200)
        #expect(Set(try starts(phone, 29)) == [opened])
        let refused = try phone.start(hint: "ADA@acme.example")
        #expect(refused.summary == limited)
        #expect(refused.fields["Retry-After"] == "2400")
        world.advance(seconds: 2399)
        #expect(try phone.start(hint: phone.email).fields["Retry-After"] == "1")
        world.advance(seconds: 1)
        #expect(Set(try starts(phone, 30)) == [opened], "the hour is over, and a new one has room for thirty")
        #expect(try starts(phone, 1) == [limited])
        #expect(world.brokenRules.last == "start.address_limit")
    }

    @Test func `an address nobody has counts like one somebody has`() throws {
        let world = try World()
        try Phone(world).enrol()
        let answers = try ["ada@acme.example", "nobody@acme.example"].map { hint in
            let phone = try Phone(world, email: hint, seed: 40)
            return try (0..<32).map { _ in
                let response = try phone.start(hint: hint)
                return response.summary + (response.fields["Retry-After"] ?? "")
            }
        }
        #expect(answers[0] == answers[1])
        #expect(answers[0].suffix(2) == ["429 rate_limited3600", "429 rate_limited3600"])
    }

    @Test func `another address, another application and another tenant are counted apart`() throws {
        let world = try World()
        let phone = try Phone(world)
        _ = try starts(phone, 31)
        #expect(try starts(phone, 1, hint: "bob@acme.example") == [opened])
        #expect(try starts(phone, 1, hint: nil) == [opened])
        world.manage(
            "POST", "tenants/acme/applications",
            [
                "client_id": "other", "first_party_challenge_enabled": true, "redirect_uris": ["https://o.example/a"],
                "scopes": ["openid", "email", "offline_access"], "resources": [.string(world.api + "/acme")],
            ])
        #expect(try starts(Phone(world, clientID: "other", seed: 40), 1) == [opened])
        #expect(try starts(Phone(world, tenant: "globex", clientID: "app_globex"), 1) == [opened])
    }

    @Test func `a tenant opens six hundred sessions a minute, and those under way go on`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        let other = try Phone(world, email: "bob@acme.example")
        #expect(Set(try starts(other, 1, hint: nil)) == [opened])
        world.advance(seconds: 20)
        #expect(Set(try starts(other, 598, hint: nil)) == [opened])
        try phone.begin()
        let refused = try other.start()
        #expect(refused.summary == limited)
        #expect(refused.fields["Retry-After"] == "40")
        #expect(try phone.fetchFaceToken().status == 200)
        #expect(try phone.mismatch().status == 200)
        #expect(try phone.complete().status == 200)
        #expect(try phone.redeem().status == 200)
        #expect(try phone.refresh().status == 200)
        #expect(try starts(other, 1, hint: nil) == [limited])
        #expect(try starts(Phone(world, tenant: "globex", clientID: "app_globex"), 1, hint: nil) == [opened])
        world.advance(seconds: 39)
        #expect(try starts(other, 1, hint: nil) == [limited])
        world.advance(seconds: 1)
        #expect(try starts(other, 1, hint: nil) == [opened])
    }

    @Test func `a locked address does not use up what the tenant's others share`() throws {
        let world = try World()
        let phone = try Phone(world)
        _ = try starts(phone, 630)
        #expect(try starts(phone, 569, hint: nil).allSatisfy { $0 == opened })
    }

    @Test func `what fails an earlier check is not counted`() throws {
        let world = try World()
        let phone = try Phone(world)
        for _ in 0..<40 {
            _ = try phone.start(hint: phone.email, proof: .init(values: { _ in [] }))
            _ = try phone.start(hint: phone.email, scope: "openid payments")
            _ = try phone.start(hint: phone.email) { $0.drop("code_challenge") }
        }
        #expect(try starts(phone, 1) == [opened])
        #expect(try world.realm().startsByAddress.entries.values.map(\.count) == [1])
    }

    @Test func `a clock that is set back opens a new window`() throws {
        let world = try World()
        let phone = try Phone(world)
        _ = try starts(phone, 31)
        world.advance(seconds: -86400)
        phone.nonce = nil
        #expect(try starts(phone, 1) == [opened])
    }

    @Test func `the policy turns limits off and on`() throws {
        let world = try World()
        let phone = try Phone(world)
        #expect(try world.manage("GET", "tenants/acme/policy").json["rate_limits"] == "described")
        #expect(world.manage("PATCH", "tenants/acme/policy", ["rate_limits": "sometimes"]).status == 422)
        world.manage("PATCH", "tenants/acme/policy", ["rate_limits": "off"])
        #expect(Set(try starts(phone, 40)) == [opened])
        world.manage("PATCH", "tenants/acme/policy", ["rate_limits": "described"])
        #expect(Set(try starts(phone, 30)) == [opened])
        #expect(try starts(phone, 1) == [limited])
    }

    @Test func `every endpoint shares one limit of requests by peer address`() throws {
        let world = try World()
        let caller = SenseCryptProfile.builtIn.rateLimits.caller
        let paths = ["/acme/jwks.json", "/acme/.well-known/openid-configuration", "/globex/jwks.json"]
        for index in 0..<caller.count { #expect(world.get(paths[index % 3], peer: "192.0.2.1").status == 200) }
        for path in paths {
            let refused = world.get(path, peer: "192.0.2.1")
            #expect(refused.summary == limited)
            #expect(refused.fields["Retry-After"] == String(caller.seconds))
        }
        #expect(world.get(paths[0], peer: "192.0.2.2").status == 200)
        #expect(world.get("/manage/tenants", peer: "192.0.2.1").status == 200, "whoever runs the IdP is not locked out")
        world.advance(seconds: caller.seconds - 1)
        #expect(world.get(paths[0], peer: "192.0.2.1").status == 429)
        world.advance(seconds: 1)
        #expect(world.get(paths[0], peer: "192.0.2.1").status == 200)
    }

    @Test func `what is counted is bounded`() throws {
        let world = try World(profile: try .builtIn(limits: ["addresses": 8, "callers": 8]))
        let phone = try Phone(world)
        for index in 0..<50 {
            _ = try starts(phone, 1, hint: "user-\(index)@acme.example")
            _ = world.get("/acme/jwks.json", peer: "192.0.2.\(index)")
        }
        #expect(try world.realm().startsByAddress.count == 8)
        #expect(world.idp.callers.count == 8)
    }

    @Test func `an old window leaves by itself`() throws {
        let world = try World()
        let phone = try Phone(world)
        for index in 0..<20 { _ = try starts(phone, 1, hint: "user-\(index)@acme.example") }
        world.advance(seconds: 7200)
        for _ in 0..<20 { _ = try starts(phone, 1, hint: "ada@acme.example") }
        #expect(try world.realm().startsByAddress.count == 1)
    }
}

extension World {
    fileprivate func get(_ path: String, peer: String) -> HTTPResponse {
        server.handle(
            HTTPRequest(method: "GET", target: path, fields: [:], body: []), peerIsLoopback: true,
            hostIsLoopback: true, peerAddress: peer)
    }
}
