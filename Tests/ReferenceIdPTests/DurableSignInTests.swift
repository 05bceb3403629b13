import Crypto
import Encoding
import HTTP
import JOSE
import Profiles
import Testing

@testable import ReferenceIdP

/// A sign-in goes on at an IdP that was started again, wherever it was.
@Suite struct DurableSignInTests {
    @Test func `a session goes on after every call`() throws {
        var world = try World()
        var phone = try Phone(world).enrol().begin()
        func restart() throws {
            world = try world.restarted()
            phone = phone.moved(to: world)
        }
        try restart()
        #expect(try phone.fetchFaceToken().status == 200)
        try restart()
        #expect(try phone.mismatch().json["attempts_left"] == 2)
        try restart()
        #expect(try phone.mismatch().json["attempts_left"] == 1)
        try restart()
        let proof = try phone.ceremonyProof()
        let first = try phone.complete(proof)
        #expect(first.status == 200)
        try restart()
        #expect(try phone.complete(proof).body == first.body, "the same code while it is good")
        try restart()
        #expect(try phone.redeem().status == 200)
        try restart()
        #expect(try phone.call().status == 200)
        #expect(try phone.refresh().status == 200)
    }

    @Test func `a lost token answer is made up for by a restarted IdP, and its grant revoked`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        #expect(try phone.complete(proof).status == 200)
        #expect(try phone.redeem().status == 200)
        let lost = phone.accessToken
        let again = phone.moved(to: try world.restarted())
        let before = again.code
        #expect(try again.complete(proof).status == 200)
        #expect(again.code != before)
        #expect(try again.call(token: lost).summary == "401 invalid_token")
        #expect(try again.redeem().status == 200)
        #expect(try again.world.realm().grants.count == 1)
    }

    @Test func `replacement codes are counted across restarts`() throws {
        var world = try World()
        var phone = try Phone(world).enrol().beginAndFetch()
        let proof = try phone.ceremonyProof()
        for _ in 0..<4 {
            #expect(try phone.complete(proof).status == 200)
            #expect(try phone.redeem().status == 200)
            world = try world.restarted()
            phone = phone.moved(to: world)
        }
        #expect(try phone.complete(proof).summary == "400 invalid_session")
    }

    @Test func `what ended stays ended: mismatches, aborts, codes used twice, time`() throws {
        let world = try World()
        let aborted = try Phone(world).enrol().beginAndFetch()
        #expect(try aborted.abort().status == 204)
        let mismatched = try Phone(world, email: "bob@acme.example").enrol().beginAndFetch()
        for _ in 0..<3 { _ = try mismatched.mismatch() }
        let spent = try Phone(world, email: "cy@acme.example").enrol().signIn()
        let late = try Phone(world, email: "di@acme.example").enrol().beginAndFetch()
        let after = try world.restarted()
        #expect(try aborted.moved(to: after).complete().summary == "400 invalid_session")
        #expect(try mismatched.moved(to: after).complete().summary == "400 invalid_session")
        let copy = spent.moved(to: after)
        #expect(try copy.redeem().summary == "400 invalid_grant")
        #expect(try copy.refresh().summary == "400 invalid_grant", "a second use takes the grant with it")
        after.advance(seconds: 300)
        #expect(try late.moved(to: after).complete().summary == "400 invalid_session")
    }

    @Test func `a decoy is a decoy after a restart`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().begin(hint: "nobody@acme.example")
        let copy = phone.moved(to: try world.restarted())
        #expect(try copy.fetchFaceToken().summary == "403 access_denied")
    }

    @Test func `a mail and its code outlive a restart, in order`() throws {
        var world = try World(profile: try .builtIn(limits: ["inbox": 3]))
        for name in ["a", "b", "c", "d", "e"] {
            _ = world.post("/acme/device-ceremony/signup", json: ["email": .string("\(name)@acme.example")])
        }
        let before = world.manage("GET", "tenants/acme/inbox").body
        #expect(world.stored.all.filter { $0.kind == .mail }.count == 3)
        world = try world.restarted(profile: try .builtIn(limits: ["inbox": 3]))
        #expect(world.manage("GET", "tenants/acme/inbox").body == before)
        _ = world.post("/acme/device-ceremony/signup", json: ["email": "f@acme.example"])
        let mails = try #require(try world.manage("GET", "tenants/acme/inbox").json["mails"]?.array)
        #expect(mails.compactMap { $0["address"]?.string } == ["d@acme.example", "e@acme.example", "f@acme.example"])
        let code = try #require(mails.first?["code"]?.string)
        #expect(try Phone(world, email: "d@acme.example").signUp(code: code).status == 201)
        #expect(world.stored.all.filter { $0.kind == .signupCode }.count == 5, "the used code is gone")
    }

    @Test func `no stored record of a sign-in holds a token, a code, a verifier or an auth_session`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let secrets = [phone.authSession, phone.code, phone.verifier, phone.accessToken, phone.refreshToken]
        for record in world.stored.all where record.kind != .signingKey && record.kind != .codeSecret {
            let text = String(decoding: record.value ?? [], as: UTF8.self) + record.key
            for secret in secrets { #expect(!text.contains(secret), "\(record)") }
        }
    }

    @Test func `a request writes each record once`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        for step in [
            { try phone.start() }, { try phone.fetchFaceToken() }, { try phone.complete() }, { try phone.redeem() },
        ] {
            world.stored.forgetBatches()
            #expect(try step().status < 500)
            for batch in world.stored.batches {
                let keys = batch.map { "\($0.kind.rawValue) \($0.key)" }
                #expect(Set(keys).count == keys.count)
            }
            #expect(world.stored.batches.count <= 1, "one transaction for each request")
        }
    }

    @Test func `a repeated fetch writes nothing`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        world.stored.forgetBatches()
        #expect(try phone.fetchFaceToken().status == 200)
        #expect(world.stored.batches.isEmpty)
    }

    @Test func `what is forgotten leaves the store too`() throws {
        let world = try World(profile: try .builtIn(limits: ["sessions": 4]))
        let phone = try Phone(world).enrol()
        for _ in 0..<10 { try phone.signIn() }
        #expect(world.stored.all.filter { $0.kind == .session }.count == 4)
        #expect(world.stored.all.filter { $0.kind == .code }.count == 4)
        world.manage("DELETE", "tenants/acme")
        #expect(world.stored.all.allSatisfy { !$0.key.hasPrefix("acme/") })
    }

    @Test(arguments: [RecordChange.Kind.session, .code, .signupCode, .mail]) func `a damaged record is named`(
        kind: RecordChange.Kind
    ) throws {
        let world = try World()
        try Phone(world).enrol().signIn()
        _ = world.post("/acme/device-ceremony/signup", json: ["email": "f@acme.example"])
        for damage in ["", "{}", "[]", #"{"client_id":7}"#] {
            var records = world.stored.all
            let index = try #require(records.firstIndex { $0.kind == kind })
            records[index] = RecordChange(kind: kind, key: records[index].key, value: Array(damage.utf8))
            let error = #expect(throws: RestoreError.self) { try World(records: records) }
            #expect(error?.record.hasPrefix(kind.rawValue) ?? false)
        }
    }
}

extension World {
    /// The same IdP after a restart: what was stored is all it has.
    func restarted(profile: SenseCryptProfile = .builtIn) throws -> World {
        try World(seed: 2, profile: profile, records: stored.all, stored: stored, at: now)
    }
}

extension Phone {
    /// The same phone, talking to the IdP that was started again.
    func moved(to world: World) -> Phone {
        let copy = Phone(of: self, at: world)
        copy.authSession = authSession
        copy.ceremonyID = ceremonyID
        copy.ceremonyChallenge = ceremonyChallenge
        copy.generation = generation
        copy.code = code
        copy.accessToken = accessToken
        copy.refreshToken = refreshToken
        copy.mismatches = mismatches
        return copy
    }

    /// Enrols with a mailed code.
    func signUp(code: String) throws -> HTTPResponse {
        try enrolment(
            ticket: code,
            edit: {
                $0["ticket"] = nil
                $0["email"] = .string(email)
                $0["code"] = .string(code)
            })
    }
}
