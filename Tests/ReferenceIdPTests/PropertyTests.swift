import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

/// Random lives of a few phones, good calls and corrupted ones mixed, with the promises of the
/// description checked after every step.
@Suite struct PropertyTests {
    @Test(arguments: 0..<12 as Range<UInt8>) func `no sequence of calls breaks a promise`(seed: UInt8) throws {
        var life = try RandomLife(seed: seed)
        for _ in 0..<100 {
            try life.step()
            try life.check()
        }
    }

    @Test func `the lives together reach every kind of answer`() throws {
        var answers: Set<String> = []
        for seed in 100..<108 as Range<UInt8> {
            var life = try RandomLife(seed: seed)
            for _ in 0..<120 { try life.step() }
            answers.formUnion(life.answers.keys)
        }
        let wanted: Set<String> = [
            "200 -", "204 -", "403 insufficient_authorization", "403 access_denied", "400 invalid_session",
            "400 invalid_ceremony_proof", "400 face_token_stale", "400 invalid_grant", "400 invalid_dpop_proof",
            "400 invalid_request", "401 invalid_token",
        ]
        #expect(wanted.subtracting(answers).isEmpty)
    }
}

private struct RandomLife {
    /// A session as the phone remembers it.
    struct Remembered {
        let authSession: String
        let ceremonyID: String
        let ceremonyChallenge: String
        let phone: Int
        var proof: String?
        var generation: Int64 = 1
        var isDecoy: Bool
        var codes: [String] = []
        var grants: Set<String> = []
        var jtis: [String] = []
        var mismatches: Int64 = 0
        var key: String { storedHash(authSession) }
    }

    let world: World
    var phones: [Phone]
    var sessions: [Remembered] = []
    var spent: [(phone: Int, token: String)] = []
    var tokens: [(phone: Int, token: String)] = []
    var entropy: EntropyStream
    var generator: SeededGenerator
    var answers: [String: Int] = [:]

    init(seed: UInt8) throws {
        entropy = EntropyStream(seed: [seed, 77])
        generator = SeededGenerator(seed: seed)
        world = try World(seed: seed)
        let (id, ticket) = try world.newUser("ada@acme.example")
        let more = try world.manage("POST", "tenants/acme/users/\(id)/tickets").text("ticket")
        phones = [
            try Phone(world).enrol(ticket: ticket), try Phone(world, email: "bob@acme.example").enrol(),
            try Phone(world, seed: 8).enrol(ticket: more),
        ]
    }

    private mutating func roll(_ sides: Int) -> Int { Int(entropy.bytes(1)[0]) % sides }

    private mutating func note(_ response: HTTPResponse) { answers[response.summary, default: 0] += 1 }

    /// What may go wrong with a proof, most often nothing.
    private mutating func corruption(_ phone: Phone) throws -> Phone.ProofEdit {
        switch roll(12) {
        case 0: .init(key: try phone.strangerKey())
        case 1: .init(values: { _ in [] })
        case 2: .init(claims: { $0["nonce"] = nil })
        case 3: .init(values: { [$0, $0] })
        default: .none
        }
    }

    mutating func step() throws {
        switch roll(16) {
        case 0: try start()
        case 1, 2: try withSession { life, index, phone in try life.fetch(index, phone) }
        case 3: try withSession { life, index, phone in try life.mismatch(index, phone) }
        case 4...6: try withSession { life, index, phone in try life.complete(index, phone) }
        case 7...11: try withSession { life, index, phone in try life.redeem(index, phone) }
        case 12, 13: try refresh()
        case 14:
            if roll(4) == 0 { try withSession { life, _, phone in life.note(try phone.abort()) } }
            if let (phone, token) = tokens.randomElement(using: &generator) {
                note(try phones[phone].call(token: token))
            }
        default: world.advance(seconds: Int64(roll(30)))
        }
    }

    private mutating func start() throws {
        let number = roll(phones.count)
        let phone = phones[number]
        let hints = [nil, nil, phone.email, phone.email, "nobody@acme.example"]
        let hint = hints[roll(5)]
        let response = try phone.start(hint: hint, proof: try corruption(phone))
        note(response)
        guard response.status == 403 else { return }
        sessions.append(
            Remembered(
                authSession: phone.authSession, ceremonyID: phone.ceremonyID,
                ceremonyChallenge: phone.ceremonyChallenge, phone: number, isDecoy: hint == "nobody@acme.example"))
    }

