public import Crypto
public import Encoding
public import Engine
public import HTTP
public import Profiles
public import ReferenceIdP

/// A reference IdP without listeners: plugged into an engine's network, it answers at fixed origins.
///
/// No port is opened, so none appears by chance, and many worlds can use the same origins at once.
public final class InProcessIdP: Sendable {
    /// Where it is, and as whom.
    public let served: ServedIdP
    /// The IdP itself.
    public let idp: ReferenceIdPServer

    /// Makes an IdP at two origins, with the randomness and the wall clock of a world.
    ///
    /// Throws what making the IdP throws.
    public init(
        origin: String = "http://127.0.0.1:7421", apiOrigin: String = "http://127.0.0.1:7422",
        entropy: Entropy = .system, clock: any WallClock = WorldClock(), profile: SenseCryptProfile = .builtIn
    ) throws {
        idp = try ReferenceIdPServer(
            ReferenceIdPServer.Configuration(
                origin: origin, apiOrigin: apiOrigin, profile: profile, entropy: entropy,
                wallClock: { clock.now() }))
        served = ServedIdP(system: "sensecrypt", origin: origin, api: apiOrigin, issuers: idp.issuers)
    }

    /// Answers at its origins for an engine that is yet to be made.
    public func join(_ servers: inout InProcessServers) {
        let idp = idp
        for (origin, surface) in [(served.origin, IdPSurface.identityProvider), (served.api, .resourceAPI)] {
            servers.add(origin) { request in
                // It comes from this process, and names the origin it was sent to.
                idp.handle(
                    request, surface: surface, peerIsLoopback: true, hostIsLoopback: true, peerAddress: "127.0.0.1")
            }
        }
    }

    /// Calls the management API; a body is sent as JSON.
    public func manage(_ method: String, _ path: String, _ body: JSON? = nil) -> HTTPResponse {
        let request = HTTPRequest(
            method: method, target: "/manage" + path, fields: ["Content-Type": "application/json"],
            body: body?.serialized() ?? [])
        return idp.handle(request, peerIsLoopback: true, hostIsLoopback: true)
    }
}
