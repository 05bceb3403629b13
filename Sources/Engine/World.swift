import Crypto
import Device
import Encoding
import Profiles
import SignIn
import Store

/// What every device actor shares: the store, the network, the clock, and chance.
struct World: Sendable {
    let store: Store
    private(set) var network: Network
    /// Metadata asked for by nobody's phone; each device has a cache of its own.
    let metadata: MetadataCache
    /// Has every cache of metadata ask anew.
    let metadataNews: MetadataNews
    let clock: any WallClock
    let entropy: Entropy
    /// What each device draws from.
    let draws: DeviceEntropy
    /// The words of the wire.
    let profile: SenseCryptProfile
    /// The names of it that a sign-in's machine reads, one set for all flows.
    let wire: SignInWire
    let journal = Journal()
    /// Whether somebody has the world to themselves.
    let solitude = Solitude()
    /// How the clock was set when the world began; what a reset goes back to.
    let firstSetting: DeviceClock
    let assertions = ClientAssertionBook()
    let attested = AttestedClients()
    let underWay = UnderWay()
    let ended = EndedFlows()
    let secrets = SharedSecrets()
    /// The authorities that vouch for the devices.
    let roots: RootsShelf
    let codes = OpenCodes()
    /// What is to go wrong, whoever it happens to.
    let faults: FaultBook
    /// Longest a call may take, in milliseconds.
    let callTimeout: Int

    /// The same world by another way to the network.
    func reaching(_ network: Network) -> World {
        var world = self
        world.network = network
        return world
    }
}

extension World {
    /// The world's clock, where it is one that can be moved.
    var movableClock: WorldClock? { clock as? WorldClock }

    /// How many exchanges wait for a clock that stands: however long anybody waits, nothing comes of them.
    var held: Int {
        guard let movableClock, case .frozen = movableClock.setting else { return 0 }
        return movableClock.heldWork
    }

    /// Waits for somebody who does not come, in milliseconds; what is then to be done counts as under way, and whoever
    /// waited ends it.
    func wait(forSomebody milliseconds: Int64) async throws(CancellationError) {
        let underWay = underWay
        if let movableClock {
            return try await movableClock.sleep(milliseconds: milliseconds, onWaking: { underWay.begin() })
        }
        try await clock.sleep(milliseconds: milliseconds)
        underWay.begin()
    }

    /// Notes what happened outside of any flow, in the feed and in the store.
    ///
    /// A store that fails here loses the entry, and nothing else.
    func note(_ event: JournalEvent, device: DeviceID? = nil) {
        let now = clock.now()
        journal.publish(event, device: device, at: now)
        let body = Step.event(event).json(number: 0).serialized()
        _ = try? store.write { store in
            try store.appendJournal(at: now, device: device, flow: nil, kind: event.kind, body: body)
        }
    }
}
