import Crypto
public import Device
import Encoding
import Store

/// Flows.
extension Engine {
    /// Starts a sign-in on a device.
    public func startSignIn(_ order: SignInOrder, device: DeviceID) async throws(EngineError) -> FlowView {
        let flow = FlowID(rawValue: "f-" + world.draws[device].token(16))
        return try await actor(device).start(order, id: flow)
    }

    /// How a flow stands; with `waiting` seconds, once it has steps beyond `after` or rests.
    public func flow(
        _ id: FlowID, after: Int = 0, waiting seconds: Double = 0, untilRest: Bool = false
    ) async throws(EngineError) -> FlowView {
        try await actor(driving: id).view(id, after: after, waiting: seconds, untilRest: untilRest)
    }

    /// At most `limit` flows of one device or of all: those under way in this process, then the others, newest first.
    public func flows(of device: DeviceID?, liveOnly: Bool, limit: Int) async throws(EngineError) -> [FlowView] {
        var views: [FlowView] = []
        for (flow, actor) in registry.held where views.count < limit && (device.map { $0 == actor.id } ?? true) {
            // A flow that came to rest meanwhile is found in the store.
            if let view = await actor.heldView(flow) { views.append(view) }
        }
        let held = Set(views.map(\.id.rawValue))
        let records = try storing {
            try world.store.read { store in
                if let device { return try store.flows(of: device, liveOnly: liveOnly, limit: limit) }
                return try store.flows(liveOnly: liveOnly, limit: limit)
            }
        }
        for record in records where views.count < limit && !held.contains(record.id) {
            views.append(try FlowArchive.summary(record))
        }
        return views
    }

    /// Sends a parked flow's proof again.
    public func retry(_ flow: FlowID) async throws(EngineError) -> FlowView {
        try await actor(driving: flow).retry(flow)
    }

    /// Cancels a flow that has not ended.
    public func cancel(_ flow: FlowID) async throws(EngineError) -> FlowView {
        try await actor(driving: flow).cancel(flow)
    }

    /// Shows a waiting camera one outcome.
    public func scan(_ outcome: ScanOutcome, for flow: FlowID) async throws(EngineError) -> FlowView {
        try await actor(driving: flow).scan(outcome, for: flow)
    }

    /// The shared secret a flow's key operation gave: once, and then nothing of it is left here.
    ///
    /// Throws `.noSecret` for a flow that has not signed in with a decapsulation, `.secretTaken` from the second time
    /// on, and `.secretGone` where the process that held it has ended.
    public func takeSecret(of flow: FlowID) async throws(EngineError) -> [UInt8] {
        try await actor(driving: flow).takeSecret(of: flow)
    }

    /// Everything that happens from here on, and what is kept of the past after `sequence`.
    public func feed(after sequence: UInt64 = .max) -> AsyncStream<FeedEntry> {
        world.journal.feed(after: sequence)
    }

    /// What is kept of the past after `sequence`, and how many entries were dropped before it.
    public func journal(after sequence: UInt64) -> (entries: [FeedEntry], dropped: UInt64) {
        world.journal.past(after: sequence)
    }
}
