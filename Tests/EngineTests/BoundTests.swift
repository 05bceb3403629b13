import Device
import Encoding
import SignIn
import Store
import Testing

@testable import Engine

/// What grows with use is bounded.
@Suite struct BoundTests {
    @Test func `ended flows beyond those kept are removed, the oldest first`() throws {
        let store = try Store.inMemory()
        let id = try #require(DeviceID(rawValue: "ada"))
        let engine = Engine(store: store)
        defer { engine.close() }
        _ = try engine.createDevice(id)
        let surplus = 40
        try store.write { store in
            for number in 0..<(EndedFlows.kept + surplus) {
                try store.upsert(
                    FlowRecord(
                        id: "f-\(number)", device: id, phase: "failed", isTerminal: true, isParked: false,
                        updatedAt: Instant(seconds: Int64(number)), body: []))
            }
        }
        let ended = EndedFlows()
        for _ in 1..<EndedFlows.interval { ended.note(in: store) }
        #expect(try store.read { try $0.flow("f-0") } != nil)
        ended.note(in: store)
        #expect(try store.read { try $0.flow("f-\(surplus - 1)") } == nil)
        #expect(try store.read { try $0.flow("f-\(surplus)") } != nil)
    }
}
