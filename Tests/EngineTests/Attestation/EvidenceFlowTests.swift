import Crypto
import Device
import Encoding
import Engine
import SignIn
import Store
import Testing

/// What a phone sends as evidence about its app, and what it remembers of it.
@Suite struct EvidenceFlowTests {
    private func formats(_ world: AttestingWorld) -> [String] {
        world.front.arrivals.compactMap { $0.evidence?["format"]?.string }
    }

    @Test func `an iPhone attests its key once and asserts with it from then on, by a counter that rises`() async throws
    {
        let world = try AttestingWorld("counter")
        let phone = try await world.phone("ada")
        var counters: [Int64] = []
        for _ in 0..<3 {
            let flow = try await world.signIn(phone)
            #expect(flow.result == "signed in")
            counters += flow.stepDocuments(after: 0).compactMap {
                $0["kind"]?.string == "evidence" ? $0["counter"]?.int : nil
            }
        }
        #expect(formats(world) == ["apple-appattest"] + Array(repeating: "apple-appattest-assertion", count: 3))
        #expect(counters == [1, 2, 3])
        let keys = Set(world.front.arrivals.compactMap { $0.evidence?["key_id"]?.string })
        #expect(keys.count == 1)
        // Another process goes on where this one ended.
        let later = try world.restarted()
        let flow = try await later.signIn(phone)
        #expect(flow.stepDocuments(after: 0).contains { $0["counter"]?.int == 4 })
    }

    @Test func `an Android phone attests its device key at an enrolment and sends what it is set to at a start`()
        async throws
    {
        for format in [EvidenceFormat.playIntegrity, .playIntegrityClassic, .androidKey] {
            let world = try AttestingWorld("android")
            var settings = AttestationSettings()
            settings.androidStart = format
            let phone = try await world.phone("ada", .android, settings)
            try await world.signIn(phone)
            #expect(formats(world) == ["android-key", format.rawValue])
        }
    }

    @Test func `evidence names the newest challenge, and the endpoint is asked only where there is none`() async throws
    {
        let world = try AttestingWorld("challenge")
        let phone = try await world.phone("ada")
        try await world.signIn(phone)
        #expect(world.front.arrivals(at: "/attestation-challenge").count == 1)
        world.clock.advance(seconds: 241)
        try await world.signIn(phone)
        #expect(world.front.arrivals(at: "/attestation-challenge").count == 2)
        let challenges = world.front.arrivals.compactMap { $0.evidence?["challenge"]?.string }
        // The last start is repeated for a DPoP nonce, with evidence of its own.
        #expect(challenges == ["c-1", "c-1", "c-2", "c-2"])
        #expect(Set(world.front.arrivals.compactMap(\.evidence)).count == 4)
    }

    @Test func `sending decides whether there is evidence at all`() async throws {
        for (sending, namesEndpoint, count) in [
            (AttestationSettings.Sending.auto, true, 2), (.auto, false, 0), (.always, false, 2), (.never, true, 0),
        ] {
            let world = try AttestingWorld("sending")
            if !namesEndpoint { world.front.hideEndpoint() }
            var settings = AttestationSettings()
            settings.sending = sending
            let phone = try await world.phone("ada", .ios, settings)
            #expect(try await world.signIn(phone).result == "signed in")
            #expect(formats(world).count == count, "\(sending), \(namesEndpoint)")
        }
    }

