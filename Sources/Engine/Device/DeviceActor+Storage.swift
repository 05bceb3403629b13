import Device
import SignIn
import Store

/// Reading and writing what the device leaves in the store.
extension DeviceActor {
    func storedEnrolments() throws(EngineError) -> [Enrolment] {
        let id = id
        return try storing { try world.store.read { store in try store.enrolments(of: id) } }
    }

    func storedSession() throws(EngineError) -> TokenSession? {
        let id = id
        return try storing { try world.store.read { store in try store.session(of: id) } }
    }

    /// Writes a flow where a later process would need it: before a request leaves, while it waits for a person,
    /// and when it rests.
    ///
    /// A store that fails here does not stop the flow: what it loses is the flow's survival of a kill.
    func archive(_ flow: inout LiveFlow, sending: Bool) {
        let state = flow.machine.state
        let isDue: Bool =
            switch state {
            case .postingResult: sending
            case .awaitingFace: flow.openCapture != nil
            case .starting: flow.archivedSteps == 0
            case .postingResultFailed, .signedIn, .failed: true
            case .idle, .fetchingFaceToken, .checkingFace: false
            }
        guard isDue, flow.archivedSteps < flow.steps.count,
            let record = try? FlowArchive.record(flow, device: id, at: world.clock.now())
        else { return }
        let written = flow
        let changed = deviceChanged ? device : nil
        let now = world.clock.now()
        let outcome: Void? = try? world.store.write { store in
            try FlowArchive.write(written, as: record, at: now, to: store)
            if let changed { try store.update(changed) }
        }
        guard outcome != nil else { return }
        flow.archivedSteps = flow.steps.count
        deviceChanged = false
    }

    /// Stores a session together with the flow that earned it; returns the session it replaces.
    func store(_ session: TokenSession, earnedBy flow: LiveFlow) throws -> TokenSession? {
        let id = id
        let now = world.clock.now()
        let record = try FlowArchive.record(flow, device: id, at: now)
        return try world.store.write { store in
            try FlowArchive.write(flow, as: record, at: now, to: store)
            return try store.replaceSession(of: id, with: session)
        }
    }
}
