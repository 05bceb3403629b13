public import Crypto
import Device
import Encoding
public import Profiles
import SignIn
public import Store
public import Transport

/// How an engine reaches the world.
public struct EngineSettings: Sendable {
    /// The hosts it may talk to.
    public var hosts = HostPolicy()
    /// How its HTTP client behaves: trust, resolution, local address, proxy.
    public var client = ClientConfiguration()
    /// The wall clock.
    public var clock: any WallClock = WorldClock()
    /// Servers of this process, which are asked without a socket.
    public var inProcess = InProcessServers()
    /// Where keys, ids and nonces come from.
    public var entropy = Entropy.system
    /// Where the authorities that vouch for the devices come from, unless the state directory has some; nil for
    /// `entropy`.
    public var rootsEntropy: Entropy?
    /// The words of the wire that the descriptions leave open.
    public var profile = SenseCryptProfile.builtIn
    /// Sees every exchange in full; nil for nobody.
    public var observer: ExchangeObserver?
    /// Longest a call may take, in milliseconds.
    public var callTimeoutMilliseconds = 30_000

    /// The settings for loopback servers, the system's clock and the system's entropy.
    public init() {}
}

/// The virtual phones of one state directory: creates them, enrols them, and drives their flows.
///
/// What happens at once is bounded by what is asked at once: devices and flows that rest are in the store alone.
public final class Engine: Sendable {
    let world: World
    let registry = DeviceRegistry()

    /// Opens an engine on a store.
    public init(store: Store, settings: EngineSettings = EngineSettings()) {
        let news = MetadataNews()
        let wire = SignInWire(settings.profile)
        world = World(
            store: store,
            network: Network(
                client: HTTPClient(settings.client), inProcess: settings.inProcess, policy: settings.hosts,
                observer: settings.observer),
            metadata: MetadataCache(hearing: news), metadataNews: news,
            clock: settings.clock, entropy: settings.entropy, draws: DeviceEntropy(settings.entropy),
            profile: settings.profile, wire: wire == .builtIn ? .builtIn : wire,
            firstSetting: (settings.clock as? WorldClock)?.setting ?? .real,
            roots: RootsShelf(entropy: settings.rootsEntropy ?? settings.entropy),
            faults: FaultBook(dice: settings.entropy.derived("fault dice")),
            callTimeout: settings.callTimeoutMilliseconds)
    }

    /// The wall clock of this engine's world.
    public var clock: any WallClock { world.clock }

    /// Takes up the flows an earlier process left under way: what it had sent counts as lost replies.
    ///
    /// Parked flows are left where they are until somebody retries them; flows of a process that still runs are its
    /// own. Returns how many were taken up.
    @discardableResult
    public func resumeFlows() async throws -> Int {
        let records = try storing { try world.store.read { store in try store.liveFlows() } }
        var resumed = 0
        for record in records where !record.isParked && !FlowArchive.belongsToAnother(record) {
            let actor = try registry.actor(for: record.device, in: world)
            try await actor.resume(FlowID(rawValue: record.id))
            resumed += 1
        }
        return resumed
    }

    /// Waits until no exchange is under way, those nobody else waits for included: aborts, revocations.
    ///
    /// What waits for a clock that stands does not count. A process that is about to end calls this first. Gives up
    /// after `milliseconds`.
    public func settle(within milliseconds: Int) async {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while world.underWay.number > world.held, ContinuousClock.now < end {
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { return }
        }
    }

    /// Forgets what issuers said of themselves, so that each is asked anew before its next call.
    public func forgetMetadata() { world.metadataNews.spread() }

    /// Ends the engine's connections.
    public func close() { world.network.client.close() }

    func actor(_ id: DeviceID) throws(EngineError) -> DeviceActor {
        try world.solitude.check()
        return try registry.actor(for: id, in: world)
    }

    /// The device that drives a flow, found in memory or through the store.
    func actor(driving flow: FlowID) throws(EngineError) -> DeviceActor {
        if let actor = registry.actor(driving: flow) { return actor }
        try world.solitude.check()
        let record = try storing {
            try world.store.read { store in try store.flow(flow.rawValue) }
        }
        guard let record else { throw .noSuchFlow(flow.rawValue) }
        return try actor(record.device)
    }
}
