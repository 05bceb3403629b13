public import Crypto
import Encoding
public import Engine
import HTTP
public import Profiles
public import ReferenceIdP
public import Store
import Synchronization
public import Transport

/// A reference IdP that listens: its issuers on one port, its resource API on another.
public final class IdPService: IdPHost {
    /// Where and as whom a reference IdP listens.
    public struct Configuration: Sendable {
        /// The address to bind; loopback unless a person says otherwise.
        public var bind = "127.0.0.1"
        /// The issuers' port; 0 lets the system choose.
        public var port = 0
        /// The resource API's port; 0 lets the system choose.
        public var apiPort = 0
        /// Where its tenants, users and grants are kept; nil keeps them in memory alone.
        public var store: Store?
        /// Its name in the store, one for each IdP of a state directory.
        public var name = "sensecrypt"
        /// Where its keys, codes and tokens come from.
        public var entropy = Entropy.system
        /// The wall clock its own clock stands on.
        public var clock: any WallClock = WorldClock()
        /// Whose word about calling apps its tenants take that name nobody themselves.
        public var attestationTrust = AttestationTrust()
        /// The names and numbers of the wire.
        public var profile = SenseCryptProfile.builtIn

        /// A reference IdP on loopback, on ports the system chooses, in memory.
        public init() {}
    }

    /// Where it listens.
    public let served: ServedIdP
    private let configuration: Configuration
    private let handlers: [IdPHandler]
    private let issuers: HTTPServer
    private let api: HTTPServer
    private let current: Mutex<ReferenceIdPServer>

    /// The IdP itself.
    public var idp: ReferenceIdPServer { current.withLock { $0 } }

    /// Has somebody told of every change by its management API, before the one who made it has the answer.
    public func onChange(_ tell: @escaping @Sendable () -> Void) { for handler in handlers { handler.onChange(tell) } }

    /// The name its records go by.
    public var name: String { configuration.name }

    /// Opens both ports, then starts the IdP with the addresses they got.
    ///
    /// Throws `TransportError.portInUse` and its like, or what reading the stored records throws.
    public static func start(
        _ configuration: Configuration, loops: EventLoopGroup = .shared
    ) async throws -> IdPService {
        let issuersHandler = IdPHandler(surface: .identityProvider)
        let apiHandler = IdPHandler(surface: .resourceAPI)
        let issuers = try await HTTPServer.start(
            ServerConfiguration(host: configuration.bind, port: configuration.port), loops: loops,
            handler: issuersHandler)
        let api = try await HTTPServer.start(
            ServerConfiguration(host: configuration.bind, port: configuration.apiPort), loops: loops,
            handler: apiHandler)
        let idp = try ReferenceIdPServer(
            provider(configuration, origin: origin(of: issuers), apiOrigin: origin(of: api)))
        issuersHandler.open(idp)
        apiHandler.open(idp)
        return IdPService(
            configuration, idp: idp, handlers: [issuersHandler, apiHandler], issuers: issuers, api: api)
    }

    /// Goes on from records, or with none from its seed, at the same addresses.
    public func restart(from records: [RecordChange]) throws {
        var provider = try Self.provider(configuration, origin: served.origin, apiOrigin: served.api)
        provider.records = records
        let next = try ReferenceIdPServer(provider)
        current.withLock { $0 = next }
        for handler in handlers { handler.open(next) }
    }

    private static func provider(
        _ configuration: Configuration, origin: String, apiOrigin: String
    ) throws -> ReferenceIdPServer.Configuration {
        var provider = ReferenceIdPServer.Configuration(origin: origin, apiOrigin: apiOrigin)
        // Derived, so that an IdP put back to its seed draws what it drew in the beginning.
        provider.entropy = configuration.entropy.derived("identity provider")
        provider.profile = configuration.profile
        provider.attestationTrust = configuration.attestationTrust
        let clock = configuration.clock
        provider.wallClock = { clock.now() }
        guard let store = configuration.store else { return provider }
        let name = configuration.name
        provider.records = try store.read { reader in
            var stored: [IdPRecord] = []
            try reader.forEachIdPRecord(name) { stored.append($0) }
            return try stored.map { record in
                guard let kind = RecordChange.Kind(rawValue: record.kind) else {
                    throw UnknownRecord(kind: record.kind)
                }
                return RecordChange(kind: kind, key: record.key, value: record.value)
            }
        }
        provider.store = { changes in
            try store.write { writer in
                for change in changes {
                    if let value = change.value {
                        try writer.upsertIdPRecord(
                            IdPRecord(kind: change.kind.rawValue, key: change.key, value: value), of: name)
                    } else {
                        try writer.deleteIdPRecord(name, kind: change.kind.rawValue, key: change.key)
                    }
                }
            }
        }
        return provider
    }

    private static func origin(of server: HTTPServer) -> String {
        AdvertisedAddress.origin(host: server.host, port: server.port)
    }

    private init(
        _ configuration: Configuration, idp: ReferenceIdPServer, handlers: [IdPHandler], issuers: HTTPServer,
        api: HTTPServer
    ) {
        self.configuration = configuration
        self.handlers = handlers
        current = Mutex(idp)
        self.issuers = issuers
        self.api = api
        let origin = idp.settings.origin
        served = ServedIdP(
            system: "sensecrypt", origin: origin, api: idp.settings.apiOrigin,
            issuers: idp.issuers)
    }

    /// Lets requests under way be answered and closes both ports.
    public func shutdown() async {
        await issuers.shutdown()
        await api.shutdown()
    }
}

/// A stored record this build knows nothing of: the state directory was used by a newer one.
public struct UnknownRecord: Error, CustomStringConvertible {
    /// The record's kind.
    public let kind: String

    /// Names the kind and what to do.
    public var description: String {
        "the state directory holds reference IdP records of kind '\(kind)', which this build does not know"
    }
}

/// Hands what arrives at one port to the IdP.
private final class IdPHandler: RequestHandler {
    private let surface: IdPSurface
    private let idp = Mutex<ReferenceIdPServer?>(nil)
    private let changed = Mutex<(@Sendable () -> Void)?>(nil)

    init(surface: IdPSurface) { self.surface = surface }

    /// The IdP needs to know its ports before it exists, so the ports open first.
    func open(_ server: ReferenceIdPServer) { idp.withLock { $0 = server } }

    func onChange(_ tell: @escaping @Sendable () -> Void) { changed.withLock { $0 = tell } }

    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        guard let idp = idp.withLock({ $0 }) else { return reply.send(HTTPResponse(status: 503)) }
        let response = idp.handle(
            request, surface: surface, peerIsLoopback: peer.isLoopback,
            hostIsLoopback: LoopbackRule.hostIsLoopback(request, from: peer), peerAddress: peer.address)
        // Before the answer, so that who reads it finds everybody told.
        if request.method != "GET", request.target.hasPrefix("/manage/"), response.status < 300 {
            changed.withLock { $0 }?()
        }
        reply.send(response)
    }
}
