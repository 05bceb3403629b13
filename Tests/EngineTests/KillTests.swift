import Device
import Encoding
import Engine
import HTTP
import SignIn
import Store
import Testing
import Transport

/// A process that dies at any step of a flow, seen from the next process on the same state directory.
@Suite struct KillTests {
    /// The calls at which a process is frozen: its request has left, its answer never reaches the machine.
    static let calls: [Call.Purpose] = [.start, .faceToken, .completion, .token]

    @Test(arguments: calls) func `a process killed at a call leaves a flow that ends or was never stored`(
        call: Call.Purpose
    ) async throws {
        let folder = try TemporaryFolder()
        let first = try await House.open(store: try Store(directory: folder.path))
        let ada = try await first.phone()
        // The copy of the directory is the state a kill at this call would have left behind.
        let frozen = try await first.signIn(ada, scans: [.match], faults: ["lose-reply:\(call.rawValue):3"])
        let second = try await House.open(store: try Store(directory: folder.path), idp: first.idp)
        _ = try await second.engine.resumeFlows()
        let found = try await second.rest(of: try await second.engine.flow(frozen.id))
        #expect(found.rests)
        if found.state.isParked {
            let done = try await second.rest(of: try await second.engine.retry(found.id))
            #expect(done.reason == nil)
        }
    }

    @Test func `a flow of a process that still runs is not taken up by another`() async throws {
        let folder = try TemporaryFolder()
        let first = try await House.open(store: try Store(directory: folder.path))
        let ada = try await first.phone()
        let waiting = try await first.signIn(ada, scans: [.hang])
        #expect(waiting.waitsForScan)
        let done = try await first.rest(of: try await first.engine.scan(.match, for: waiting.id))
        #expect(done.reason == nil)
    }

    @Test func `a cancelled flow leaves no session and tells the provider`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let waiting = try await house.signIn(ada, scans: [.hang])
        let cancelled = try await house.engine.cancel(waiting.id)
        #expect(cancelled.reason == "cancelled")
        await house.engine.settle(within: 5000)
        #expect(house.exchanges.all.contains { $0.request.url.path.hasSuffix("/abort") && $0.response?.status == 204 })
        #expect(try await house.engine.session(of: ada) == nil)
        await #expect(throws: EngineError.alreadyEnded(flow: waiting.id.rawValue, state: "failed")) {
            try await house.engine.cancel(waiting.id)
        }
    }

    @Test func `a device that is wiped takes its flows with it`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let waiting = try await house.signIn(ada, scans: [.hang])
        try await house.engine.deleteDevice(ada)
        await #expect(throws: EngineError.noSuchDevice("ada")) { try await house.engine.device(ada) }
        await house.engine.settle(within: 5000)
        await #expect(throws: EngineError.noSuchFlow(waiting.id.rawValue)) { try await house.engine.flow(waiting.id) }
    }
}
