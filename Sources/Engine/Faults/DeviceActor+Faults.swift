import Crypto
import Device
import Encoding
import HTTP
import Store
import Transport

/// The one gate: whatever the phone does asks here first whether it is to go wrong.
extension DeviceActor {
    /// The fault of a call or a deed of a flow, noted in its journal; the flow's own come before the world's.
    func takeFault(at point: FaultPoint, attempt: Int = 1, in flow: inout LiveFlow) -> PlannedFault? {
        let moment = FaultMoment(
            system: flow.machine.system, point: point, attempt: attempt, device: id, install: installThumbprint)
        let own = flow.faults.take(at: moment, dice: world.faults.roll)
        if case .crash? = own?.kind { FlowArchive.keep(flow.faults, of: flow.id, in: world.store) }
        let fault = own ?? world.faults.take(at: moment)
        if let fault { flow.note(.fault(name: fault.name, at: point, id: fault.id)) }
        return fault
    }

    /// The same, for a flow that is in its place.
    func takeFault(at point: FaultPoint, attempt: Int, flow flowID: FlowID) -> PlannedFault? {
        guard var flow = flows[flowID] else { return nil }
        defer { flows[flowID] = flow }
        return takeFault(at: point, attempt: attempt, in: &flow)
    }

    /// The fault of a call that belongs to no flow, shown in the feed under a name of its own.
    func takeFault(at point: FaultPoint, attempt: Int = 1, from plan: inout FaultPlan) -> PlannedFault? {
        let moment = FaultMoment(point: point, attempt: attempt, device: id, install: installThumbprint)
        return plan.take(at: moment, dice: world.faults.roll) ?? world.faults.take(at: moment)
    }

    /// One exchange of a call that belongs to no flow, past the gate.
    ///
    /// Throws `.processEnded` where the process ends there, and what an exchange throws.
    func exchange(
        _ request: ClientRequest, at point: FaultPoint, attempt: Int = 1
    ) async throws(EngineError) -> HTTPResponse {
        var none = FaultPlan()
        let fault = takeFault(at: point, attempt: attempt, from: &none)
        if let fault { publish(fault, at: point) }
        try obey(fault)
        return try await network.exchange(request, fault: fault?.kind, by: world.clock).get()
    }

    /// Ends the process where a fault of a call outside of flows says so.
    func obey(_ fault: PlannedFault?) throws(EngineError) {
        guard case .crash(let relaunch)? = fault?.kind else { return }
        crash(relaunching: relaunch)
        throw .processEnded(id.rawValue)
    }

    /// The nonce for a proof.
    func chosenNonce(_ choice: NonceChoice, _ role: NonceRole, _ origin: String, _ source: Entropy) -> String? {
        switch choice {
        case .newest: newestNonce(role, origin)
        case .none: nil
        case .stale: "stale-" + source.token(16)
        }
    }

    /// Shows a fault of a call that belongs to no flow.
    func publish(_ fault: PlannedFault, at point: FaultPoint) {
        world.journal.publish(
            [.fault(name: fault.name, at: point, id: fault.id)], first: 1, device: id,
            flow: FlowID(rawValue: "x-" + fault.id), at: world.clock.now())
    }
}

/// Which nonce a proof is to have.
enum NonceChoice: Sendable, Hashable {
    /// The newest the server gave, if it gave one.
    case newest
    /// None.
    case none
    /// One the server did not give lately.
    case stale

    /// What a fault makes of it.
    init(_ fault: PlannedFault?) {
        switch fault?.kind {
        case .staleNonce: self = .stale
        case .missingNonce: self = .none
        default: self = .newest
        }
    }
}

extension Network {
    /// Makes an exchange, unless a fault takes its place or that of its answer.
    func exchange(
        _ request: ClientRequest, fault: PlannedFault.Kind?, by clock: any WallClock
    ) async -> Result<HTTPResponse, EngineError> {
        var request = request
        switch fault {
        case .drop: return .failure(.unreachable(url: request.url.origin, why: "dropped by a planned fault"))
        case .answer(let answer): return .success(HTTPResponse(answer))
        case .loseReply:
            _ = try? await send(request)
            return .failure(.unreachable(url: request.url.origin, why: "the reply was lost by a planned fault"))
        case .reset: request.wireFault = .reset
        case .truncate: request.wireFault = .truncate
        case .dribble(let bytes, let milliseconds):
            request.wireFault = .dribble(bytes: bytes, milliseconds: milliseconds)
        case .delay(let milliseconds): try? await clock.sleep(milliseconds: Int64(milliseconds))
        case .staleNonce, .missingNonce, .storeFull, .keyRefused, .crash, .wrong, nil: break
        }
        do throws(EngineError) { return .success(try await send(request)) } catch { return .failure(error) }
    }
}

extension HTTPResponse {
    fileprivate init(_ answer: PlannedAnswer) {
        var fields = HTTPFields()
        if let body = answer.body {
            fields.append("Content-Type", body.first == "{" ? "application/json" : "text/plain")
        }
        if let seconds = answer.retryAfter { fields.append("Retry-After", String(seconds)) }
        for pair in answer.headers { fields.append(pair[0], pair[1]) }
        self.init(status: answer.status, fields: fields, body: Array((answer.body ?? "").utf8))
    }
}

/// The end of the process, in the middle of something.
extension DeviceActor {
    /// Everything in memory is gone, and what was under way is cut off; whoever waits is told what the store knows.
    ///
    /// Returns the flows that were in memory.
    func die() -> [FlowID] {
        let lost = Array(flows.keys)
        flows = [:]
        for task in exchanges.values.flatMap(\.values) { task.cancel() }
        exchanges = [:]
        refreshing?.task.cancel()
        for listener in listeners.values { listener.close() }
        listeners = [:]
        let waiting = waiters.values.flatMap(\.self)
        waiters = [:]
        for waiter in waiting { waiter.continuation.resume(returning: nil) }
        deviceKeys = [:]
        nonces = NonceBook()
        spentRefreshToken = nil
        return lost
    }

    /// Ends the process at a call of a flow.
    func crash(relaunching isRelaunched: Bool) {
        let lost = die()
        afterCrash(lost, relaunching: isRelaunched)
    }

    /// Ends the process in the middle of a flow that is taken out of its place; what it came to is in the feed alone.
    func crash(with flow: LiveFlow, relaunching isRelaunched: Bool) {
        var flow = flow
        publish(&flow)
        let lost = die() + [flow.id]
        afterCrash(lost, relaunching: isRelaunched)
    }

    private func afterCrash(_ lost: [FlowID], relaunching isRelaunched: Bool) {
        for flow in lost { registry.release(flow) }
        world.secrets.wipe(of: id)
        for flow in lost { world.assertions.end(flow) }
        guard isRelaunched else { return }
        // Not in the task that was cut off: what is done there counts as never done.
        let underWay = world.underWay
        underWay.begin()
        Task {
            defer { underWay.end() }
            // A flow that was never written down is gone with the process.
            for flow in lost { try? self.resume(flow) }
        }
    }
}