    /// Picks a session, most often its own phone, and puts the phone in it.
    private mutating func withSession(_ body: (inout RandomLife, Int, Phone) throws -> Void) throws {
        guard !sessions.isEmpty else { return try start() }
        let index = roll(3) == 0 ? roll(sessions.count) : sessions.count - 1
        let phone = phones[roll(8) == 0 ? roll(phones.count) : sessions[index].phone]
        phone.authSession = sessions[index].authSession
        phone.ceremonyID = sessions[index].ceremonyID
        phone.ceremonyChallenge = sessions[index].ceremonyChallenge
        phone.generation = sessions[index].generation
        phone.mismatches = sessions[index].mismatches
        try body(&self, index, phone)
    }

    private mutating func fetch(_ index: Int, _ phone: Phone) throws {
        let isBroken = roll(8) == 0
        let response = try phone.fetchFaceToken { if isBroken { $0["chl"] = "another" } }
        note(response)
        if response.status == 200 {
            #expect(!sessions[index].isDecoy)
            sessions[index].generation = phone.generation
        }
    }

    private mutating func mismatch(_ index: Int, _ phone: Phone) throws {
        let repeats = roll(3) == 0 ? sessions[index].jtis.last : nil
        let jti = repeats ?? entropy.token(16)
        if repeats != nil { phone.mismatches -= 1 }
        let isBroken = roll(10) == 0
        let response = try phone.mismatch {
            $0["jti"] = .string(jti)
            if isBroken { $0["n"] = 9 }
        }
        note(response)
        if response.status == 200 {
            sessions[index].mismatches = phone.mismatches
            sessions[index].jtis.append(jti)
        }
    }

    private mutating func complete(_ index: Int, _ phone: Phone) throws {
        let proof: String
        if let earlier = sessions[index].proof, roll(4) != 0 {
            proof = earlier
        } else {
            let isBroken = roll(8) == 0
            proof = try phone.ceremonyProof { if isBroken { $0["cer"] = "another" } }
        }
        let response = try phone.complete(proof, proof: try corruption(phone))
        note(response)
        guard response.status == 200 else { return }
        #expect(!sessions[index].isDecoy)
        #expect(sessions[index].proof == nil || sessions[index].proof == proof)
        sessions[index].proof = proof
        if !sessions[index].codes.contains(phone.code) { sessions[index].codes.append(phone.code) }
    }

    private mutating func redeem(_ index: Int, _ phone: Phone) throws {
        guard !sessions[index].codes.isEmpty else { return }
        let codes = sessions[index].codes
        let code = roll(4) == 0 ? codes[roll(codes.count)] : codes[codes.count - 1]
        let isBroken = roll(8) == 0
        let response = try phone.redeem(code: code, proof: try corruption(phone)) {
            if isBroken { $0.drop("code_verifier") }
        }
        note(response)
        guard response.status == 200 else { return }
        sessions[index].grants.insert(try Self.grant(of: phone.accessToken))
        tokens.append((sessions[index].phone, phone.accessToken))
        note(try phone.call())
    }

    private mutating func refresh() throws {
        let number = roll(phones.count)
        let phone = phones[number]
        guard !phone.refreshToken.isEmpty else { return }
        let old = spent.last { $0.phone == number }?.token
        let token = roll(5) == 0 ? old ?? phone.refreshToken : phone.refreshToken
        let response = try phone.refresh(token, proof: try corruption(phone))
        note(response)
        if response.status == 200 {
            #expect(token != old, "a spent token is never good again")
            spent.append((number, token))
        }
        note(try phone.call())
    }

    private static func grant(of token: String) throws -> String {
        let jti = try #require(try JSON(parsing: try JWS(compact: token).payload)["jti"]?.string)
        return String(jti.prefix { $0 != "." })
    }

    /// The promises.
    func check() throws {
        let realm = try world.realm()
        for remembered in sessions {
            let live = remembered.grants.filter { realm.liveGrant($0) != nil }
            #expect(live.count <= 1, "one sign-in never leaves two live grants")
            #expect(remembered.codes.count <= 4, "a code and at most three replacements")
            let fresh = realm.codes.entries.values.filter {
                $0.sessionKey == remembered.key && $0.progress == .fresh && world.now < $0.expiresAt
            }
            #expect(fresh.count <= 1, "never two codes to redeem")
            guard let session = realm.sessions[remembered.key] else { continue }
            #expect(session.mismatchCount <= 3, "the budget is three")
            if session.mismatchCount == 3 { #expect(session.end(at: world.now) != nil) }
            if case .decoy = session.subject {
                #expect(remembered.isDecoy)
                #expect(session.deviceKey == nil && session.progress == .open || session.end(at: world.now) != nil)
            }
            if case .completed = session.progress { #expect(fresh.isEmpty || live.isEmpty) }
        }
        let rotations = Set(phones.map(\.kid)).reduce(0) { $0 + (realm.devices[$1]?.faceToken.generation ?? 1) - 1 }
        #expect(rotations == Int64(sessions.filter { $0.proof != nil }.count), "one rotation a completed session")
    }
}
