import Device
import Store

/// Putting parts of the world back.
extension Engine {
    /// Ends every flow, and removes every device with all that belongs to it; returns the rows removed by table.
    public func resetDevices() async throws(EngineError) -> [String: Int] {
        try await empty([.devices])
    }

    /// Removes the journal, what the store keeps of it and what the feed does; returns how many entries.
    public func resetJournal() async throws(EngineError) -> (stored: Int, shown: Int) {
        let removed = try storing { try world.store.write { try $0.clear([.journal]) } }
        return (removed["journal"] ?? 0, world.journal.clear(rewinding: false))
    }

    /// Takes back the faults that flows still have ahead of them; returns how many.
    public func resetFaults() async -> Int {
        var count = clearFaults()
        for actor in registry.drivers { count += await actor.clearFaults() }
        return count
    }

    /// Puts the world's clock back to how it was set in the beginning, and every device's to `real`; returns how many
    /// devices that changed.
    public func resetClocks() async throws(EngineError) -> Int {
        world.movableClock?.set(world.firstSetting)
        var changed = 0
        var last = try devices(limit: Self.page, after: nil)
        while let end = last.last {
            for device in last where device.clock != .real {
                _ = try await updateDevice(device.id) { $0.clock = .real }
                changed += 1
            }
            last = try devices(limit: Self.page, after: end.id)
        }
        return changed
    }

    /// Puts everything back: the store is empty, and with a seed the same draws come again.
    ///
    /// Returns the rows removed by table, and how many entries the feed forgot.
    public func resetEverything() async throws(EngineError) -> (rows: [String: Int], shown: Int) {
        let rows = try await empty(nil)
        world.assertions.forgetAll()
        world.movableClock?.set(world.firstSetting)
        world.metadataNews.spread()
        world.draws.rewind()
        return (rows, world.journal.clear(rewinding: true))
    }

    private static let page = 500

    /// Empties tables, or all of them, after every flow was ended.
    private func empty(_ tables: [StoreTable]?) async throws(EngineError) -> [String: Int] {
        for actor in registry.drivers { await actor.cancelAll() }
        let store = world.store
        return try await alone(replacing: true) { try store.write { try $0.clear(tables) } }
    }
}

extension DeviceActor {
    /// Takes back the faults its flows have ahead of them; returns how many.
    func clearFaults() -> Int {
        var count = 0
        for flow in flows.keys {
            count += flows[flow]?.faults.count ?? 0
            flows[flow]?.faults = FaultPlan()
        }
        return count
    }
}
