import Crypto
import Device
import Encoding
import Engine
import HTTP
import SignIn
import Testing

/// One seed and one clock: a run that repeats byte by byte.
@Suite struct RepeatTests {
    /// A day in the life of two phones, one after the other.
    private func play(_ seed: String) async throws -> (journal: [String], findings: String) {
        let world = try SeededWorld(seed)
        try world.manage("PATCH", "/tenants/acme", ["pki_enabled": true])
        try world.manage("PATCH", "/tenants/acme/policy", ["nonce_on_start": true, "nonce_at_resource": true])
        for name in ["ada", "bob"] {
            let phone = try await world.phone(name)
            let sign = SignInPKIRequest(
                kind: .sign, context: Array("payments-v1".utf8), operand: SHA256.hash(ascii: "pay"))
            try await world.signIn(phone)
            let end = try await world.signIn(phone, scans: [.mismatch, .match], pki: sign)
            #expect(end.result == "signed in", "\(end.state)")
            world.clock.advance(seconds: 3)
            #expect(try await world.fetch(phone).response.status == 200)
            _ = try await world.engine.refreshSession(of: phone)
            world.clock.advance(seconds: 7200)
            // The access token has ended: the call renews it first.
            #expect(try await world.fetch(phone).refreshes == [.renewed])
            _ = try await world.engine.updateDevice(phone) { $0.clock = .offset(seconds: 7200) }
            // A phone two hours ahead is refused, which leaves findings.
            _ = try await world.signIn(phone)
        }
        return (world.journal.map(\.text), try world.findings())
    }

    @Test func `two runs with one seed give the same journal and the same findings, byte by byte`() async throws {
        let (first, second) = (try await play("tea"), try await play("tea"))
        #expect(first.journal.count > 40)
        #expect(first.journal == second.journal)
        #expect(first.findings == second.findings)
        #expect(first.findings.contains("\"rule\""))
    }

    @Test func `another seed gives another journal of the same shape`() async throws {
        let (tea, milk) = (try await play("tea"), try await play("milk"))
        #expect(tea.journal != milk.journal)
        #expect(tea.journal.count == milk.journal.count)
    }

    @Test(arguments: 1...4)
    func `phones at work at the same time each have the journal they have alone`(round: Int) async throws {
        let names = ["ada", "bob", "eve"]
        func each(_ world: SeededWorld, _ phone: DeviceID) async throws {
            try await world.signIn(phone, scans: [.mismatch, .match])
            _ = try await world.fetch(phone)
            _ = try await world.engine.refreshSession(of: phone)
            await world.engine.settle(within: 5000)
        }
        let together = try SeededWorld("tea")
        var phones: [DeviceID] = []
        for name in names { phones.append(try await together.phone(name)) }
        try await withThrowingTaskGroup { group in
            for phone in phones { group.addTask { try await each(together, phone) } }
            try await group.waitForAll()
        }
        let alone = try SeededWorld("tea")
        for (number, name) in names.enumerated() {
            #expect(try await alone.phone(name) == phones[number])
        }
        for phone in phones.reversed() {
            try await each(alone, phone)
            #expect(alone.journal(of: phone) == together.journal(of: phone))
            #expect(alone.journal(of: phone).count > 10)
        }
    }

    @Test func `without a seed no two runs are the same`() async throws {
        var journals: [[String]] = []
        for _ in 1...2 {
            let house = try await House.open()
            let ada = try await house.phone()
            _ = try await house.signIn(ada, scans: [.match])
            journals.append(house.engine.journal(after: 0).entries.map(\.json.text))
        }
        #expect(journals[0] != journals[1])
    }

    @Test func `on a clock that stands no step takes time`() async throws {
        let world = try SeededWorld("tea")
        try await world.signIn(try await world.phone("ada"))
        let times = world.journal.compactMap { $0["step"]?["milliseconds"]?.text }
        #expect(!times.isEmpty)
        #expect(Set(times).count == 1 && times[0].allSatisfy { "0.".contains($0) }, "\(times)")
    }

    @Test func `a token issued on the world's clock is good for its hour on that clock`() async throws {
        let world = try SeededWorld("tea")
        let ada = try await world.phone("ada")
        try await world.signIn(ada)
        let session = try #require(try await world.engine.session(of: ada)).session
        #expect(session.createdAt == SeededWorld.beginning)
        let lifetime = session.expiresAt.seconds(since: SeededWorld.beginning)
        #expect(lifetime > 0 && lifetime <= 3600)
        world.clock.advance(seconds: lifetime - 120)
        let before = try await world.fetch(ada)
        #expect(before.response.status == 200)
        #expect(before.refreshes.isEmpty)
        world.clock.advance(seconds: 240)
        #expect(try await world.fetch(ada).refreshes == [.renewed])
    }
}

extension FlowView {
    /// How it ended, in a word or two.
    var result: String {
        switch state {
        case .signedIn: "signed in"
        case .failed(let failure): failure.reason
        default: state.name
        }
    }
}
