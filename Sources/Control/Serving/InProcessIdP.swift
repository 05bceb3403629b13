public import Crypto
public import Encoding
public import Engine
public import HTTP
public import Profiles
public import ReferenceIdP
import Synchronization

/// A reference IdP without listeners: plugged into an engine's network, it answers at fixed origins.
///
/// No port is opened, so none appears by chance, and many worlds can use the same origins at once.
public final class InProcessIdP: IdPHost {
    /// Where it is, and as whom.
    public let served: ServedIdP
    /// The name its records go by.
    public let name = "sensecrypt"
    private let current: Mutex<Current>

    private struct Current {
        var configuration: ReferenceIdPServer.Configuration
        var idp: ReferenceIdPServer
    }

    /// The IdP itself.
    public var idp: ReferenceIdPServer { current.withLock { $0.idp } }

    /// Makes an IdP at two origins, with the randomness and the wall clock of a world.
    ///
    /// Throws what making the IdP throws.
    public init(
        origin: String = "http://127.0.0.1:7421", apiOrigin: String = "http://127.0.0.1:7422",
        entropy: Entropy = .system, clock: any WallClock = WorldClock(), profile: SenseCryptProfile = .builtIn
    ) throws {
        // Derived, so that an IdP put back to its seed draws what it drew in the beginning.
        let configuration = ReferenceIdPServer.Configuration(
            origin: origin, apiOrigin: apiOrigin, profile: profile, entropy: entropy, wallClock: { clock.now() })
        let idp = try Self.make(configuration, from: [])
        current = Mutex(Current(configuration: configuration, idp: idp))
        served = ServedIdP(system: "sensecrypt", origin: origin, api: apiOrigin, issuers: idp.issuers)
    }

    /// Goes on from records, or with none from its seed.
    public func restart(from records: [RecordChange]) throws {
        let next = try Self.make(current.withLock { $0.configuration }, from: records)
        current.withLock { $0.idp = next }
    }

    /// Begins anew from its seed, trusting these roots for evidence about apps; kept through every restart.
    public func restart(trusting roots: AttestationTrust) throws {
        var configuration = current.withLock { $0.configuration }
        configuration.attestationTrust = roots
        let next = Current(configuration: configuration, idp: try Self.make(configuration, from: []))
        current.withLock { $0 = next }
    }

    private static func make(
        _ configuration: ReferenceIdPServer.Configuration, from records: [RecordChange]
    ) throws -> ReferenceIdPServer {
        var configuration = configuration
        configuration.entropy = configuration.entropy.derived("identity provider")
        configuration.records = records
        return try ReferenceIdPServer(configuration)
    }

    /// Answers at its origins for an engine that is yet to be made.
    public func join(_ servers: inout InProcessServers) {
        for (origin, surface) in [(served.origin, IdPSurface.identityProvider), (served.api, .resourceAPI)] {
            servers.add(origin) { request in
                // It comes from this process, and names the origin it was sent to.
                self.idp.handle(
                    request, surface: surface, peerIsLoopback: true, hostIsLoopback: true, peerAddress: "127.0.0.1")
            }
        }
    }
}

extension IdPHost {
    /// Calls the management API; a body is sent as JSON.
    public func manage(_ method: String, _ path: String, _ body: JSON? = nil) -> HTTPResponse {
        let request = HTTPRequest(
            method: method, target: "/manage" + path, fields: ["Content-Type": "application/json"],
            body: body?.serialized() ?? [])
        return idp.handle(request, peerIsLoopback: true, hostIsLoopback: true)
    }
}
