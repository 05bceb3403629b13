import Control
import Device
import Encoding
import Engine
import HTTP
import SignIn
import Store
import Testing

/// What happens to a phone, and what its next sign-in, refresh and call of an API are then.
@Suite struct LifeTests {
    /// A world with one phone that is signed in.
    private func signedIn(_ platform: Platform = .ios) async throws -> (SeededWorld, DeviceID) {
        let world = try SeededWorld("life")
        let ada = try #require(DeviceID(rawValue: "ada"))
        _ = try world.engine.createDevice(ada, platform: platform)
        try await enrol(ada, in: world, as: "ada@acme.test", creating: true)
        #expect(try await world.signIn(ada).reason == nil)
        return (world, ada)
    }

    private func enrol(
        _ phone: DeviceID, in world: SeededWorld, as email: String, creating isNew: Bool = false
    ) async throws {
        let ticket: JSON?
        if isNew {
            ticket = try world.manage("POST", "/tenants/acme/users", ["email": .string(email), "ticket": true])[
                "ticket"]
        } else {
            let users = try world.manage("GET", "/tenants/acme/users")["users"]?.array ?? []
            let id = users.first { $0["email"]?.string == email }?["id"]?.string
            ticket = try world.manage("POST", "/tenants/acme/users/\(try #require(id))/tickets")["ticket"]
        }
        _ = try await world.engine.enrol(.ticket(try #require(ticket?.string)), issuer: world.issuer, device: phone)
    }

    @Test func `a new face on an iPhone ends its device keys, and enrolling again makes it work`() async throws {
        let (world, ada) = try await signedIn()
        let report = try await world.engine.live(.enrolmentChange, on: ada)
        #expect(report.keysWithdrawn == 1)
        #expect(try await world.signIn(ada).reason == "keyUnavailable")
        _ = try await world.engine.refreshSession(of: ada)
        #expect(try await world.fetch(ada).response.status == 200, "the install key is bound to no face")
        let later = Engine(store: world.store, settings: world.settings)
        #expect(try await later.device(ada).enrolments.count == 1)
        try await enrol(ada, in: world, as: "ada@acme.test")
        #expect(try await world.signIn(ada).reason == nil)
    }

    @Test func `a new face on an Android phone ends the install key as well`() async throws {
        let (world, ada) = try await signedIn(.android)
        let before = try await world.engine.device(ada).installThumbprint
        #expect(try await world.engine.live(.enrolmentChange, on: ada).keysWithdrawn == 2)
        #expect(try await world.signIn(ada).reason == "keyUnavailable")
        #expect(try await world.fetch(ada).response.status == 401, "nobody can prove the token any more")
        #expect(try await world.engine.session(of: ada) == nil)
        try await enrol(ada, in: world, as: "ada@acme.test")
        #expect(try await world.engine.device(ada).installThumbprint != before)
        #expect(try await world.signIn(ada).reason == nil)
        #expect(try await world.fetch(ada).response.status == 200)
        let later = Engine(store: world.store, settings: world.settings)
        #expect(try await later.device(ada).installThumbprint == world.engine.device(ada).installThumbprint)
    }

    @Test func `a refresh with a withdrawn install key asks for a sign-in`() async throws {
        let (world, ada) = try await signedIn(.android)
        try await world.engine.live(.enrolmentChange, on: ada)
        let error = await #expect(throws: EngineError.self) { try await world.engine.refreshSession(of: ada) }
        #expect(error?.code == "sign_in_required")
    }

    @Test func `an app that was installed anew has nothing of before but the phone`() async throws {
        let (world, ada) = try await signedIn()
        let before = try await world.engine.device(ada)
        let waiting = try await world.waiting(ada)
        let report = try await world.engine.live(.reinstall, on: ada)
        #expect(report.flowsLost == 1)
        let after = try await world.engine.device(ada)
        #expect(after.enrolments.isEmpty && after.session == nil)
        #expect(after.installThumbprint != before.installThumbprint)
        #expect(after.device.face == before.device.face && after.device.platform == before.device.platform)
        await #expect(throws: EngineError.noSuchFlow(waiting.id.rawValue)) { try await world.engine.flow(waiting.id) }
        #expect(try await world.signIn(ada).reason == "notEnrolled")
        #expect(try await world.fetch(ada).response.status == 401)
        try await enrol(ada, in: world, as: "ada@acme.test")
        #expect(try await world.signIn(ada).reason == nil)
        #expect(try await world.fetch(ada).response.status == 200)
    }

    @Test func `a backup on other hardware brings records and no keys`() async throws {
        let (world, ada) = try await signedIn()
        let other = try #require(DeviceID(rawValue: "ada-new"))
        let report = try await world.engine.live(.restore, on: ada, as: other)
        let copy = try #require(report.other)
        #expect(copy.enrolments.map(\.subject) == report.device.enrolments.map(\.subject))
        #expect(copy.installThumbprint != report.device.installThumbprint)
        #expect(copy.session == nil && copy.device.face == report.device.device.face)
        #expect(try await world.signIn(other).reason == "keyUnavailable")
        #expect(try await world.fetch(other).response.status == 401)
        #expect(try await world.signIn(ada).reason == nil, "the old hardware is as it was")
        try await enrol(other, in: world, as: "ada@acme.test")
        #expect(try await world.signIn(other).reason == nil)
        #expect(try await world.fetch(other).response.status == 200)
    }

    @Test func `offline every call is lost, in every process, until the phone is online`() async throws {
        let (world, ada) = try await signedIn()
        let session = try await world.engine.session(of: ada)?.session
        try await world.engine.live(.offline, on: ada)
        for engine in [world.engine, Engine(store: world.store, settings: world.settings)] {
            #expect(try await world.signIn(ada, on: engine).reason == "network")
            let error = await #expect(throws: EngineError.self) { try await engine.refreshSession(of: ada) }
            #expect(error?.code == "refresh_network")
            await #expect(throws: EngineError.self) { try await world.fetch(ada, on: engine) }
            await #expect(throws: EngineError.self) {
                try await engine.enrol(.ticket("any"), issuer: world.issuer, device: ada)
            }
        }
        #expect(try await world.engine.session(of: ada)?.session == session)
        try await world.engine.live(.online, on: ada)
        #expect(try await world.fetch(ada).response.status == 200)
        #expect(try await world.signIn(ada).reason == nil)
    }

    @Test func `locked face recognition shows no capture, and what was planned stays for later`() async throws {
        let (world, ada) = try await signedIn()
        let waiting = try await world.waiting(ada)
        _ = try await world.engine.updateDevice(ada) { (device) throws(EngineError) in
            device.camera = Camera(fallback: .mismatch)
        }
        try await world.engine.live(.lockout, on: ada)
        let later = Engine(store: world.store, settings: world.settings)
        for engine in [world.engine, later] {
            let flow = try await world.signIn(ada, scans: [.match], on: engine)
            #expect(flow.reason == "cancelled")
            #expect(flow.scans == ["lockout"])
        }
        _ = try await world.engine.scan(.match, for: waiting.id)
        let ended = try await world.engine.flow(waiting.id, waiting: 30, untilRest: true)
        #expect(ended.reason == "cancelled" && ended.scans == ["hang", "lockout"])
        try await world.engine.live(.unlock, on: ada)
        #expect(try await world.signIn(ada, scans: [.match]).scans == ["match"])
    }

    @Test func `each way to say no is distinct in the journal`() async throws {
        let (world, ada) = try await signedIn()
        let ways: [(ScanOutcome, String)] = [
            (.match, "signedIn"), (.mismatch, "faceMismatch"), (.cancel, "cancelled"),
            (.badCapture(.timeout), "cancelled"), (.livenessFailed(reason: "photo"), "livenessFailed"),
            (.lockout, "cancelled"), (.notEnrolled, "cancelled"), (.unsupported, "cancelled"),
        ]
        var texts: Set<String> = []
        for (outcome, end) in ways {
            let scans = [ScanOutcome](repeating: outcome, count: outcome == .mismatch ? 3 : 1)
            let isCheap = outcome == .badCapture(.timeout) || outcome == .livenessFailed(reason: "photo")
            let flow = try await world.signIn(ada, scans: scans + (isCheap ? [.cancel] : []))
            #expect((flow.reason ?? "signedIn") == end, "\(outcome.text)")
            texts.insert(try #require(flow.scans.first))
        }
        #expect(texts.count == ways.count)
        #expect(texts.isSuperset(of: ["match", "mismatch", "cancel", "badCapture:timeout", "lockout", "notEnrolled"]))
    }

    @Test func `a device an administrator removed reports notEnrolled`() async throws {
        let (world, ada) = try await signedIn()
        let user = try world.manage("GET", "/tenants/acme/users")["users"]?.array?.first?["id"]?.string
        let kid = try #require(try await world.engine.device(ada).enrolments.first?.kid)
        try world.manage("DELETE", "/tenants/acme/users/\(try #require(user))/devices/\(kid)")
        let flow = try await world.signIn(ada)
        #expect(flow.reason == "notEnrolled")
        #expect(flow.calls.contains { $0.hasPrefix("faceToken 403") })
    }

    @Test func `an event that makes no sense is refused and changes nothing`() async throws {
        let (world, ada) = try await signedIn()
        for event in [LifeEvent.online, .unlock] {
            let error = await #expect(throws: EngineError.self) { try await world.engine.live(event, on: ada) }
            #expect(error?.code == "out_of_place")
            #expect(error?.description.contains(event.rawValue) == true)
        }
        for (event, undo) in [(LifeEvent.offline, LifeEvent.online), (.lockout, .unlock)] {
            try await world.engine.live(event, on: ada)
            let error = await #expect(throws: EngineError.self) { try await world.engine.live(event, on: ada) }
            #expect(error?.code == "out_of_place")
            try await world.engine.live(undo, on: ada)
        }
        for event in LifeEvent.allCases {
            let error = await #expect(throws: EngineError.self) {
                try await world.engine.live(event, on: ada, as: event.makesAnother ? nil : ada)
            }
            #expect(error?.code == "invalid_field", "\(event.rawValue)")
            guard event.makesAnother else { continue }
            await #expect(throws: EngineError.deviceExists("ada")) {
                try await world.engine.live(event, on: ada, as: ada)
            }
        }
        let nobody = try #require(DeviceID(rawValue: "nobody"))
        await #expect(throws: EngineError.noSuchDevice("nobody")) { try await world.engine.live(.kill, on: nobody) }
        #expect(try await world.signIn(ada).reason == nil)
    }

