import Device
import Encoding
import Engine
import HTTP
import SignIn
import Store
import Synchronization
import Testing
import Transport

/// Refreshing over sockets: SenseCrypt description, "Session length and refresh".
@Suite struct RefreshTests {
    /// A house whose phone holds a session with an access token that has ended.
    private func expired(store: Store? = nil) async throws -> (house: House, phone: DeviceID, clock: ManualClock) {
        let clock = ManualClock(at: SystemClock().now())
        let house = try await House.open(store: store, clock: clock)
        let ada = try await house.phone()
        #expect(try await house.signIn(ada, scans: [.match]).reason == nil)
        clock.advance(seconds: 301)
        try house.manage("PUT", "/clock", ["mode": "offset", "seconds": 301])
        return (house, ada, clock)
    }

    private func call(_ house: House) throws -> APIRequest { APIRequest(url: try HTTPURL(house.api + "/accounts")) }

    /// The refresh tokens that were presented and taken, oldest first.
    private func refreshes(_ exchanges: Exchanges...) throws -> [String] {
        try exchanges.flatMap { $0.all }.filter { $0.response?.status == 200 }.compactMap { exchange in
            guard exchange.request.url.path.hasSuffix("/oauth2/token") else { return nil }
            return try FormFields(decoding: exchange.request.body)["refresh_token"]
        }
    }

    /// The statuses of calls made at once.
    private func statuses(of count: Int, on engines: [Engine], _ phone: DeviceID, _ request: APIRequest) async throws
        -> [Int]
    {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                let engine = engines[number % engines.count]
                group.addTask { try await engine.fetch(request, device: phone).response.status }
            }
            var statuses: [Int] = []
            for try await status in group { statuses.append(status) }
            return statuses
        }
    }

    @Test func `two hundred callers that meet one expired token make one refresh`() async throws {
        let (house, ada, _) = try await expired()
        let before = try #require(try await house.engine.session(of: ada)).session
        let statuses = try await statuses(of: 200, on: [house.engine], ada, try call(house))
        #expect(statuses == Array(repeating: 200, count: 200))
        #expect(try refreshes(house.exchanges) == [try #require(before.refreshToken)])
        let after = try #require(try await house.engine.session(of: ada)).session
        #expect(after.refreshToken != before.refreshToken)
        #expect(try house.findings().filter { $0.hasPrefix("refresh") }.isEmpty)
    }

    @Test func `two engines on one directory make one refresh`() async throws {
        let folder = try TemporaryFolder()
        let (first, ada, clock) = try await expired(store: try Store(directory: folder.path))
        let second = try await House.open(store: try Store(directory: folder.path), idp: first.idp, clock: clock)
        let statuses = try await statuses(of: 60, on: [first.engine, second.engine], ada, try call(first))
        #expect(statuses == Array(repeating: 200, count: 60))
        #expect(try refreshes(first.exchanges, second.exchanges).count == 1)
        let seen = try await second.engine.session(of: ada)
        #expect(try await first.engine.session(of: ada)?.session == seen?.session)
    }

    @Test func `a later process needs no nonce challenge`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(at: SystemClock().now())
        let first = try await House.open(store: try Store(directory: folder.path), clock: clock)
        let ada = try await first.phone()
        _ = try await first.signIn(ada, scans: [.match])
        let second = try await House.open(store: try Store(directory: folder.path), idp: first.idp, clock: clock)
        _ = try await second.engine.refreshSession(of: ada)
        #expect(second.exchanges.all.map { $0.response?.status } == [200])
    }

    @Test func `the refreshed token opens the API and each refresh spends the one before`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        for _ in 0..<20 { _ = try await house.engine.refreshSession(of: ada) }
        let presented = try refreshes(house.exchanges)
        #expect(presented.count == 20)
        #expect(Set(presented).count == 20)
        #expect(try await house.engine.fetch(try call(house), device: ada).response.status == 200)
    }

    @Test(arguments: [
        ("drop:refresh", "refresh_network"), ("lose-reply:refresh", "refresh_network"),
        ("status-503:refresh", "refresh_server"), ("status-429:refresh", "refresh_server"),
    ])
    func `a refresh that breaks leaves the old pair whole`(fault: String, code: String) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        let before = try await house.engine.session(of: ada)?.session
        let planned = try PlannedFault(text: fault, among: [.refresh])
        let error = await #expect(throws: EngineError.self) {
            try await house.engine.refreshSession(of: ada, faults: [planned])
        }
        #expect(error?.code == code)
        #expect(try await house.engine.session(of: ada)?.session == before)
    }

    @Test func `a session the issuer has ended is forgotten, and the enrolment is not`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        let spent = try #require(try await house.engine.session(of: ada)).session
        let fault = try PlannedFault(text: "lose-reply:refresh", among: [.refresh])
        _ = try? await house.engine.refreshSession(of: ada, faults: [fault])
        let error = await #expect(throws: EngineError.self) { try await house.engine.refreshSession(of: ada) }
        #expect(error?.code == "sign_in_required")
        #expect(try await house.engine.session(of: ada) == nil)
        #expect(try house.findings().contains("refresh.once"))
        #expect(try await house.signIn(ada, scans: [.match]).reason == nil)
        #expect(try await house.engine.session(of: ada)?.session.refreshToken != spent.refreshToken)
    }

    /// What another process does to the stored session while a refresh is under way, and what counts then.
    @Test(arguments: [true, false])
    func `whoever signs out or in meanwhile wins, and the successor is revoked`(isSignOut: Bool) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        var other = try #require(try await house.engine.session(of: ada)).session
        other.accessToken = "another-sign-in"
        other.refreshToken = "another-grant"
        let (store, meanwhile) = (house.store, other)
        let revocations = Mutex<[[UInt8]]>([])
        var settings = EngineSettings()
        settings.observer = { request, response in
            if request.url.path.hasSuffix("/oauth2/revoke") { revocations.withLock { $0.append(request.body) } }
            guard request.url.path.hasSuffix("/oauth2/token"), response?.status == 200 else { return }
            do {
                _ = try store.write { writer in
                    if isSignOut {
                        try writer.deleteSession(of: ada)
                    } else {
                        try writer.replaceSession(of: ada, with: meanwhile)
                    }
                }
            } catch { Issue.record(error) }
        }
        let engine = Engine(store: store, settings: settings)
        if isSignOut {
            let error = await #expect(throws: EngineError.self) { try await engine.refreshSession(of: ada) }
            #expect(error?.code == "not_found")
        } else {
            #expect(try await engine.refreshSession(of: ada).session == meanwhile)
        }
        await engine.settle(within: 5000)
        let revoked = try revocations.withLock { try $0.map { try FormFields(decoding: $0)["token"] } }
        #expect(revoked.count == 1)
        #expect(revoked.first != meanwhile.refreshToken)
    }

    @Test func `a refresh shows in the feed, without a token`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        let renewed = try await house.engine.refreshSession(of: ada).session
        let entry = try #require(house.engine.journal(after: 0).entries.last)
        #expect(entry.flow?.rawValue.hasPrefix("r-") == true)
        #expect(entry.json["step"]?["call"]?.string == "refresh")
        #expect(!entry.json.text.contains(renewed.accessToken))
        #expect(!entry.json.text.contains(try #require(renewed.refreshToken)))
    }
}
