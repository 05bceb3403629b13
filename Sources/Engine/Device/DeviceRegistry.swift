import Device
import Synchronization

/// The devices in use: one actor each, kept while it has flows under way or was used lately.
///
/// A hundred thousand devices rest in the store; what is here is bounded by what happens at once.
final class DeviceRegistry: Sendable {
    /// How many devices without flows are kept loaded.
    static let recentLimit = 1024

    fileprivate struct Remembered {
        weak var actor: DeviceActor?
    }

    fileprivate struct Contents {
        var actors: [DeviceID: Remembered] = [:]
        var holding: [FlowID: DeviceActor] = [:]
        var recent: [DeviceActor?] = Array(repeating: nil, count: recentLimit)
        var next = 0
    }

    private let contents = Mutex(Contents())

    /// The one actor of a device, loaded if need be.
    func actor(for id: DeviceID, in world: World) throws(EngineError) -> DeviceActor {
        if let known = contents.withLock({ $0.actors[id]?.actor }) { return known }
        let loaded = try DeviceActor(loading: id, in: world, registry: self)
        return contents.withLock { contents in
            // Somebody may have loaded it meanwhile; the first one stays.
            if let known = contents.actors[id]?.actor { return known }
            contents.remember(loaded, as: id)
            return loaded
        }
    }

    /// The device a flow of this process runs on.
    func actor(driving flow: FlowID) -> DeviceActor? { contents.withLock { $0.holding[flow] } }

    /// The flows under way and who drives them.
    var held: [FlowID: DeviceActor] { contents.withLock { $0.holding } }

    /// The devices that drive flows, each once.
    var drivers: [DeviceActor] {
        let driving = contents.withLock { $0.holding.values.map { $0 } }
        return Dictionary(driving.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }).values
            .sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Keeps a device loaded while a flow is under way.
    func hold(_ actor: DeviceActor, for flow: FlowID) { contents.withLock { $0.holding[flow] = actor } }

    /// Lets a device go that was kept for a flow.
    func release(_ flow: FlowID) { contents.withLock { $0.holding[flow] = nil } }

    /// Forgets a device that was deleted.
    func forget(_ id: DeviceID) {
        contents.withLock { contents in
            contents.actors[id] = nil
            contents.recent = contents.recent.map { $0?.id == id ? nil : $0 }
        }
    }

    /// Forgets every device: the store holds another world now.
    func forgetAll() {
        contents.withLock { contents in
            contents.actors = [:]
            contents.recent = Array(repeating: nil, count: Self.recentLimit)
        }
    }

    /// Whether any flow is under way.
    var isIdle: Bool { contents.withLock { $0.holding.isEmpty } }
}

extension DeviceRegistry.Contents {
    fileprivate mutating func remember(_ actor: DeviceActor, as id: DeviceID) {
        recent[next] = actor
        next = (next + 1) % recent.count
        actors[id] = DeviceRegistry.Remembered(actor: actor)
        // A table of dead entries is swept when it has outgrown the living ones.
        if actors.count > 4 * DeviceRegistry.recentLimit + 2 * holding.count {
            actors = actors.filter { $0.value.actor != nil }
        }
    }
}
