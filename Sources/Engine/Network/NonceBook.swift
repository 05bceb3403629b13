/// The newest `DPoP-Nonce` of each server, kept apart for authorization servers and resource servers.
///
/// RFC 9449 sections 8.2 and 9: a nonce belongs to the server that gave it, and only the newest is used.
struct NonceBook: Sendable {
    /// What a server is to the phone; one origin may be both, with nonces of its own for each.
    enum Role: String, Sendable, Hashable { case authorizationServer, resourceServer }

    private struct Server: Hashable {
        let role: Role
        let origin: String
    }

    /// More origins than any sign-in meets; the oldest is forgotten first.
    static let originLimit = 64
    private var nonces: [Server: String] = [:]
    private var order: [Server] = []

    /// The newest nonce of a server, if it gave one.
    func newest(_ role: Role, _ origin: String) -> String? { nonces[Server(role: role, origin: origin)] }

    /// Records the nonce a response carried.
    mutating func record(_ nonce: String, _ role: Role, _ origin: String) {
        let server = Server(role: role, origin: origin)
        guard nonces.updateValue(nonce, forKey: server) == nil else { return }
        order.append(server)
        guard order.count > Self.originLimit else { return }
        nonces[order.removeFirst()] = nil
    }
}
