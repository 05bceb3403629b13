import Crypto
import Device
import Encoding
import HTTP
import JOSE
import SignIn
import Store

/// The one owner of a virtual phone while this process uses it: its keys, its clock and its flows.
///
/// Everything a flow decides is decided by its machine, a value; the actor performs the effects and hands
/// the answers back, one at a time.
actor DeviceActor {
    nonisolated let id: DeviceID
    let world: World
    /// What this device draws its keys, ids and nonces from.
    let entropy: Entropy
    /// The metadata this phone knows: what one phone fetched, another does not have.
    let metadataCache: MetadataCache
    var device: VirtualDevice
    /// The camera's queue or the clock changed since the device was last written.
    var deviceChanged = false
    var installKey: P256.PrivateKey
    var installThumbprint: String
    /// The install's key cannot be used any more: invalidated by a wipe or a new enrolment of faces.
    var installKeyInvalidated: Bool
    /// What holds of the phone until somebody undoes it.
    var condition: DeviceCondition
    var deviceKeys: [String: P256.PrivateKey] = [:]
    var nonces = NonceBook()
    var challenges = ChallengeBook()
    var flows: [FlowID: LiveFlow] = [:]
    var exchanges: [FlowID: [EffectID: Task<Void, Never>]] = [:]
    /// The refresh under way, which everybody waits for who finds the same access token wanting.
    var refreshing: Refreshing?
    /// The refresh token the last refresh has spent, and the one that took its place.
    var spentRefreshToken: (spent: String, successor: String)?
    /// The places browsers come back to, each until its flow is done.
    var listeners: [FlowID: RedirectListener] = [:]
    var waiters: [FlowID: [Waiter]] = [:]
    var lastWaiter: UInt64 = 0
    /// Keeps this actor alive while flows are under way, since the registry only remembers it weakly.
    let registry: DeviceRegistry

    /// Loads a device from the store.
    ///
    /// Throws `.noSuchDevice`, or `.storage` where the store failed or the device's key is missing.
    init(loading id: DeviceID, in world: World, registry: DeviceRegistry) throws(EngineError) {
        let device = try storing { try world.store.read { store in try store.device(id) } }
        guard let device else { throw .noSuchDevice(id.rawValue) }
        let key = try storing {
            try world.store.read { store in try store.key(device.installKey, of: id) }
        }
        guard let key else { throw .storage("the install key of device '\(id)' is missing") }
        do throws(CryptoError) {
            installKey = try P256.PrivateKey(scalar: key.scalar)
        } catch {
            throw .storage("the install key of device '\(id)' is damaged: \(error.code)")
        }
        metadataCache = MetadataCache(hearing: world.metadataNews)
        self.id = id
        self.world = world
        entropy = world.draws[id]
        self.device = device
        self.registry = registry
        installThumbprint = JWK.p256(installKey.publicKey).thumbprint
        installKeyInvalidated = key.invalidated
        condition = try storing { try world.store.read { store in try store.condition(of: id) } }
    }

    /// The time as this device believes it to be.
    var now: Instant { device.clock.now(wall: world.clock.now()) }

    /// The phone's way to the network; there is none while it is offline.
    var network: Network {
        var network = world.network
        network.isCut = condition.isOffline
        return network
    }

    /// The device as it is now, whatever the store has seen of it.
    var snapshot: VirtualDevice { device }

    /// Changes the device and stores it.
    func update(_ change: @Sendable (inout VirtualDevice) throws(EngineError) -> Void) throws(EngineError) {
        var changed = device
        try change(&changed)
        let stored = changed
        try storing { try world.store.write { store in try store.update(stored) } }
        device = changed
    }

    /// A device key by its thumbprint, loaded once; nil where it is not held or was invalidated.
    func deviceKey(_ kid: String) -> P256.PrivateKey? {
        if let key = deviceKeys[kid] { return key }
        let id = id
        let stored = try? world.store.read { store -> StoredKey? in
            guard let enrolment = try store.enrolments(of: id).first(where: { $0.kid == kid }) else { return nil }
            return try store.key(enrolment.key, of: id)
        }
        guard let stored = stored ?? nil, !stored.invalidated, let key = try? P256.PrivateKey(scalar: stored.scalar)
        else { return nil }
        deviceKeys[kid] = key
        return key
    }

    /// A DPoP proof for one attempt, minted at the moment it is sent.
    func mintProof(
        method: String, url: HTTPURL, role: NonceRole, accessToken: String? = nil, drawingFrom source: Entropy? = nil,
        nonce: NonceChoice = .newest
    ) throws(CryptoError) -> String {
        let chosen = chosenNonce(nonce, role, url.origin, source ?? entropy)
        let proof = DPoPProof(
            method: method, url: url.text, jti: (source ?? entropy).token(16), issuedAt: now.seconds,
            accessToken: accessToken, nonce: chosen)
        return try sign(proof.signingInput(key: installKey.publicKey), with: installKey)
    }

    /// Signs a JWS signing input and puts the compact form together.
    func sign(_ input: String, with key: P256.PrivateKey) throws(CryptoError) -> String {
        JWS.assemble(signingInput: input, signature: try key.sign(Array(input.utf8), nonce: entropy.signingNonce))
    }
}

/// Runs store work and names its failure in the engine's terms.
func storing<T>(_ work: () throws -> T) throws(EngineError) -> T {
    do {
        return try work()
    } catch let error as EngineError {
        throw error
    } catch {
        throw .storage("\(error)")
    }
}

/// The private scalar of a key that is about to be stored.
func scalar(of key: P256.PrivateKey) throws(EngineError) -> [UInt8] {
    try storing { () throws(CryptoError) in try key.scalar }
}
