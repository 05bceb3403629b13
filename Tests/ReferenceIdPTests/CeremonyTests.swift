import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct CeremonyTests {
    static let uniform =
        #"{"error":"access_denied","error_description":"this ceremony cannot continue"}"#

    @Test func `the first good fetch hands out the token and binds the session to device and user`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().begin()
        let body = try phone.fetchFaceToken().json
        #expect(body["face_token"]?.string == Base64URL.encode(phone.faceToken(1)))
        #expect(body["generation"] == 1)
        #expect(body["password_protected"] == false)
        #expect(body["liveness_required"] == true)
        #expect(body["attempts_left"] == 3)
        #expect(body["pki"] == ["enabled": false, "tenant_scope": false, "classes": []])
        let session = try #require(try world.realm().sessions[storedHash(phone.authSession)])
        #expect(session.deviceKey == phone.kid)
        #expect(session.subject == .user(try #require(try world.realm().users.keys.first)))
    }

    @Test func `a fetch may be repeated, and counts the mismatches so far`() throws {
        let phone = try Phone(try World()).enrol().beginAndFetch()
        #expect(try phone.mismatch().status == 200)
        #expect(try phone.fetchFaceToken().json["attempts_left"] == 2)
    }

    @Test func `a session bound to one device of a user takes no other`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket)
        let more = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        let second = try phone.strangerKey()
        #expect(try phone.enrolment(ticket: more, key: second).status == 201)
        try phone.beginAndFetch(hint: "Ada@Acme.example")
        #expect(try phone.fetchFaceToken(key: second).summary == "403 access_denied")
        #expect(try phone.fetchFaceToken().status == 200)
    }

    /// What a good-looking request can get wrong; all of it looks the same from outside.
    static let unfitting: [(String, @Sendable (inout JSONObject) -> Void)] = [
        ("ceremony.cer", { $0["cer"] = "another-ceremony-of-22" }),
        ("ceremony.chl", { $0["chl"] = "another" }),
        ("ceremony.session", { $0["ash"] = .string(storedHash("another")) }),
        ("ceremony.jkt", { $0["jkt"] = .string(storedHash("another")) }),
    ]

    @Test(arguments: unfitting.indices) func `what does not fit gets the uniform refusal`(index: Int) throws {
        let world = try World()
        let phone = try Phone(world).enrol().begin()
        let (rule, edit) = Self.unfitting[index]
        let response = try phone.fetchFaceToken(edit: edit)
        #expect(String(decoding: response.body, as: UTF8.self) == Self.uniform)
        #expect(response.status == 403)
        #expect(world.brokenRules == [rule])
        #expect(try phone.fetchFaceToken().status == 200)
    }

    @Test func `an unknown key, a bad signature, a removed device and a lost access look alike`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).begin()
        var answers = [try phone.fetchFaceToken(key: phone.strangerKey())]
        var forged = try phone.ceremony("face-token").utf8.map { $0 }
        forged[forged.count - 20] ^= 1
        answers.append(
            world.post(
                phone.path("/device-ceremony/face-token"),
                json: ["request": .string(String(decoding: forged, as: UTF8.self))]))
        world.manage("PATCH", "tenants/acme/users/\(id)", ["enabled": false])
        answers.append(try phone.fetchFaceToken())
        world.manage("PATCH", "tenants/acme/users/\(id)", ["enabled": true, "applications": []])
        answers.append(try phone.fetchFaceToken())
        world.manage("PATCH", "tenants/acme/users/\(id)", ["applications": nil])
        world.manage("DELETE", "tenants/acme/users/\(id)/devices/\(phone.kid)")
        answers.append(try phone.fetchFaceToken())
        for answer in answers {
            #expect(String(decoding: answer.body, as: UTF8.self) == Self.uniform)
            #expect(answer.status == 403)
        }
        #expect(
            world.brokenRules == [
                "ceremony.key", "ceremony.signature", "ceremony.access", "ceremony.access", "ceremony.key",
            ])
    }

    /// What makes a request malformed instead.
    static let malformed: [(String, @Sendable (inout JSONObject) -> Void)] = [
        ("ceremony.aud", { $0["aud"] = "http://127.0.0.1:7421/globex" }),
        ("ceremony.aud", { $0["aud"] = ["http://127.0.0.1:7421/acme"] }),
        ("ceremony.act", { $0["act"] = "complete" }),
        ("ceremony.iat", { $0["iat"] = nil }),
        ("ceremony.iat", { $0["iat"] = "1800000000" }),
        ("ceremony.iat", { $0["iat"] = .double(1_800_000_000.5) }),
        ("ceremony.iat", { $0["iat"] = -1 }),
        ("ceremony.iat", { $0["iat"] = 1_800_000_000_000 }),
        ("ceremony.jti", { $0["jti"] = "short" }),
        ("ceremony.jti", { $0["jti"] = .string(String(repeating: "a", count: 5000)) }),
        ("ceremony.cer", { $0["cer"] = nil }),
        ("ceremony.chl", { $0["chl"] = 7 }),
        ("ceremony.ash", { $0["ash"] = "short" }),
        ("ceremony.jkt", { $0["jkt"] = nil }),
    ]

    @Test(arguments: malformed.indices) func `a malformed request is an invalid request`(index: Int) throws {
        let world = try World()
        let phone = try Phone(world).enrol().begin()
        let (rule, edit) = Self.malformed[index]
        #expect(try phone.fetchFaceToken(edit: edit).summary == "400 invalid_request")
        #expect(world.brokenRules == [rule])
    }

    @Test(arguments: [(-61, 400), (-60, 200), (0, 200), (10, 200), (11, 400)])
    func `iat may be a minute before the session and ten seconds after now`(offset: Int64, status: Int) throws {
        let phone = try Phone(try World()).enrol().begin()
        let response = try phone.fetchFaceToken { $0["iat"] = .int(World.start.seconds + offset) }
        #expect(response.status == status)
    }

    @Test(arguments: ["dpop+jwt", "JWT", "Device-Ceremony+JWT", ""])
    func `another typ is malformed`(type: String) throws {
        let world = try World()
        let phone = try Phone(world).enrol().begin()
        var claims = JSONObject()
        _ = try phone.ceremony("face-token") { claims = $0 }
        let header = JSONObject([("typ", .string(type)), ("alg", "ES256"), ("kid", .string(phone.kid))])
        let jws = try phone.signed(header, claims, phone.deviceKey)
        let response = world.post(phone.path("/device-ceremony/face-token"), json: ["request": .string(jws)])
        #expect(response.summary == "400 invalid_request")
    }

    @Test func `mismatches count down, and the third ends the session`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        #expect(try phone.mismatch().json == ["attempts_left": 2])
        #expect(try phone.mismatch().json == ["attempts_left": 1])
        #expect(try phone.mismatch().json == ["attempts_left": 0])
        #expect(try phone.fetchFaceToken().summary == "400 invalid_session")
        #expect(try phone.complete().summary == "400 invalid_session")
        #expect(try phone.abort().summary == "400 invalid_session")
    }

    @Test func `the same report again is answered the same and not counted, even by a dead session`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        for left in [2, 1, 0] as [Int64] {
            let jti = phone.entropy.token(16)
            #expect(try phone.mismatch { $0["jti"] = .string(jti) }.json == ["attempts_left": .int(left)])
            phone.mismatches -= 1
            #expect(try phone.mismatch { $0["jti"] = .string(jti) }.json == ["attempts_left": .int(left)])
        }
        #expect(try world.realm().sessions[storedHash(phone.authSession)]?.mismatchCount == 3)
    }

    @Test func `a number reported before is refused under a new jti, a lost one counts with the next`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        phone.mismatches = 1
        #expect(try phone.mismatch().json == ["attempts_left": 1])
        phone.mismatches = 1
        #expect(try phone.mismatch().summary == "400 invalid_request")
        #expect(world.brokenRules == ["attempt.n"])
        #expect(try phone.mismatch().json == ["attempts_left": 0])
    }

    @Test(arguments: [0, 4, -1, 1 << 40] as [Int64]) func `n is one to three`(number: Int64) throws {
        let phone = try Phone(try World()).enrol().beginAndFetch()
        #expect(try phone.mismatch { $0["n"] = .int(number) }.summary == "400 invalid_request")
    }

    @Test func `an abort is final`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let response = try phone.abort()
        #expect(response.status == 204)
        #expect(response.body.isEmpty)
        #expect(try phone.abort().summary == "400 invalid_session")
        #expect(try phone.fetchFaceToken().summary == "400 invalid_session")
        #expect(try phone.mismatch().summary == "400 invalid_session")
        #expect(try phone.complete().summary == "400 invalid_session")
    }

    @Test func `an abort after completion takes the unredeemed code along`() throws {
        let phone = try Phone(try World()).enrol().completed()
        #expect(try phone.abort().status == 204)
        #expect(try phone.redeem().summary == "400 invalid_grant")
    }

    @Test func `a session ends after five minutes, and is remembered as one for a while`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        world.advance(seconds: 299)
        #expect(try phone.fetchFaceToken().status == 200)
        world.advance(seconds: 1)
        #expect(try phone.fetchFaceToken().summary == "400 invalid_session")
        #expect(try phone.mismatch().summary == "400 invalid_session")
        #expect(try phone.complete().summary == "400 invalid_session")
    }
}
