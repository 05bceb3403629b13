import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

/// What the IdP says of Face PKI, and face tokens that several devices hold.
@Suite struct FacePKITests {
    /// What a phone of the tenant is told.
    private func offer(_ phone: Phone) throws -> JSON? { try phone.begin().fetchFaceToken().json["pki"] }

    @Test func `a tenant offers what its administrator turned on, with the profile's classes`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        #expect(try offer(phone) == ["enabled": false, "tenant_scope": false, "classes": []])
        #expect(world.manage("PATCH", "tenants/acme", ["pki_enabled": true]).status == 200)
        #expect(
            try offer(phone)
                == ["enabled": true, "tenant_scope": false, "classes": ["p256-ecdsa", "p256-dhkem"]])
        world.manage("PATCH", "tenants/acme", ["pki_classes": ["ml-dsa-65"]])
        #expect(try offer(phone)?["classes"] == ["ml-dsa-65"])
    }

    @Test func `tenant-wide keys are allowed application by application`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        world.manage("PATCH", "tenants/acme/applications/app_demo", ["pki_tenant_scope": true])
        #expect(try offer(phone)?["tenant_scope"] == false)
        world.manage("PATCH", "tenants/acme", ["pki_enabled": true])
        #expect(try offer(phone)?["tenant_scope"] == true)
        world.manage("PATCH", "tenants/acme/applications/app_demo", ["pki_tenant_scope": false])
        #expect(try offer(phone)?["tenant_scope"] == false)
    }

    @Test func `without sharing each device has a token of its own`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let first = try Phone(world).enrol(ticket: ticket)
        let more = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        let second = try Phone(world, seed: 2).enrol(ticket: more)
        #expect(try first.beginAndFetch().complete().status == 200)
        #expect(try second.begin().fetchFaceToken().json["generation"] == 1)
        #expect(try first.begin().fetchFaceToken().json["generation"] == 2)
    }

    @Test func `devices of a user who shares a token hold the same one after every rotation`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        world.manage("PATCH", "tenants/acme/users/\(id)", ["shared_face_token": true])
        let first = try Phone(world).enrol(ticket: ticket)
        #expect(try first.beginAndFetch().complete().status == 200)
        let more = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        let answer = try Phone(world, seed: 2).enrolment(ticket: more).json
        #expect(answer["generation"] == 2, "the second device begins with the first one's token")
        let second = try Phone(world, seed: 2)
        #expect(try second.beginAndFetch().complete().status == 200)
        let (one, two) = (try first.begin().fetchFaceToken().json, try second.begin().fetchFaceToken().json)
        #expect(one["generation"] == 3)
        #expect(one["face_token"] == two["face_token"])
    }

    @Test func `of two sign-ins at once on a shared token the later one is stale`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        world.manage("PATCH", "tenants/acme/users/\(id)", ["shared_face_token": true])
        let first = try Phone(world).enrol(ticket: ticket)
        let more = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        let second = try Phone(world, seed: 2).enrol(ticket: more)
        try first.beginAndFetch()
        try second.beginAndFetch()
        #expect(try first.complete().status == 200)
        #expect(try second.complete().summary == "400 face_token_stale")
    }

    @Test func `an imported token is every device's, as the generation it was sealed as`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let first = try Phone(world).enrol(ticket: ticket)
        #expect(try first.beginAndFetch().complete().status == 200)
        let path = "tenants/acme/users/\(id)/import"
        let early: JSON = ["face_token": "aW1wb3J0ZWQ", "generation": 2]
        #expect(world.manage("POST", path, early).status == 422, "generation 2 is the current one")
        let later: JSON = ["face_token": "aW1wb3J0ZWQ", "generation": 9]
        #expect(world.manage("POST", path, later).status == 200)
        let more = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        let second = try Phone(world, seed: 2).enrol(ticket: more)
        for phone in [first, second] {
            let answer = try phone.begin().fetchFaceToken().json
            #expect(answer["face_token"] == "aW1wb3J0ZWQ")
            #expect(answer["generation"] == 9)
        }
        #expect(try second.complete().status == 200)
        #expect(try first.begin().fetchFaceToken().json["generation"] == 10)
    }

    @Test func `the settings come back from their records, and from records of before there were any`() throws {
        var tenant = try World().realm().tenant
        tenant.pki = FacePKIOffer(enabled: true, classes: ["p256-ecdsa"])
        #expect(try reread(tenant, .tenant, tenant.id) == tenant)
        var application = try #require(try World().realm().applications["app_demo"])
        application.allowsTenantKeys = true
        #expect(try reread(application, .application, "acme/app_demo") == application)
        let older = try reread(application, .application, "acme/app_demo") { $0["pki_tenant_scope"] = nil }
        #expect(!older.allowsTenantKeys)
        var user = User(id: "u", email: "ada@acme.example", createdAt: World.start)
        user.sharesFaceToken = true
        #expect(try reread(user, .user, "acme/u") == user)
        #expect(try reread(user, .user, "acme/u") { $0["shared_face_token"] = nil }.sharesFaceToken == false)
    }

    private func reread<Value: Recorded>(
        _ value: Value, _ kind: RecordChange.Kind, _ key: String, edit: (inout JSONObject) -> Void = { _ in }
    ) throws -> Value {
        var object = try #require(value.recordJSON.object)
        edit(&object)
        let bytes = JSON.object(object).serialized()
        return try Value(RecordReader(RecordChange(kind: kind, key: key, value: bytes)))
    }
}
