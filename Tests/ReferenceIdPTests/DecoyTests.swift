import Crypto
import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

/// Nobody may learn from the IdP who has an account.
@Suite struct DecoyTests {
    /// Somebody without a key, who tries every call against a hint, and what they hear.
    private func transcript(_ world: World, hint: String?) throws -> [String] {
        let stranger = try Phone(world, email: "mallory@else.example")
        var heard: [HTTPResponse] = []
        heard.append(try stranger.start(hint: hint))
        heard.append(try stranger.fetchFaceToken())
        heard.append(try stranger.mismatch())
        heard.append(try stranger.fetchFaceToken { $0["chl"] = "another" })
        heard.append(try stranger.fetchFaceToken { $0["iat"] = 17 })
        heard.append(try stranger.complete())
        heard.append(try stranger.abort())
        world.advance(seconds: 301)
        heard.append(try stranger.fetchFaceToken())
        heard.append(try stranger.mismatch())
        heard.append(try stranger.complete())
        return heard.map(masked)
    }

    /// An answer with its random values blotted out: everything base64url of 22 or more, and the nonce.
    private func masked(_ response: HTTPResponse) -> String {
        let fields = response.fields.map { "\($0.name): \($0.name == "DPoP-Nonce" ? "*" : $0.value)" }
        let body = String(decoding: response.body, as: UTF8.self)
            .replacing(#/[A-Za-z0-9_-]{22,}/#) { String(repeating: "*", count: $0.0.count) }
            .replacing("insufficient_authorization", with: "-")
        return "\(response.status) \(fields) \(body)"
    }

    @Test func `a hint that can sign in and five that cannot are told apart by no byte`() throws {
        let hints: [@Sendable (World) throws -> String] = [
            { _ in "ada@acme.example" },
            { _ in "nobody@acme.example" },
            { world in
                let (id, _) = try world.newUser("off@acme.example")
                world.manage("PATCH", "tenants/acme/users/\(id)", ["enabled": false])
                return "off@acme.example"
            },
            { world in
                let (id, _) = try world.newUser("elsewhere@acme.example")
                world.manage("PATCH", "tenants/acme/users/\(id)", ["applications": []])
                return "elsewhere@acme.example"
            },
            { world in
                _ = try world.newUser("fresh@acme.example")
                return "fresh@acme.example"
            },
            { _ in "not an address at all \u{1F600} %00" },
        ]
        var transcripts: Set<[String]> = []
        for hint in hints {
            let world = try World()
            try Phone(world).enrol()
            transcripts.insert(try transcript(world, hint: try hint(world)))
        }
        #expect(transcripts.count == 1)
    }

    @Test func `withdrawing the feature tells real and decoy sessions apart no more`() throws {
        var heard: Set<String> = []
        for hint in ["ada@acme.example", "nobody@acme.example"] {
            let world = try World()
            try Phone(world).enrol()
            let stranger = try Phone(world, email: "mallory@else.example")
            _ = try stranger.start(hint: hint)
            world.tamper { $0.withdraw(.optIn) }
            heard.insert(masked(try stranger.fetchFaceToken()) + masked(try stranger.complete()))
        }
        #expect(heard.count == 1)
    }

    @Test func `a decoy never completes, even once its address is enrolled`() throws {
        let world = try World()
        let phone = try Phone(world)
        try phone.begin(hint: "ada@acme.example")
        try phone.enrol()
        #expect(try phone.fetchFaceToken().summary == "403 access_denied")
        #expect(try phone.complete().summary == "400 invalid_ceremony_proof")
        try phone.beginAndFetch(hint: "ada@acme.example")
        #expect(try phone.complete().status == 200)
    }

    @Test func `a hint decides: another user's device cannot serve the session`() throws {
        let world = try World()
        try Phone(world).enrol()
        let bob = try Phone(world, email: "bob@acme.example").enrol()
        try bob.begin(hint: "ada@acme.example")
        #expect(try bob.fetchFaceToken().summary == "403 access_denied")
        #expect(world.brokenRules == ["ceremony.user"])
    }

    @Test func `self-signup answers the same for the known and the unknown`() throws {
        let world = try World()
        try Phone(world).enrol()
        let known = world.post("/acme/device-ceremony/signup", json: ["email": "ada@acme.example"])
        let unknown = world.post("/acme/device-ceremony/signup", json: ["email": "new@acme.example"])
        #expect(known == unknown)
        #expect(known.status == 202)
    }
}
