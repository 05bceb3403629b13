import Device
import Encoding
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

    /// Writes a flow where a later process would need it: before its completion leaves, while it waits for a
    /// person, and when it rests.
    ///
    /// A token request needs no writing of its own: found again at its completion, a flow sends the same proof
    /// and is given a code again. A store that fails here does not stop the flow: what it loses is the flow's
    /// survival of a kill.
    func archive(_ flow: inout LiveFlow, sending calls: [Outgoing]) {
        let isDue: Bool =
            switch flow.machine.state {
            case .postingResult: calls.contains { $0.isCompletion }
            case .awaitingFace: flow.waitsForScan
            case .authorizing(let url): url != nil
            // A code cannot be had again without going through the browser again.
            case .redeeming: !calls.isEmpty
            case .postingResultFailed, .signedIn, .failed: true
            case .idle, .starting, .fetchingFaceToken, .checkingFace, .runningPki: false
            }
        guard isDue, flow.archivedSteps < flow.steps.count,
            let record = try? FlowArchive.record(flow, device: id, at: world.clock.now())
        else { return }
        let written = flow
        let changed = deviceChanged ? device : nil
        let now = world.clock.now()
        let (id, unsaved) = (id, nonces.unsaved)
        let outcome: Void? = try? world.store.write { store in
            try FlowArchive.write(written, as: record, at: now, to: store)
            if let changed { try store.update(changed) }
            try store.save(unsaved, of: id, at: now)
        }
        guard outcome != nil else { return }
        flow.archivedSteps = flow.steps.count
        deviceChanged = false
        nonces.markSaved()
    }

    /// Stores a session together with the flow that earned it; returns the session it replaces.
    func store(_ session: TokenSession, earnedBy flow: LiveFlow) throws -> TokenSession? {
        let id = id
        let now = world.clock.now()
        let record = try FlowArchive.record(flow, device: id, at: now)
        let unsaved = nonces.unsaved
        let instance = try instance(of: flow.id, boundTo: session)
        let previous = try world.store.write { store in
            try FlowArchive.write(flow, as: record, at: now, to: store)
            try store.save(unsaved, of: id, at: now)
            if let instance {
                try store.setClientInstance(
                    instance, of: id, issuer: session.issuer, clientID: session.clientID)
            }
            return try store.replaceSession(of: id, with: session)
        }
        nonces.markSaved()
        return previous
    }

    /// The newest nonce of a server: one of this process, else one an earlier process has stored.
    func newestNonce(_ role: NonceRole, _ origin: String) -> String? {
        if let known = nonces.newest(role, origin) { return known }
        let id = id
        guard let stored = try? world.store.read({ store in try store.nonce(of: id, role: role, origin: origin) })
        else { return nil }
        nonces.recall(stored, role, origin)
        return stored
    }

    /// Writes the nonces the store has not seen; one that is lost costs a later process one more round trip.
    func saveNonces() {
        let (id, now, unsaved) = (id, world.clock.now(), nonces.unsaved)
        guard !unsaved.isEmpty else { return }
        let outcome: Void? = try? world.store.write { store in try store.save(unsaved, of: id, at: now) }
        if outcome != nil { nonces.markSaved() }
    }
}

extension StoreWriter {
    /// Writes nonces in the transaction that is open.
    fileprivate func save(
        _ nonces: [(server: NonceBook.Server, nonce: String)], of device: DeviceID, at now: Instant
    ) throws(StoreError) {
        for (server, nonce) in nonces {
            try setNonce(nonce, of: device, role: server.role, origin: server.origin, at: now)
        }
    }
}