    @Test func `each event is an entry of its own in the feed and in the store`() async throws {
        let (world, ada) = try await signedIn()
        let events: [LifeEvent] = [
            .offline, .online, .lockout, .unlock, .kill, .relaunch, .restore, .clone, .enrolmentChange, .reinstall,
        ]
        #expect(Set(events) == Set(LifeEvent.allCases))
        for event in events {
            try await world.engine.live(
                event, on: ada, as: event.makesAnother ? DeviceID(rawValue: "made-by-\(event.rawValue)") : nil)
        }
        let feed = world.journal.filter { $0["step"]?["kind"]?.string == "life" }
        #expect(feed.compactMap { $0["step"]?["event"]?.string } == events.map(\.rawValue))
        let stored = try world.store.read { try $0.journal(of: ada, since: 0, limit: 10_000) }.filter {
            $0.kind == "life"
        }
        #expect(try stored.map { try JSON(parsing: $0.body)["event"]?.string } == events.map(\.rawValue))
    }

    @Test func `what happens to one of a hundred phones reaches no other`() async throws {
        let world = try SeededWorld("hundred")
        try world.manage("PATCH", "/tenants/acme/policy", ["rate_limits": "off"])
        var phones: [DeviceID] = []
        for number in 0..<100 { phones.append(try await world.phone("phone-\(number)")) }
        let struck = phones.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        let spared = phones.filter { !struck.contains($0) }
        let before = try await views(of: spared, in: world)
        let events: [LifeEvent] = [.offline, .lockout, .enrolmentChange, .reinstall, .kill, .restore, .clone]
        for (number, phone) in struck.enumerated() {
            let event = events[number % events.count]
            try await world.engine.live(
                event, on: phone, as: event.makesAnother ? DeviceID(rawValue: "\(phone)-copy") : nil)
        }
        #expect(try await views(of: spared, in: world) == before)
        for phone in spared { #expect(try await world.signIn(phone).reason == nil) }
    }

    private func views(of phones: [DeviceID], in world: SeededWorld) async throws -> [String] {
        var views: [String] = []
        for phone in phones {
            let view = try await world.engine.device(phone)
            views.append("\(view.device.installKey) \(view.installThumbprint) \(view.enrolments.map(\.kid))")
        }
        return views
    }
}

extension SeededWorld {
    /// The settings of another engine in the same world.
    var settings: EngineSettings {
        var settings = EngineSettings()
        settings.clock = clock
        idp.join(&settings.inProcess)
        settings.inProcess.reachesSockets = false
        return settings
    }

