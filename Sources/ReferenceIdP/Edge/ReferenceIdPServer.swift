public import Crypto
public import Encoding
public import HTTP
import JOSE
public import Profiles
import Synchronization

/// The SenseCrypt reference IdP with everything its value must not have: a lock, a clock, randomness, signing keys, and
/// a hook to the store.
///
/// No sockets: a listener hands it requests.
///
/// Any thread may call it. Reading a request and all signature work run outside the lock; under it is one
/// cheap transition of the state.
public final class ReferenceIdPServer: Sendable {
    /// What a server is made with.
    public struct Configuration: Sendable {
        /// The IdP's origin as it is advertised, without a trailing slash.
        public var origin: String
        /// The resource API's origin as it is advertised.
        public var apiOrigin: String
        /// The wire.
        public var profile: SenseCryptProfile
        /// Randomness; a seeded one makes everything but RSA keys repeatable.
        public var entropy: Entropy
        /// The wall clock; the management API may move or freeze what the IdP makes of it.
        public var wallClock: @Sendable () -> Instant
        /// Whose word about calling apps every tenant takes that has no anchors of its own.
        public var attestationTrust = AttestationTrust()
        /// The durable records of an earlier run, or none to begin with the seed.
        public var records: [RecordChange]
        /// Stores durable changes, in order, before the answer that made them goes out.
        ///
        /// A change whose value is nil removes its record. Where it throws, callers get a 500 and the changes wait.
        public var store: (@Sendable ([RecordChange]) throws -> Void)?

        /// A configuration with the built-in profile, system randomness and the system clock.
        public init(
            origin: String, apiOrigin: String, profile: SenseCryptProfile = .builtIn, entropy: Entropy = .system,
            wallClock: @escaping @Sendable () -> Instant = SystemClock.now, records: [RecordChange] = [],
            store: (@Sendable ([RecordChange]) throws -> Void)? = nil
        ) {
            self.origin = origin
            self.apiOrigin = apiOrigin
            self.profile = profile
            self.entropy = entropy
            self.wallClock = wallClock
            self.records = records
            self.store = store
        }
    }

    struct State: Sendable {
        var idp: SenseCryptIdP
        var draws: RequestDraws
    }

    /// What the IdP was told once.
    public let settings: IdPSettings
    let state: Mutex<State>
    private let keys: SigningKeys
    private let queue: RecordQueue
    private let wallClock: @Sendable () -> Instant
    /// Whether any tenant has rules switched off, so that nobody else pays for asking.
    private let rulesAreOff: Atomic<Bool>
    /// Whether the randomness is seeded, so that requests draw from stretches of their own.
    private let repeats: Bool

    /// Makes a server; what it begins with is stored before this returns.
    ///
    /// Throws ``RestoreError`` where the records are damaged, `CryptoError` where a stored key is, and
    /// whatever the store throws.
    public init(_ configuration: Configuration) throws {
        let queue = RecordQueue(store: configuration.store)
        let keys = try SigningKeys(records: configuration.records, entropy: configuration.entropy) { queue.add([$0]) }
        var entropy = EntropyStream(seed: configuration.entropy.bytes(32))
        settings = IdPSettings(
            origin: configuration.origin, apiOrigin: configuration.apiOrigin, profile: configuration.profile,
            nonceSecret: entropy.bytes(32), accessTokenKey: keys.es256.publicKey,
            attestationTrust: configuration.attestationTrust)
        let idp: SenseCryptIdP
        if configuration.records.isEmpty {
            idp = SenseCryptIdP(settings: settings, entropy: &entropy)
            queue.add(idp.durableRecords)
        } else {
            idp = try SenseCryptIdP(settings: settings, restoring: configuration.records, entropy: &entropy)
        }
        rulesAreOff = Atomic(idp.hasRulesOff)
        let draws = RequestDraws(entropy)
        state = Mutex(State(idp: idp, draws: draws))
        wallClock = configuration.wallClock
        repeats = configuration.entropy.isSeeded
        self.keys = keys
        self.queue = queue
        try queue.flush()
    }

    /// Answers a request to one of the two origins.
    ///
    /// The two flags are what the listener knows of the connection: the management API is for a loopback
    /// peer that also names a loopback host. The body should have been limited while it was read; over
    /// the profile's limit it is refused here as well. `peerAddress` is what the limit of requests counts by; without one
    /// there is no such limit.
    public func handle(
        _ request: HTTPRequest, surface: IdPSurface = .identityProvider, peerIsLoopback: Bool, hostIsLoopback: Bool,
        peerAddress: String? = nil
    ) -> HTTPResponse {
        let intake = SenseCryptIdP.intake(
            request, surface: surface,
            caller: IdPCaller(
                peerIsLoopback: peerIsLoopback, hostIsLoopback: hostIsLoopback, address: peerAddress),
            settings: settings,
            deviceKey: { tenant, kid in state.withLock { $0.idp.deviceKey(tenant: tenant, kid: kid) } },
            clientKeys: { tenant, id in state.withLock { $0.idp.clientKeys(tenant: tenant, clientID: id) } },
            attestation: { tenant, keyID in
                state.withLock { $0.idp.attestationBasis(tenant: tenant, keyID: keyID, wall: wallClock()) }
            },
            rulesOff: { tenant in
                guard rulesAreOff.load(ordering: .acquiring) else { return [] }
                return state.withLock { $0.idp.rulesOff(tenant: tenant) }
            })
        let label = repeats ? RequestDraws.label(of: request, surface: surface) : nil
        let reply = state.withLock { state in
            let now = state.idp.clock.now(wall: wallClock())
            let outcome = state.draws.drawing(for: label) { entropy in
                state.idp.handle(intake, now: now, entropy: &entropy)
            }
            queue.add(outcome.changes)
            if intake.endpoint == "manage" { rulesAreOff.store(state.idp.hasRulesOff, ordering: .releasing) }
            return outcome.reply
        }
        do {
            let response = try signed(reply)
            try queue.flush()
            return response
        } catch {
            return failure()
        }
    }

    /// The issuers there are now, in the order their tenants were made.
    public var issuers: [String] {
        state.withLock { state in state.idp.realms.keys.map { settings.issuer($0) } }
    }

    /// Everything durable as records, signing keys included: what another server can go on from.
    ///
    /// Costs as much as there is. Throws where a key cannot be written out.
    public func records() throws(CryptoError) -> [RecordChange] {
        try state.withLock { $0.idp.durableRecords } + keys.records()
    }

    /// The server's time.
    public var now: Instant { state.withLock { $0.idp.clock.now(wall: wallClock()) } }

    private func signed(_ reply: PendingReply) throws -> HTTPResponse {
        let body: [UInt8]
        switch reply.body {
        case .none: body = []
        case .bytes(let bytes): body = bytes
        case .keySet(let withRSA): body = try keys.keySet(withRSA: withRSA).json.serialized()
        case .signed(var members, let tokens):
            for (member, token) in tokens { members[member] = .string(try keys.sign(token)) }
            body = JSON.object(members).serialized()
        }
        return HTTPResponse(status: reply.status, fields: reply.fields, body: body)
    }

    /// The store or OpenSSL failed.
    ///
    /// What was consumed stays consumed; a phone repeats its completion.
    private func failure() -> HTTPResponse {
        let spelling = settings.profile.errors.serverError
        return .json(
            ["error": .string(spelling.code)], status: spelling.status, fields: ["Cache-Control": "no-store"])
    }
}
