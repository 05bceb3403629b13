import Crypto
import Encoding
import HTTP
import JOSE
import Synchronization
import Testing

@testable import ReferenceIdP

/// A request costs the same whatever the IdP holds.
@Suite(.serialized) struct CostTests {
    /// The least time of one transition in nanoseconds, of many: what it costs when nothing else runs.
    private func leastTime(_ world: World, rounds: Int, _ intake: () throws -> Intake) throws -> Int64 {
        let intakes = try (0..<rounds).map { _ in try intake() }
        var entropy = EntropyStream(seed: [3])
        var least = Int64.max
        for intake in intakes {
            let now = world.now
            let took = world.server.state.withLock { state in
                let clock = ContinuousClock()
                return clock.measure { _ = state.idp.handle(intake, now: now, entropy: &entropy) }
            }
            least = min(least, took.components.attoseconds / 1_000_000_000)
        }
        return least
    }

    private func start(_ phone: Phone) throws -> Intake {
        let form: [(String, String)] = [
            ("response_type", "code"), ("client_id", "app_demo"), ("scope", "openid"), ("nonce", "n"),
            ("login_hint", phone.email), ("code_challenge", storedHash(phone.verifier)),
            ("code_challenge_method", "S256"),
        ]
        let url = phone.world.origin + "/acme/oauth2/challenge"
        let proof = try phone.proofs("POST", url, nonce: nil)[0]
        let request = HTTPRequest(
            method: "POST", target: "/acme/oauth2/challenge",
            fields: ["Content-Type": "application/x-www-form-urlencoded", "DPoP": proof],
            body: FormFields(form).encoded())
        return SenseCryptIdP.intake(
            request, caller: IdPCaller(peerIsLoopback: true, hostIsLoopback: true),
            settings: phone.world.server.settings, deviceKey: { _, _ in nil })
    }

    @Test func `a start costs the same among ten users and among a hundred thousand with as many sessions`() throws {
        let few = try World()
        let many = try World()
        let phones = [try Phone(few).enrol(), try Phone(many).enrol()]
        many.tamper { $0.crowd(100_000) }
        #expect(try many.realm().sessions.count >= 100_000)
        let costs = try phones.map { phone in try leastTime(phone.world, rounds: 150) { try start(phone) } }
        #expect(costs[1] < costs[0] * 4 + 100_000, "\(costs) ns")
    }

    @Test func `a hundred thousand dead sessions leave a few at a time`() throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        world.tamper { $0.crowd(100_000) }
        world.advance(seconds: 100_000)
        let before = try world.realm().sessions.count
        for _ in 0..<50 { try phone.begin() }
        let after = try world.realm().sessions.count
        #expect(after <= before - 50 * 3 + 1)
        #expect(after >= before - 50 * 4)
    }

    @Test func `sessions are capped`() throws {
        let world = try World(profile: try .builtIn(limits: ["sessions": 20]))
        let phone = try Phone(world).enrol()
        for _ in 0..<60 { try phone.begin() }
        #expect(try world.realm().sessions.count == 20)
        #expect(try phone.signIn().call().status == 200, "the newest session is not the one that goes")
    }
}

extension Realm {
    /// Fills the realm with users, their devices and their sessions.
    fileprivate mutating func crowd(_ count: Int) {
        let face = FaceTokenRecord(sealed: [1], generation: 1, passwordProtected: false)
        let now = World.start
        for index in 0..<count {
            let id = "user-\(index)"
            let kid = storedHash(id)
            users[id] = User(id: id, email: "\(id)@crowd.example", createdAt: now, devices: [kid])
            usersByAddress["\(id)@crowd.example"] = id
            devices[kid] = EnrolledDevice(
                kid: kid, userID: id, publicKey: [], platform: "ios", enrolledAt: now, faceToken: face)
            let session = Session(
                key: kid, clientID: "app_demo", jkt: kid, scope: ["openid"], resource: nil, nonce: "n",
                codeChallenge: kid, ceremonyID: id, ceremonyChallenge: kid, openedAt: now,
                expiresAt: now.adding(seconds: 300), forgottenAt: now.adding(seconds: 900), subject: .user(id))
            sessions.insert(session, for: kid, now: now)
        }
    }
}
