import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct EnrolmentTests {
    @Test func `a ticket enrols one device, once`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world)
        let body = try phone.enrolment(ticket: ticket).json
        #expect(body == ["sub": .string(id), "email": "ada@acme.example", "kid": .string(phone.kid), "generation": 1])
        #expect(try phone.enrolment(ticket: ticket).summary == "403 access_denied")
        #expect(try phone.enrolment(ticket: "made-up").summary == "403 access_denied")
        #expect(world.brokenRules == ["enroll.ticket", "enroll.ticket"])
    }

    @Test func `a ticket lives a day`() throws {
        let world = try World()
        let (_, ticket) = try world.newUser("ada@acme.example")
        world.advance(seconds: 86_400)
        #expect(try Phone(world).enrolment(ticket: ticket).summary == "403 access_denied")
    }

    @Test func `a mail code makes a user, once and within its time`() throws {
        let world = try World()
        let phone = try Phone(world, email: "New@Acme.example")
        let code = try mailCode(world, phone)
        let byCode: (inout JSONObject) -> Void = {
            $0["ticket"] = nil
            $0["email"] = "new@acme.example"
            $0["code"] = .string(code)
        }
        let response = try phone.enrolment(ticket: code, edit: byCode)
        #expect(response.status == 201)
        #expect(try response.json["email"] == "New@Acme.example")
        #expect(try phone.enrolment(ticket: code, edit: byCode).summary == "403 access_denied")
        try phone.signIn()
        #expect(try phone.call().status == 200)
    }

    @Test func `a mail code expires, and a newer one replaces it`() throws {
        let world = try World()
        let phone = try Phone(world)
        let old = try mailCode(world, phone)
        let new = try mailCode(world, phone)
        func enrol(_ code: String) throws -> HTTPResponse {
            try phone.enrolment(ticket: code) {
                $0["ticket"] = nil
                $0["email"] = .string(phone.email)
                $0["code"] = .string(code)
            }
        }
        #expect(try enrol(old).summary == "403 access_denied")
        world.advance(seconds: 900)
        #expect(try enrol(new).summary == "403 access_denied")
        #expect(try enrol(try mailCode(world, phone)).status == 201)
    }

    @Test func `self-signup off means no code and no use of one`() throws {
        let world = try World()
        #expect(
            world.post("/globex/device-ceremony/signup", json: ["email": "a@b.example"]).summary
                == "403 access_denied")
        let phone = try Phone(world)
        let code = try mailCode(world, phone)
        world.manage("PATCH", "tenants/acme", ["self_signup": false])
        let response = try phone.enrolment(ticket: code) {
            $0["ticket"] = nil
            $0["email"] = .string(phone.email)
            $0["code"] = .string(code)
        }
        #expect(response.summary == "403 access_denied")
    }

    @Test func `a second device has a face token of its own`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket).signIn()
        let more = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        let second = try Phone(world, seed: 99)
        #expect(try second.enrolment(ticket: more).json["generation"] == 1)
        try second.signIn()
        #expect(try world.realm().devices[phone.kid]?.faceToken.generation == 2)
        #expect(try world.realm().devices[second.kid]?.faceToken.generation == 2)
    }

    @Test func `one key is one user's`() throws {
        let world = try World()
        let ada = try Phone(world).enrol()
        let (_, ticket) = try world.newUser("bob@acme.example")
        #expect(try ada.enrolment(ticket: ticket).summary == "403 access_denied")
        #expect(world.brokenRules == ["enroll.key"])
        let bob = try Phone(world, email: "bob@acme.example")
        #expect(try bob.enrolment(ticket: ticket).status == 201, "the ticket was not used up")
    }

    @Test func `a user has at most sixteen devices`() throws {
        let world = try World()
        let (id, _) = try world.newUser("ada@acme.example")
        for seed in 0...16 as ClosedRange<UInt8> {
            let ticket = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
            let response = try Phone(world, seed: seed).enrolment(ticket: ticket)
            #expect(response.status == (seed < 16 ? 201 : 403))
        }
    }

    @Test func `an imported token awaits the device that enrols with a ticket`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        world.manage("POST", "tenants/acme/users/\(id)/import", ["face_token": "aW1wb3J0ZWQ"])
        let phone = try Phone(world).enrol(ticket: ticket).begin()
        #expect(try phone.fetchFaceToken().json["face_token"] == "aW1wb3J0ZWQ")
        #expect(try phone.complete().status == 200)
    }

    /// What an enrolment can get wrong; each is malformed, and the ticket stays good.
    static let malformed: [(String, @Sendable (inout JSONObject) -> Void)] = [
        ("enroll.aud", { $0["aud"] = "http://127.0.0.1:7421/globex" }),
        ("enroll.act", { $0["act"] = "face-token" }),
        ("enroll.tkt", { $0["tkt"] = .string(storedHash("another")) }),
        ("enroll.fth", { $0["fth"] = .string(storedHash("another")) }),
        ("enroll.platform", { $0["platform"] = "windows" }),
        ("enroll.jti", { $0["jti"] = nil }),
        ("enroll.iat", { $0["iat"] = .int(World.start.seconds - 301) }),
        ("enroll.iat", { $0["iat"] = .int(World.start.seconds + 11) }),
    ]

    @Test(arguments: malformed.indices) func `a malformed enrolment is refused and uses up nothing`(index: Int) throws {
        let world = try World()
        let (_, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world)
        let (rule, edit) = Self.malformed[index]
        #expect(try phone.enrolment(ticket: ticket, claims: edit).summary == "400 invalid_request")
        #expect(world.brokenRules == [rule])
        #expect(try phone.enrolment(ticket: ticket).status == 201)
    }

    @Test func `the key in the header must have made the signature, and be public`() throws {
        let world = try World()
        let (_, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world)
        let stranger = JWK.p256(try phone.strangerKey().publicKey).json
        let scalar = Base64URL.encode(try phone.deviceKey.scalar)
        let edits: [(inout JSONObject) -> Void] = [
            { $0["jwk"] = stranger },
            { $0["jwk"] = nil },
            { $0["jwk"] = .object([("kty", "EC"), ("crv", "P-256"), ("x", "AA"), ("y", "AA")]) },
            {
                var jwk = JWK.p256(phone.deviceKey.publicKey).json.object ?? JSONObject()
                jwk["d"] = .string(scalar)
                $0["jwk"] = .object(jwk)
            },
            { $0["typ"] = "device-ceremony+jwt" },
            { $0["alg"] = "none" },
            { $0["alg"] = "HS256" },
            { $0["crit"] = ["exp"] },
        ]
        for edit in edits {
            #expect(try phone.enrolment(ticket: ticket, header: edit).summary == "400 invalid_request")
        }
        #expect(try phone.enrolment(ticket: ticket).status == 201)
    }

    @Test func `a ticket and a code together are malformed`() throws {
        let world = try World()
        let (_, ticket) = try world.newUser("ada@acme.example")
        let response = try Phone(world).enrolment(ticket: ticket) { $0["code"] = "x" }
        #expect(response.summary == "400 invalid_request")
    }

    private func mailCode(_ world: World, _ phone: Phone) throws -> String {
        let response = world.post("/acme/device-ceremony/signup", json: ["email": .string(phone.email)])
        #expect(response.status == 202)
        let address = PercentCoding.encode(phone.email.lowercased())
        let mails = try world.manage("GET", "tenants/acme/inbox?address=\(address)").json["mails"]?.array
        return try #require(mails?.last?["code"]?.string)
    }
}
