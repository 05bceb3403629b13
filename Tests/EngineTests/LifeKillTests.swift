import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import ReferenceIdP
import SignIn
import Store
import Synchronization
import Testing

/// Processes that end in the middle, and phones that are copied.
@Suite struct LifeKillTests {
    /// Ends the app's process at one exchange and starts it again: before the server has the request, or behind it.
    final class Trap: Sendable {
        struct Contents {
            var engine: Engine?
            var phone: DeviceID?
            var passed = 0
            var at: Int?
        }
        private let contents = Mutex(Contents())

        func set(_ engine: Engine, _ phone: DeviceID, at point: Int?) {
            contents.withLock { $0 = Contents(engine: engine, phone: phone, at: point) }
        }

        var passed: Int { contents.withLock { $0.passed } }

        /// One point of an exchange goes by.
        func pass() async {
            let victim: (Engine, DeviceID)? = contents.withLock { contents in
                defer { contents.passed += 1 }
                guard contents.at == contents.passed, let engine = contents.engine, let phone = contents.phone else {
                    return nil
                }
                return (engine, phone)
            }
            guard let (engine, phone) = victim else { return }
            do {
                try await engine.live(.kill, on: phone)
                try await engine.live(.relaunch, on: phone)
            } catch { Issue.record(error) }
        }
    }

    struct TrappedWorld: Sendable {
        let world: SeededWorld
        let engine: Engine
        let trap = Trap()

        init() throws {
            world = try SeededWorld("kill")
            var settings = EngineSettings()
            settings.clock = world.clock
            let (idp, trap) = (world.idp, trap)
            for (origin, surface) in [(idp.served.origin, IdPSurface.identityProvider), (idp.served.api, .resourceAPI)]
            {
                settings.inProcess.add(origin) { request in
                    await trap.pass()
                    let response = idp.idp.handle(
                        request, surface: surface, peerIsLoopback: true, hostIsLoopback: true,
                        peerAddress: "127.0.0.1")
                    await trap.pass()
                    return response
                }
            }
            settings.inProcess.reachesSockets = false
            engine = Engine(store: world.store, settings: settings)
        }

        /// A sign-in with the trap at a point of its exchanges; nil where the flow is gone with its process.
        func signIn(_ phone: DeviceID, killedAt point: Int?) async throws -> FlowView? {
            trap.set(engine, phone, at: point)
            let order = SignInOrder(config: world.config, scans: [.match])
            let flow = try await engine.startSignIn(order, device: phone)
            do {
                var view = try await engine.flow(flow.id, waiting: 30, untilRest: true)
                if view.state.isParked {
                    _ = try await engine.retry(flow.id)
                    view = try await engine.flow(flow.id, waiting: 30, untilRest: true)
                }
                if view.waitsForScan { view = try await engine.scan(.match, for: flow.id) }
                await engine.settle(within: 5000)
                return try await engine.flow(flow.id, waiting: 30, untilRest: true)
            } catch EngineError.noSuchFlow {
                await engine.settle(within: 5000)
                return nil
            }
        }

        /// The grants the IdP holds for anybody.
        func grants() throws -> Int64 {
            let tenants = try world.manage("GET", "/state")["tenants"]?.array
            let acme = tenants?.first { $0["tenant"]?["id"] == "acme" }
            return try #require(acme?["counts"]?["grants"]?.int)
        }
    }

    @Test func `a process that ends between any two effects leaves at most one session`() async throws {
        let calm = try TrappedWorld()
        let phone = try await calm.world.phone("ada")
        #expect(try await calm.signIn(phone, killedAt: nil)?.reason == nil)
        let points = calm.trap.passed
        #expect(points >= 8, "four calls, before and behind the server")
        for point in 0..<points {
            let trapped = try TrappedWorld()
            let ada = try await trapped.world.phone("ada")
            let flow = try await trapped.signIn(ada, killedAt: point)
            if let flow { #expect(flow.rests, "point \(point): \(flow.state.name)") }
            let session = try await trapped.engine.session(of: ada)?.session
            if case .signedIn? = flow?.state { #expect(session != nil, "point \(point)") }
            #expect(try await trapped.signIn(ada, killedAt: nil)?.reason == nil, "point \(point)")
            let status = try await trapped.world.fetch(ada, on: trapped.engine).response.status
            #expect(status == 200, "point \(point)")
            #expect(try trapped.grants() == 1, "point \(point)")
        }
    }

    @Test func `a flow whose camera waited is taken up when the app starts again`() async throws {
        let world = try SeededWorld("relaunch")
        let ada = try await world.phone("ada")
        let waiting = try await world.waiting(ada)
        #expect(try await world.engine.live(.kill, on: ada).flowsLost == 1)
        #expect(try await world.engine.live(.relaunch, on: ada).flowsTakenUp == 1)
        #expect(try await world.engine.live(.relaunch, on: ada).flowsTakenUp == 0)
        _ = try await world.engine.scan(.match, for: waiting.id)
        let end = try await world.engine.flow(waiting.id, waiting: 30, untilRest: true)
        #expect(end.reason == nil)
        #expect(try await world.engine.session(of: ada) != nil)
    }

    @Test func `somebody who waits for a flow is told when its process ends`() async throws {
        let trapped = try TrappedWorld()
        let ada = try await trapped.world.phone("ada")
        trapped.trap.set(trapped.engine, ada, at: 3)
        let flow = try await trapped.engine.startSignIn(SignInOrder(config: trapped.world.config), device: ada)
        await #expect(throws: EngineError.noSuchFlow(flow.id.rawValue)) {
            try await trapped.engine.flow(flow.id, waiting: 600, untilRest: true)
        }
    }

    @Test func `two phones with the same keys give themselves away at the second refresh`() async throws {
        let world = try SeededWorld("clone")
        let ada = try await world.phone("ada")
        #expect(try await world.signIn(ada).reason == nil)
        let thief = try #require(DeviceID(rawValue: "thief"))
        let report = try await world.engine.live(.clone, on: ada, as: thief)
        #expect(report.other?.installThumbprint == report.device.installThumbprint)
        #expect(report.other?.session == report.device.session)
        #expect(report.other?.enrolments == report.device.enrolments)
        #expect(try await world.fetch(thief).response.status == 200, "the copy is as good as the phone")
        _ = try await world.engine.refreshSession(of: ada)
        let caught = await #expect(throws: EngineError.self) { try await world.engine.refreshSession(of: thief) }
        #expect(caught?.code == "sign_in_required")
        #expect(try world.findings().contains("refresh.once"))
        let victim = await #expect(throws: EngineError.self) { try await world.engine.refreshSession(of: ada) }
        #expect(victim?.code == "sign_in_required", "the whole family is dead")
        #expect(try await world.signIn(ada).reason == nil)
    }

    @Test func `a copy that rotated the face token makes the other's stale`() async throws {
        let world = try SeededWorld("stale")
        let ada = try await world.phone("ada")
        let copy = try #require(DeviceID(rawValue: "copy"))
        try await world.engine.live(.clone, on: ada, as: copy)
        let waiting = try await world.waiting(ada)
        #expect(try await world.signIn(copy).reason == nil)
        _ = try await world.engine.scan(.match, for: waiting.id)
        let end = try await world.engine.flow(waiting.id, waiting: 30, untilRest: true)
        #expect(end.reason == "faceTokenStale")
        #expect(try await world.signIn(ada).reason == nil, "the next one fetches the newest")
    }
}