    @Test(arguments: ["attestation_required", "use_attestation_challenge"])
    func `a start and an enrolment refused with a challenge are sent once more with evidence for it`(error: String)
        async throws
    {
        let world = try AttestingWorld("again")
        world.front.hideEndpoint()
        world.front.refuse("/enroll", error, challenge: "of-enrolment")
        let phone = try await world.phone("ada")
        world.front.refuse("/challenge", error, challenge: "of-start")
        #expect(try await world.signIn(phone).result == "signed in")
        #expect(
            world.front.arrivals.compactMap { $0.evidence?["challenge"]?.string } == ["of-enrolment", "of-start"])
        for _ in 0..<2 { world.front.refuse("/challenge", error, challenge: "of-start") }
        #expect(try await world.signIn(phone).reason == "attestationFailed")
    }

    @Test func `an enrolment that is refused twice says so, and leaves no key behind`() async throws {
        let world = try AttestingWorld("refused")
        for (name, error, times) in [("ada", "attestation_required", 2), ("bob", "attestation_failed", 1)] {
            for _ in 0..<times { world.front.refuse("/enroll", error, challenge: "another") }
            let thrown = await #expect(throws: EngineError.self) { _ = try await world.phone(name) }
            #expect(thrown?.code == "attestation_refused")
            #expect(thrown?.description.contains(error) == true)
            let id = try #require(DeviceID(rawValue: name))
            #expect(try await world.engine.device(id).enrolments.isEmpty)
        }
    }

    @Test func `a start that is lost is sent again with evidence of its own, and the counter goes on`() async throws {
        let world = try AttestingWorld("lost")
        let phone = try await world.phone("ada")
        let flow = try await world.signIn(phone, faults: ["lose-reply:start"])
        #expect(flow.result == "signed in")
        let sent = world.front.arrivals(at: "/challenge").compactMap(\.evidence)
        #expect(sent.count == 2 && sent[0] != sent[1])
        let counters = flow.stepDocuments(after: 0).compactMap { $0["counter"]?.int }
        #expect(counters == [1, 2])
    }

    @Test func `a key the server does not know (any more) is attested anew at the next start`() async throws {
        let world = try AttestingWorld("forgotten")
        let phone = try await world.phone("ada")
        try await world.signIn(phone)
        world.front.refuse("/challenge", "attestation_failed", challenge: "c")
        #expect(try await world.signIn(phone).reason == "attestationFailed")
        world.front.forget()
        #expect(try await world.signIn(phone).result == "signed in")
        #expect(formats(world) == ["apple-appattest"])
    }

    @Test func `an attestation that was refused is made again, not followed by assertions`() async throws {
        let world = try AttestingWorld("refused attestation")
        world.front.hideEndpoint()
        let phone = try await world.phone("ada")
        world.front.refuse("/challenge", "attestation_required", challenge: "one")
        world.front.refuse("/challenge", "attestation_failed")
        #expect(try await world.signIn(phone).reason == "attestationFailed")
        world.front.refuse("/challenge", "attestation_required", challenge: "two")
        #expect(try await world.signIn(phone).result == "signed in")
        #expect(formats(world) == ["apple-appattest", "apple-appattest"])
    }

    @Test func `a defect picks the format that can have it, and what none can have is refused before anything is sent`()
        async throws
    {
        let world = try AttestingWorld("defects")
        let (iphone, pixel) = (try await world.phone("ada"), try await world.phone("bob", .android))
        for platform in Platform.allCases {
            let phone = platform == .ios ? iphone : pixel
            for defect in AttestationDefect.allCases where defect != .none {
                let formats = EvidenceFormat.allCases.filter {
                    ($0 == .appAttest || $0 == .appAttestAssertion) == (platform == .ios)
                }
                world.front.forget()
                guard formats.contains(where: { defect.applies(to: $0) }) else {
                    let thrown = await #expect(throws: EngineError.self) {
                        try await world.signIn(phone, defect: defect)
                    }
                    #expect(thrown?.code == "invalid_field" && world.front.arrivals.isEmpty)
                    continue
                }
                let flow = try await world.signIn(phone, defect: defect)
                let step = flow.stepDocuments(after: 0).first { $0["kind"]?.string == "evidence" }
                #expect(step?["event"]?.string == "made" && step?["defect"]?.string == defect.rawValue, "\(defect)")
                let format = try #require(self.formats(world).first.flatMap(EvidenceFormat.init(rawValue:)))
                #expect(defect.applies(to: format), "\(defect) in \(format)")
            }
        }
    }

    @Test func `a defect of the device is left out of evidence that cannot have it`() async throws {
        let world = try AttestingWorld("left out")
        var settings = AttestationSettings()
        settings.defect = .noDeviceIntegrity
        let phone = try await world.phone("ada", .android, settings)
        let flow = try await world.signIn(phone)
        #expect(formats(world) == ["android-key", "play-integrity"])
        #expect(flow.stepDocuments(after: 0).contains { $0["defect"]?.string == "noDeviceIntegrity" })
        let thrown = await #expect(throws: EngineError.self) {
            _ = try await world.phone("bob", .android, defect: .noDeviceIntegrity)
        }
        #expect(thrown?.code == "invalid_field")
    }

    @Test func `the defects that need memory are fed from the store`() async throws {
        let world = try AttestingWorld("memory")
        let (ada, bob) = (try await world.phone("ada"), try await world.phone("bob"))
        for phone in [ada, bob] { try await world.signIn(phone) }
        let sent = world.front.arrivals.compactMap(\.evidence)
        let bobsKey = try #require(sent.last?["key_id"]?.string)
        let adasLast = try #require(sent.dropLast().last)
        let later = try world.restarted()
        world.front.forget()
        try await later.signIn(ada, defect: .replayedEvidence)
        #expect(world.front.arrivals.compactMap(\.evidence) == [adasLast])
        world.front.forget()
        try await later.signIn(ada, defect: .clonedDevice)
        #expect(world.front.arrivals.compactMap(\.evidence).first?["key_id"]?.string == bobsKey)
        let flow = try await later.signIn(ada, defect: .counterRollback)
        let earlier = try await later.signIn(ada)
        #expect(flow.stepDocuments(after: 0).contains { $0["counter"]?.int == 2 })
        #expect(earlier.stepDocuments(after: 0).contains { $0["counter"]?.int == 3 })
    }

    @Test func `settings, key and counter are the device's: kept in the store, gone with the device`() async throws {
        let world = try AttestingWorld("kept")
        var settings = AttestationSettings()
        settings.bootLocked = false
        settings.app.version = 7
        let phone = try await world.phone("ada", .ios, settings)
        try await world.signIn(phone)
        let later = try world.restarted()
        #expect(try await later.engine.device(phone).device.attestation == settings)
        #expect(try world.store.read { try $0.keys(of: phone) }.contains { $0.purpose == .appAttest })
        try await later.engine.deleteDevice(phone)
        #expect(try world.store.read { try $0.keys(of: phone) }.isEmpty)
        #expect(try world.store.read { try $0.attestedInstall(of: phone) } == nil)
    }

    @Test func `a defect no evidence of the platform can have is refused as a setting`() async throws {
        let world = try AttestingWorld("refused setting")
        var settings = AttestationSettings()
        settings.defect = .counterRollback
        let id = try #require(DeviceID(rawValue: "ada"))
        let thrown = #expect(throws: EngineError.self) {
            _ = try world.engine.createDevice(id, platform: .android, attestation: settings)
        }
        #expect(thrown?.description.contains("counterRollback") == true)
    }

    @Test func `the journal tells of evidence and holds none of it`() async throws {
        let world = try AttestingWorld("journal")
        let phone = try await world.phone("ada")
        try await world.signIn(phone)
        let journal = world.engine.journal(after: 0).entries.map(\.json.text).joined()
        #expect(journal.contains("apple-appattest-assertion"))
        for evidence in world.front.arrivals.compactMap(\.evidence) {
            for member in ["key_id", "attestation", "assertion"] {
                if let text = evidence[member]?.string { #expect(!journal.contains(text.prefix(24))) }
            }
        }
    }
}
