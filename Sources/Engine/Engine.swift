public import Crypto
public import Device
public import Encoding
public import Profiles
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
        world = World(
            store: store,
            network: Network(
                client: HTTPClient(settings.client), inProcess: settings.inProcess, policy: settings.hosts,
                observer: settings.observer),
            metadata: MetadataCache(hearing: news), metadataNews: news,
            clock: settings.clock, entropy: settings.entropy, draws: DeviceEntropy(settings.entropy),
            profile: settings.profile, firstSetting: (settings.clock as? WorldClock)?.setting ?? .real,
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

/// Devices.
extension Engine {
    /// Makes a device with an install key of its own, and a face of its own or that of another device's holder.
    ///
    /// Throws `.deviceExists`, `.invalid` where there is no device whose face to take, or `.storage`.
    public func createDevice(
        _ id: DeviceID, platform: Platform = .ios, clock: DeviceClock = .real, camera: Camera = Camera(),
        faceOf other: DeviceID? = nil, attestation: AttestationSettings = AttestationSettings()
    ) throws(EngineError) -> VirtualDevice {
        try world.solitude.check()
        try attestation.check(on: platform)
        let moment = world.clock.now()
        let entropy = world.draws[id]
        let handle = KeyHandle(rawValue: "dpop-" + entropy.token(9))
        let face = try other.map { (other) throws(EngineError) in try self.face(of: other) } ?? newFace(entropy)
        let key = try storing { () throws(CryptoError) in try P256.PrivateKey.generate(entropy) }
        let stored = StoredKey(handle: handle, purpose: .dpop, scalar: try scalar(of: key), createdAt: moment)
        let device = VirtualDevice(
            id: id, platform: platform, clock: clock, camera: camera, face: face, installKey: handle,
            attestation: attestation, createdAt: moment)
        let created = try storing {
            try world.store.write { store in
                guard try store.device(id) == nil else { return false }
                try store.insert(device)
                try store.insert(stored, for: id)
                return true
            }
        }
        guard created else { throw .deviceExists(id.rawValue) }
        return device
    }

    private func newFace(_ entropy: Entropy) -> Face {
        guard let face = Face(secret: entropy.bytes(Face.secretLength)) else {
            preconditionFailure("entropy gives as many bytes as it is asked for")
        }
        return face
    }

    private func face(of other: DeviceID) throws(EngineError) -> Face {
        let found = try storing { try world.store.read { store in try store.device(other) } }
        guard let found else {
            throw .invalid(field: "face_of", rule: "the id of a device there is", value: other.rawValue)
        }
        return found.face
    }

    /// A device with its enrolments and its session.
    public func device(_ id: DeviceID) async throws(EngineError) -> DeviceView {
        try await actor(id).deviceView()
    }

    /// At most `limit` devices by id, after one named.
    public func devices(limit: Int, after: DeviceID?) throws(EngineError) -> [VirtualDevice] {
        try storing {
            try world.store.read { store in try store.devices(limit: limit, after: after) }
        }
    }

    /// Changes a device's clock or camera.
    public func updateDevice(
        _ id: DeviceID, _ change: @escaping @Sendable (inout VirtualDevice) throws(EngineError) -> Void
    ) async throws(EngineError) -> DeviceView {
        let actor = try actor(id)
        try await actor.update(change)
        return try await actor.deviceView()
    }

    /// Wipes a device: its flows are cancelled, and its keys, enrolments and session are gone.
    public func deleteDevice(_ id: DeviceID) async throws(EngineError) {
        let actor = try actor(id)
        await actor.cancelAll()
        world.secrets.wipe(of: id)
        try storing { _ = try world.store.write { store in try store.deleteDevice(id) } }
        registry.forget(id)
        world.assertions.forget(id)
        world.attested.forget(id)
    }
}

/// Confidential clients.
extension Engine {
    /// Registers who speaks for a client on every device, as apps do when they are launched.
    ///
    /// Flows of the client begin with that provider. Throws `.hostNotAllowed` or `.invalid` where a backend is one the
    /// phone may not talk to.
    public func launchClientAssertions(_ source: ClientAssertionSource, for clientID: String) throws(EngineError) {
        world.assertions.launch(try source.provider(in: world), for: clientID)
    }

    /// Registers who speaks for a client on a device, or for any client where none is named, in place of any other.
    ///
    /// It serves refresh and sign-out, and flows that are taken up again. Throws `.noSuchDevice`, or where a backend
    /// is one the phone may not talk to.
    public func registerClientAssertions(
        _ source: ClientAssertionSource, for clientID: String?, on device: DeviceID
    ) throws(EngineError) {
        let id = try actor(device).id
        let registration = ClientAssertionBook.Registration(
            clientID: clientID, provider: try source.provider(in: world))
        world.assertions.register(registration, on: id)
    }

    /// Forgets who speaks for clients on a device.
    public func clearClientAssertions(on device: DeviceID) throws(EngineError) {
        world.assertions.clear(try actor(device).id)
    }
}

/// Enrolment, session and API calls.
extension Engine {
    /// Asks the issuer to mail a sign-up code to an address.
    public func requestSignUp(_ email: String, issuer: String, device: DeviceID) async throws(EngineError) {
        try await actor(device).requestSignUp(email, issuer: issuer)
    }

    /// Enrols a user on a device with a ticket or a mailed code.
    public func enrol(
        _ credential: EnrolmentCredential, issuer: String, device: DeviceID,
        attestationDefect defect: AttestationDefect? = nil
    ) async throws(EngineError) -> Enrolment {
        try await actor(device).enrol(credential, issuer: issuer, defect: defect)
    }

    /// Forgets an enrolment and its key.
    public func forgetEnrolment(issuer: String, email: String, device: DeviceID) async throws(EngineError) {
        try await actor(device).forgetEnrolment(issuer: issuer, email: email)
    }

    /// The device's session, with the device's present time to judge it by.
    public func session(of device: DeviceID) async throws(EngineError) -> (session: TokenSession, now: Instant)? {
        try await actor(device).sessionNow()
    }

    /// Renews the device's session with its refresh token, or shares a refresh that is under way.
    ///
    /// Throws `.noSession`; `.refresh` with one of the three refresh errors; `.storage`.
    public func refreshSession(
        of device: DeviceID, faults: [PlannedFault] = []
    ) async throws(EngineError) -> (session: TokenSession, now: Instant) {
        try await actor(device).renewSession(faults: FaultPlan(faults))
    }

    /// Clears the session and revokes what it held, best effort.
    public func signOut(_ device: DeviceID) async throws(EngineError) {
        try await actor(device).signOut()
    }

    /// Calls an API with the device's session; faults are counted by the requests that go out.
    public func fetch(
        _ request: APIRequest, device: DeviceID, faults: [PlannedFault] = []
    ) async throws(EngineError) -> Fetched {
        try await actor(device).fetch(request, faults: FaultPlan(faults))
    }

    /// Calls an API with the device's session and does the first request wrong.
    public func fetch(
        _ request: APIRequest, device: DeviceID, wrong: WrongOnPurpose
    ) async throws(EngineError) -> Fetched {
        let place = PlannedFault.Place(point: .fetch)
        return try await fetch(
            request, device: device, faults: [PlannedFault(id: wrong.rawValue, kind: .wrong(wrong), at: place)])
    }
}

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