    /// Signs in by an engine of this world and waits until the flow rests.
    func signIn(_ phone: DeviceID, scans: [ScanOutcome] = [.match], on engine: Engine) async throws -> FlowView {
        let flow = try await engine.startSignIn(SignInOrder(config: config, scans: scans), device: phone)
        let end = try await engine.flow(flow.id, waiting: 30, untilRest: true)
        await engine.settle(within: 5000)
        return end
    }

    /// A flow whose camera waits.
    func waiting(_ phone: DeviceID, on engine: Engine? = nil) async throws -> FlowView {
        let engine = engine ?? self.engine
        var flow = try await engine.startSignIn(SignInOrder(config: config, scans: [.hang]), device: phone)
        while !flow.waitsForScan, !flow.rests {
            flow = try await engine.flow(flow.id, after: flow.steps.count, waiting: 30)
        }
        return flow
    }

    func fetch(_ phone: DeviceID, on engine: Engine) async throws -> Fetched {
        try await engine.fetch(APIRequest(url: try HTTPURL(api + "/accounts")), device: phone)
    }

    var config: SignInConfig {
        SignInConfig(
            issuer: issuer, clientID: "app_demo", resource: api, scopes: ["openid", "email", "offline_access"],
            allowPlainHTTPOnLoopback: true)
    }
}
