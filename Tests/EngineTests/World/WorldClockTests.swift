import Device
import Encoding
import Engine
import HTTP
import SignIn
import Store
import Synchronization
import Testing

/// The world's clock: setting it, moving it, and sleeping on it.
@Suite struct WorldClockTests {
    private let noon = Instant(seconds: 1_602_288_000)

    /// Begins so many sleeps, in milliseconds, and waits until all of them sleep.
    private func sleepers(_ spans: [Int64], on clock: WorldClock, _ woken: Woken) async -> [Task<Void, Never>] {
        let tasks = spans.map { span in
            Task {
                let isWoken = (try? await clock.sleep(milliseconds: span)) != nil
                woken.note(isWoken ? span : -span)
            }
        }
        while clock.sleeperCount + woken.all.count < spans.count { await Task.yield() }
        return tasks
    }

    private final class Woken: Sendable {
        private let spans = Mutex<[Int64]>([])
        var all: [Int64] { spans.withLock { $0 } }
        func note(_ span: Int64) { spans.withLock { $0.append(span) } }
    }

    @Test func `a clock that stands moves when it is moved, and back`() throws {
        let clock = WorldClock(at: noon)
        #expect(clock.now() == noon)
        try clock.advance(milliseconds: 1500)
        #expect(clock.now() == noon.adding(milliseconds: 1500))
        #expect(clock.elapsed == .milliseconds(1500))
        try clock.advance(milliseconds: -2500)
        #expect(clock.now() == noon.adding(seconds: -1))
        #expect(clock.elapsed == .milliseconds(1500))
        #expect(clock.setting == .frozen(at: noon.adding(seconds: -1)))
    }

    @Test func `moving it forward wakes those whose time has come, and only those`() async throws {
        let clock = WorldClock(at: noon)
        let woken = Woken()
        let tasks = await sleepers([10, 1000, 5000], on: clock, woken)
        #expect(clock.millisecondsToNextWaking == 10)
        #expect(try clock.advance(milliseconds: 1000) == 2)
        for task in tasks.prefix(2) { await task.value }
        #expect(woken.all.sorted() == [10, 1000])
        #expect(clock.millisecondsToNextWaking == 4000)
        // Back, and the sleep is no longer for that.
        try clock.advance(milliseconds: -60_000)
        #expect(clock.millisecondsToNextWaking == 4000)
        #expect(try clock.advance(milliseconds: 4000) == 1)
        await tasks[2].value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a sleep that is cancelled says so, before or after it began`() async {
        let clock = WorldClock(at: noon)
        let woken = Woken()
        let tasks = await sleepers([1000], on: clock, woken)
        tasks[0].cancel()
        await tasks[0].value
        #expect(woken.all == [-1000])
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return (try? await clock.sleep(milliseconds: 5)) != nil
        }
        #expect(await late.value == false)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a sleep on a clock that begins to run ends by itself`() async {
        let clock = WorldClock(at: noon)
        let woken = Woken()
        let tasks = await sleepers([20], on: clock, woken)
        clock.set(.real)
        await tasks[0].value
        #expect(woken.all == [20])
    }

    @Test func `a clock that is stopped stands where it was, and its sleepers go on sleeping`() async throws {
        let clock = WorldClock(.offset(seconds: 3600))
        let woken = Woken()
        let tasks = await sleepers([3_600_000], on: clock, woken)
        clock.freeze()
        let stopped = clock.now()
        #expect(clock.now() == stopped)
        #expect(clock.sleeperCount == 1)
        try clock.advance(milliseconds: 3_600_000)
        await tasks[0].value
        #expect(woken.all == [3_600_000])
    }

    @Test func `a part of a second moves only a clock that stands`() throws {
        #expect(throws: DeviceTextError.self) { try WorldClock().advance(milliseconds: 1) }
        #expect(throws: DeviceTextError.self) { try WorldClock(at: noon).advance(milliseconds: .max) }
        #expect(try WorldClock(at: noon).advance(milliseconds: 1) == 0)
    }

    @Test(
        arguments: [
            ("90s", 90_000), ("-2h", -7_200_000), ("+1m", 60_000), ("1500ms", 1500), ("3d", 259_200_000), ("0s", 0),
        ] as [(String, Int64)])
    func `a span reads`(text: String, milliseconds: Int64) throws {
        #expect(try ClockMove.advance(by: text, field: "advance") == .advance(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "s", "90", "--2s", "+-2s", "1.5s", "2 s", "2y", "٣s", "99999999999999999999s", "9223372036854775807d",
    ])
    func `what is no span is refused by name`(text: String) {
        let error = #expect(throws: EngineError.self) { try ClockMove.advance(by: text, field: "advance") }
        #expect(error?.code == "invalid_field")
    }
}

/// What the engine does with a clock that is moved.
@Suite struct WakingTests {
    /// An authorization server that has metadata and nothing else.
    private static func metadata(of issuer: String) -> HTTPResponse {
        .json([
            "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize"),
            "token_endpoint": .string(issuer + "/token"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"], "dpop_signing_alg_values_supported": ["ES256"],
        ])
    }

    @Test func `a browser nobody comes back with has been given up when ten minutes were let pass`() async throws {
        let issuer = "http://127.0.0.1:9"
        var settings = EngineSettings()
        let clock = WorldClock(at: SeededWorld.beginning)
        settings.clock = clock
        settings.inProcess.add(issuer) { _ in Self.metadata(of: issuer) }
        settings.inProcess.reachesSockets = false
        let engine = Engine(store: try Store.inMemory(), settings: settings)
        let ada = try #require(DeviceID(rawValue: "ada"))
        _ = try engine.createDevice(ada)
        let config = SignInConfig(
            issuer: issuer, clientID: "app", scopes: ["openid"], allowPlainHTTPOnLoopback: true)
        let door = BrowserDoor.browser(redirectURI: "http://127.0.0.1/callback")
        let flow = try await engine.startSignIn(SignInOrder(.oauth(door), config: config), device: ada)
        while clock.sleeperCount == 0 { await Task.yield() }
        try await engine.moveClock(.advance(milliseconds: 599_000))
        #expect(try await engine.flow(flow.id).state.name == "authorizing")
        let moved = try await engine.moveClock(.advance(milliseconds: 2000))
        #expect(moved.woken == 1)
        #expect(moved.underWay == 0)
        let end = try await engine.flow(flow.id)
        #expect(end.state.isTerminal, "\(end.state)")
        // It was given up at its moment, not at the end of the move.
        let last = try #require(engine.journal(after: 0).entries.last { $0.flow == flow.id })
        #expect(last.at == SeededWorld.beginning.adding(seconds: 600))
        #expect(clock.now() == SeededWorld.beginning.adding(seconds: 601))
    }

    @Test func `who has only the machine's clock is told that it does not move`() async throws {
        var settings = EngineSettings()
        settings.clock = SystemClock()
        let engine = Engine(store: try Store.inMemory(), settings: settings)
        let error = await #expect(throws: EngineError.self) { try await engine.moveClock(.freeze) }
        #expect(error?.code == "invalid_field")
    }
}
