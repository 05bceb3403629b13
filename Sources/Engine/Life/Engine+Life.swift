import Crypto
public import Device
import Encoding
import Store

/// The life of a phone: what happens to it between and in the middle of sign-ins.
extension Engine {
    /// Has something happen to a device; `other` names the device that `restore` and `clone` make.
    ///
    /// Throws `.noSuchDevice`, `.outOfPlace` where it makes no sense as the phone is, `.invalid` where `other` is
    /// missing or not wanted, `.deviceExists` where there is one of that name, or `.storage`.
    @discardableResult
    public func live(
        _ event: LifeEvent, on device: DeviceID, as other: DeviceID? = nil
    ) async throws(EngineError) -> LifeReport {
        let actor = try actor(device)
        try check(other, for: event)
        switch event {
        case .enrolmentChange:
            let withdrawn = try await actor.withdrawKeysOfFaces()
            return try await report(event, device) { $0.keysWithdrawn = withdrawn }
        case .lockout, .unlock, .offline, .online:
            try await actor.change(by: event)
            return try await report(event, device)
        case .kill:
            let lost = await end(actor)
            return try await report(event, device) { $0.flowsLost = lost }
        case .relaunch:
            let taken = try await takeUpFlows(of: device)
            return try await report(event, device) { $0.flowsTakenUp = taken }
        case .reinstall:
            let lost = try await reinstall(device, actor)
            return try await report(event, device) { $0.flowsLost = lost }
        case .restore, .clone:
            let made = try await copy(device, actor, event, as: other)
            return try await report(event, device, other: made)
        }
    }

    private func check(_ other: DeviceID?, for event: LifeEvent) throws(EngineError) {
        if event.makesAnother, other == nil {
            throw .invalid(field: "as", rule: "'\(event.rawValue)' makes another device, whose id it needs", value: "")
        }
        if let other, !event.makesAnother {
            throw .invalid(field: "as", rule: "'\(event.rawValue)' makes no other device", value: other.rawValue)
        }
    }

    /// Writes the event down, in the store's journal and in the feed, and shows what came of it.
    private func report(
        _ event: LifeEvent, _ device: DeviceID, other: DeviceID? = nil, _ add: (inout LifeReport) -> Void = { _ in }
    ) async throws(EngineError) -> LifeReport {
        var members: [(String, JSON)] = [("event", .string(event.rawValue))]
        if let other { members.append(("as", .string(other.rawValue))) }
        world.note(JournalEvent(kind: "life", members), device: device)
        var report = LifeReport(event, of: try await self.device(device))
        if let other { report.other = try await self.device(other) }
        add(&report)
        return report
    }
}

/// Processes that end, and apps that start.
extension Engine {
    /// Ends a device's process: what its actor knows is gone, and whoever asks next gets another actor.
    ///
    /// Returns how many flows were in its memory.
    private func end(_ actor: DeviceActor) async -> Int {
        registry.forget(actor.id)
        let lost = await actor.die()
        for flow in lost { registry.release(flow) }
        world.secrets.wipe(of: actor.id)
        world.assertions.end(lost, of: actor.id)
        return lost.count
    }

    private func takeUpFlows(of device: DeviceID) async throws(EngineError) -> Int {
        let records = try storing {
            try world.store.read { store in try store.flows(of: device, liveOnly: true, limit: Self.mostTakenUp) }
        }
        let held = registry.held
        var taken = 0
        for record in records where !record.isParked && !FlowArchive.belongsToAnother(record) {
            let flow = FlowID(rawValue: record.id)
            guard held[flow] == nil else { continue }
            try await actor(device).resume(flow)
            taken += 1
        }
        return taken
    }

    /// More flows than any phone has under way.
    private static var mostTakenUp: Int { 1000 }

    /// Removes everything of the app, and installs it anew: the device is made again with its face and its settings.
    private func reinstall(_ device: DeviceID, _ actor: DeviceActor) async throws(EngineError) -> Int {
        let lost = await end(actor)
        let key = try installKey(of: device, at: world.clock.now())
        let outcome = try storing {
            try world.store.write { store -> Bool in
                guard var known = try store.device(device) else { return false }
                let condition = try store.condition(of: device)
                try store.deleteDevice(device)
                known.installKey = key.handle
                try store.insert(known)
                try store.insert(key, for: device)
                try store.setCondition(condition, of: device)
                return true
            }
        }
        guard outcome else { throw .noSuchDevice(device.rawValue) }
        // Whoever loaded the device in between knows a key that is gone.
        registry.forget(device)
        return lost
    }

    private func installKey(of device: DeviceID, at moment: Instant) throws(EngineError) -> StoredKey {
        let entropy = world.draws[device]
        let key = try storing { () throws(CryptoError) in try P256.PrivateKey.generate(entropy) }
        return StoredKey(
            handle: KeyHandle(rawValue: "dpop-" + entropy.token(9)), purpose: .dpop, scalar: try scalar(of: key),
            createdAt: moment)
    }
}

/// Backups and copies.
extension Engine {
    private func copy(
        _ device: DeviceID, _ actor: DeviceActor, _ event: LifeEvent, as other: DeviceID?
    ) async throws(EngineError) -> DeviceID {
        guard let other else { preconditionFailure("checked before") }
        let original = await actor.snapshot
        let copy = VirtualDevice(
            id: other, original: original, installKey: original.installKey, createdAt: world.clock.now())
        // What secure hardware held is not in a backup: in its place is a key that was withdrawn.
        let drawn = try installKey(of: other, at: copy.createdAt)
        let withdrawn = StoredKey(
            handle: original.installKey, purpose: .dpop, scalar: drawn.scalar, createdAt: copy.createdAt,
            invalidated: true)
        await actor.saveBeforeCopy()
        let isNew = try storing {
            try world.store.write { store -> Bool in
                guard try store.device(other) == nil else { return false }
                try store.insert(copy)
                guard event == .restore else {
                    try store.copyPossessions(of: device, to: other)
                    return true
                }
                try store.insert(withdrawn, for: other)
                for enrolment in try store.enrolments(of: device) { try store.insert(enrolment, for: other) }
                return true
            }
        }
        guard isNew else { throw .deviceExists(other.rawValue) }
        return other
    }
}

extension VirtualDevice {
    /// A device like another, under a name of its own.
    fileprivate init(id: DeviceID, original: VirtualDevice, installKey: KeyHandle, createdAt: Instant) {
        self.init(
            id: id, platform: original.platform, clock: original.clock, camera: original.camera, face: original.face,
            installKey: installKey, createdAt: createdAt)
    }
}
