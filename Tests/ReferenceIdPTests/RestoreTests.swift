import Crypto
import Encoding
import HTTP
import JOSE
import Synchronization
import Testing

@testable import ReferenceIdP

@Suite struct RestoreTests {
    /// The same IdP after a restart: what was stored is all it has.
    private func restarted(_ world: World) throws -> World {
        try World(seed: 2, records: world.stored.all, stored: world.stored, at: world.now)
    }

    private func moved(_ phone: Phone, to world: World) throws -> Phone {
        let copy = try Phone(world, tenant: phone.tenant, clientID: phone.clientID, email: phone.email)
        copy.accessToken = phone.accessToken
        copy.refreshToken = phone.refreshToken
        copy.generation = phone.generation
        return copy
    }

    @Test func `after a restart grants, devices, settings and keys are as before`() throws {
        let world = try World()
        world.manage("PATCH", "tenants/acme/policy", ["nonce_on_start": true])
        world.manage("POST", "tenants", ["id": "initech"])
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).signIn()
        let unused = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        let keys = world.send("GET", "/acme/jwks.json").body
        let after = try restarted(world)
        #expect(after.send("GET", "/acme/jwks.json").body == keys)
        for path in ["tenants/acme", "tenants/acme/applications", "tenants/acme/users", "tenants/acme/policy"] {
            #expect(after.manage("GET", path).body == world.manage("GET", path).body)
        }
        let copy = try moved(phone, to: after)
        #expect(try copy.call().status == 200)
        #expect(try copy.refresh().status == 200)
        #expect(try copy.signIn().call().status == 200)
        #expect(try Phone(after, seed: 50).enrolment(ticket: unused).status == 201)
    }

    @Test func `after a restart on other ports the seed's resource is the API's new address`() throws {
        let world = try World()
        let server = try ReferenceIdPServer(
            .init(
                origin: "http://127.0.0.1:1", apiOrigin: "http://127.0.0.1:2", entropy: Entropy(seed: [5]),
                records: world.stored.all))
        let application = server.state.withLock { $0.idp.realms["acme"]?.applications["app_demo"] }
        #expect(application?.resources == ["http://127.0.0.1:2/acme"])
    }

    @Test func `what was revoked, spent or used stays so after a restart`() throws {
        let world = try World()
        let (_, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).signIn()
        let (access, spent) = (phone.accessToken, phone.refreshToken)
        _ = phone.revoke(access)
        _ = try phone.refresh()
        let after = try restarted(world)
        let copy = try moved(phone, to: after)
        #expect(try copy.call(token: access).summary == "401 invalid_token")
        #expect(try copy.call().status == 200)
        #expect(try copy.enrolment(ticket: ticket).summary == "403 access_denied")
        #expect(try copy.refresh(spent).summary == "400 invalid_grant")
        #expect(try copy.refresh().summary == "400 invalid_grant", "the family went with the spent token")
    }

    @Test func `the stored records are the durable state, whatever happened`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        _ = try phone.refresh()
        _ = phone.revoke(phone.accessToken)
        let (id, _) = try world.newUser("bob@acme.example")
        world.manage("POST", "tenants/acme/users/\(id)/import", ["face_token": "AAAA"])
        world.manage("DELETE", "tenants/globex")
        _ = world.post("/acme/device-ceremony/signup", json: ["email": "cy@acme.example"])
        _ = try phone.beginAndFetch().mismatch()
        try phone.begin(hint: "nobody@acme.example")
        world.manage("PUT", "clock", ["mode": "offset", "seconds": 10])
        let kept = Set(world.stored.all.filter { $0.kind != .signingKey })
        #expect(kept == Set(world.idp.durableRecords))
    }

    @Test func `a store that fails is a 500, and the changes wait for the next caller`() throws {
        let world = try World()
        let (id, _) = try world.newUser("ada@acme.example")
        world.stored.failNext(1)
        let response = world.server.handle(
            HTTPRequest(
                method: "POST", target: "/manage/tenants/acme/users/\(id)/revoke", fields: HTTPFields(), body: []),
            peerIsLoopback: true, hostIsLoopback: true)
        #expect(response.summary == "500 server_error")
        #expect(world.manage("GET", "tenants").status == 200)
        #expect(Set(world.stored.all.filter { $0.kind != .signingKey }) == Set(world.idp.durableRecords))
    }

    @Test(arguments: [RecordChange.Kind.tenant, .application, .user, .device, .ticket, .grant, .revokedToken])
    func `a damaged record is named`(kind: RecordChange.Kind) throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        _ = phone.revoke(phone.accessToken)
        _ = try world.newUser("bob@acme.example")
        for damage in ["", "{}", "[]", #"{"user":7}"#] {
            var records = world.stored.all
            let index = try #require(records.firstIndex { $0.kind == kind })
            records[index] = RecordChange(kind: kind, key: records[index].key, value: Array(damage.utf8))
            let error = #expect(throws: RestoreError.self) { try World(records: records) }
            #expect(error?.record.hasPrefix(kind.rawValue) ?? false)
        }
    }

    @Test func `a record of a tenant that is not there is named`() throws {
        let world = try World()
        let orphaned = world.stored.all.filter { $0.kind != .tenant }
        #expect(throws: RestoreError.self) { try World(records: orphaned) }
    }

    @Test func `the RSA key is made once and kept`() throws {
        let world = try World()
        world.manage("PATCH", "tenants/acme/applications/app_demo", ["id_token_signed_response_alg": "RS256"])
        let keys = try world.send("GET", "/acme/jwks.json").json
        #expect(keys["keys"]?.array?.count == 2)
        #expect(try restarted(world).send("GET", "/acme/jwks.json").json == keys)
    }
}
