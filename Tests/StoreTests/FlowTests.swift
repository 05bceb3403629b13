import Device
import Encoding
import Store
import Testing

@Suite struct `Flow records` {
    @Test func `a flow is stored, stepped, parked and finished under one identifier`() throws {
        let store = try store(with: "pixel")
        var flow = try Make.flow()
        for step in 0..<4 {
            flow.phase = "phase-\(step)"
            flow.isParked = step == 2
            flow.isTerminal = step == 3
            flow.updatedAt = Make.now.adding(seconds: Int64(step))
            flow.body = Array(repeating: UInt8(step), count: step * 5_000)
            let stored = flow
            try store.write { try $0.upsert(stored) }
            #expect(try store.read { try $0.flow(stored.id) } == stored)
        }
        let device = try Make.id()
        #expect(try store.read { try $0.flows(of: device, limit: 9) } == [flow])
    }

    @Test func `a flow that is over can be stored again, and even come back to life`() throws {
        let store = try store(with: "pixel")
        let (live, over) = (try Make.flow(), try Make.flow(phase: "failed", isTerminal: true))
        for flow in [over, over, live, over, live] {
            try store.write { try $0.upsert(flow) }
            #expect(try store.read { try $0.flow("flow-1") } == flow)
        }
        #expect(try store.read { try $0.liveFlows() } == [live])
    }

    @Test func `a flow of no device is refused`() throws {
        let store = try Store.inMemory()
        let flow = try Make.flow()
        #expect(throws: StoreError.missing(operation: "flows.upsert")) { try store.write { try $0.upsert(flow) } }
    }

    @Test func `recovery lists the flows that are not over, and a device its own, newest first`() throws {
        let store = try store(with: "a", "b")
        try store.write { writer in
            for number in 1...6 {
                let device = number.isMultiple(of: 2) ? "a" : "b"
                try writer.upsert(Make.flow("flow-\(number)", device: device, isTerminal: number > 4))
            }
        }
        let live = try store.read { try $0.liveFlows() }
        #expect(live.map(\.id) == ["flow-2", "flow-4", "flow-1", "flow-3"])
        #expect(try store.read { try $0.flows(limit: 2) }.map(\.id) == ["flow-6", "flow-5"])
        #expect(try store.read { try $0.flows(liveOnly: true, limit: 3) }.map(\.id) == ["flow-4", "flow-3", "flow-2"])
        let a = try Make.id("a")
        #expect(try store.read { try $0.flows(of: a, limit: 2) }.map(\.id) == ["flow-6", "flow-4"])
        #expect(try store.read { try $0.flows(of: a, liveOnly: true, limit: 9) }.map(\.id) == ["flow-4", "flow-2"])
    }

    @Test func `one pruning removes a bounded number`() throws {
        let store = try store(with: "pixel")
        let most = StoreWriter.mostFlowsPruned
        try store.write { writer in
            for number in 0..<most + 7 { try writer.upsert(Make.flow("over-\(number)", isTerminal: true)) }
        }
        let removed = try (0..<3).map { _ in try store.write { try $0.pruneTerminalFlows(keeping: 2) } }
        #expect(removed == [most, 5, 0])
    }

    @Test func `pruning keeps the flows that ended last and every live one`() throws {
        let store = try store(with: "pixel")
        try store.write { writer in
            for number in 0..<10 {
                // The later it began, the earlier it ended.
                try writer.upsert(Make.flow("over-\(number)", isTerminal: true, at: Int64(-number)))
                try writer.upsert(Make.flow("live-\(number)", at: Int64(-1_000 - number)))
            }
        }
        #expect(try store.write { try $0.pruneTerminalFlows(keeping: 3) } == 7)
        #expect(try store.write { try $0.pruneTerminalFlows(keeping: 3) } == 0)
        let device = try Make.id()
        let kept = try store.read { try $0.flows(of: device, limit: 99) }
        #expect(kept.filter(\.isTerminal).map(\.id) == ["over-2", "over-1", "over-0"])
        #expect(kept.filter { !$0.isTerminal }.count == 10)
        #expect(try store.write { try $0.pruneTerminalFlows(keeping: 0) } == 3)
    }
}
