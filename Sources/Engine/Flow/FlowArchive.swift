import Device
import Encoding
import Foundation
import SignIn
import Store

/// How flows rest in the store: the machine as bytes, and each step as an entry of the journal.
enum FlowArchive {
    /// What a flow needs to go on in another process.
    private struct Body: Codable {
        let machine: FlowMachine
        let script: [ScanOutcome]
        let faults: FaultPlan
        let startedAt: Instant
        /// The camera hung and waits for a scan from outside.
        let waits: Bool
        /// The process that wrote it.
        let process: Int32
    }

    /// The flow as it is written.
    static func record(_ flow: LiveFlow, device: DeviceID, at now: Instant) throws(EngineError) -> FlowRecord {
        let state = flow.machine.state
        let body = Body(
            machine: flow.machine, script: flow.script, faults: flow.faults, startedAt: flow.startedAt,
            waits: flow.waitsForScan, process: ProcessInfo.processInfo.processIdentifier)
        return FlowRecord(
            id: flow.id.rawValue, device: device, phase: state.name, isTerminal: state.isTerminal,
            isParked: state.isParked, updatedAt: now, body: try storing { Array(try JSONEncoder().encode(body)) })
    }

    /// Writes the steps the store has not seen, and the flow itself, in the transaction that is open.
    static func write(
        _ flow: LiveFlow, as record: FlowRecord, at now: Instant, to store: StoreWriter
    ) throws(StoreError) {
        try store.upsert(record)
        for (index, step) in flow.steps.enumerated().dropFirst(flow.archivedSteps) {
            try store.appendJournal(
                at: now, device: record.device, flow: record.id, kind: step.kind,
                body: step.json(number: index + 1).serialized())
        }
    }

    /// Writes down which faults a flow still has ahead of it, where it is in the store at all; all else stays as it is.
    ///
    /// For a fault that ends the process: it is used up, although nothing else of the moment is kept.
    static func keep(_ faults: FaultPlan, of id: FlowID, in store: Store) {
        try? storing {
            try store.write { writer in
                guard let record = try writer.flow(id.rawValue), let body = try? body(of: record) else { return }
                let kept = Body(
                    machine: body.machine, script: body.script, faults: faults, startedAt: body.startedAt,
                    waits: body.waits, process: body.process)
                try writer.upsert(
                    FlowRecord(
                        id: record.id, device: record.device, phase: record.phase, isTerminal: record.isTerminal,
                        isParked: record.isParked, updatedAt: record.updatedAt,
                        body: Array(try JSONEncoder().encode(kept))))
            }
        }
    }

    /// A flow that rests in the store, ready to go on.
    static func load(_ id: FlowID, from store: Store) throws(EngineError) -> LiveFlow {
        let (record, steps) = try stored(id, in: store)
        let body = try body(of: record)
        var flow = LiveFlow(
            id: id, startedAt: body.startedAt, machine: body.machine,
            script: (body.waits ? [.hang] : []) + body.script, faults: body.faults)
        flow.isTakenUp = true
        flow.steps = steps.map { .archived($0) }
        flow.archivedSteps = flow.steps.count
        flow.publishedSteps = flow.steps.count
        return flow
    }

    /// How a flow that rests in the store stands.
    static func view(_ id: FlowID, from store: Store) throws(EngineError) -> FlowView {
        let (record, steps) = try stored(id, in: store)
        let body = try body(of: record)
        let machine = body.machine
        var session: TokenSession?
        if case .signedIn = machine.state {
            session = try storing { try store.read { store in try store.session(of: record.device) } }
        }
        var view = FlowView(
            id: id, device: record.device, system: machine.system, config: machine.config, state: machine.state,
            waitsForScan: body.waits, steps: steps.map { .archived($0) }, session: session)
        view.isDriven = belongsToAnother(body)
        return view
    }

    /// A flow without its steps, for lists.
    static func summary(_ record: FlowRecord) throws(EngineError) -> FlowView {
        let body = try body(of: record)
        let machine = body.machine
        var view = FlowView(
            id: FlowID(rawValue: record.id), device: record.device, system: machine.system, config: machine.config,
            state: machine.state, waitsForScan: body.waits, steps: [], session: nil)
        view.isDriven = belongsToAnother(body)
        return view
    }

    /// Whether the process that last wrote a flow still runs and is not this one.
    static func belongsToAnother(_ record: FlowRecord) -> Bool {
        (try? body(of: record)).map(belongsToAnother) ?? false
    }

    private static func belongsToAnother(_ body: Body) -> Bool {
        body.process != ProcessInfo.processInfo.processIdentifier && kill(body.process, 0) == 0
    }

    private static func stored(_ id: FlowID, in store: Store) throws(EngineError) -> (FlowRecord, [JSON]) {
        let record = try storing { try store.read { store in try store.flow(id.rawValue) } }
        guard let record else { throw .noSuchFlow(id.rawValue) }
        let entries = try storing {
            try store.read { store in try store.journal(ofFlow: id.rawValue) }
        }
        return (record, entries.compactMap { try? JSON(parsing: $0.body) })
    }

    private static func body(of record: FlowRecord) throws(EngineError) -> Body {
        try storing { try JSONDecoder().decode(Body.self, from: Data(record.body)) }
    }
}
