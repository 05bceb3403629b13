import Store

/// The newest `DPoP-Nonce` of each server, kept apart for authorization servers and resource servers.
///
/// RFC 9449 sections 8.2 and 9: a nonce belongs to the server that gave it, and only the newest is used. What is new
/// here is written to the store with the next thing that is, so that the next process need not ask for a nonce.
struct NonceBook: Sendable {
    /// A server in one of its two roles; one origin may be both, with nonces of its own for each.
    struct Server: Hashable, Sendable {
        let role: NonceRole
        let origin: String
    }

    /// More origins than any sign-in meets; the oldest is forgotten first.
    static let originLimit = 64
    private var nonces: [Server: String] = [:]
    private var order: [Server] = []
    private var unsavedServers: Set<Server> = []

    /// The newest nonce of a server, if it gave one.
    func newest(_ role: NonceRole, _ origin: String) -> String? { nonces[Server(role: role, origin: origin)] }

    /// A nonce of any server in a role, the longest known first.
    func newest(_ role: NonceRole) -> String? {
        order.first { $0.role == role }.flatMap { nonces[$0] }
    }

    /// Records the nonce a response carried.
    mutating func record(_ nonce: String, _ role: NonceRole, _ origin: String) {
        let server = Server(role: role, origin: origin)
        guard nonces[server] != nonce else { return }
        unsavedServers.insert(server)
        keep(nonce, of: server)
    }

    /// Takes up a nonce an earlier process has stored, unless there is a newer one.
    mutating func recall(_ nonce: String, _ role: NonceRole, _ origin: String) {
        let server = Server(role: role, origin: origin)
        if nonces[server] == nil { keep(nonce, of: server) }
    }

    /// What the store has not seen.
    var unsaved: [(server: Server, nonce: String)] {
        unsavedServers.compactMap { server in nonces[server].map { (server, $0) } }
    }

    /// The store has seen everything.
    mutating func markSaved() { unsavedServers = [] }

    private mutating func keep(_ nonce: String, of server: Server) {
        guard nonces.updateValue(nonce, forKey: server) == nil else { return }
        order.append(server)
        guard order.count > Self.originLimit else { return }
        let forgotten = order.removeFirst()
        nonces[forgotten] = nil
        unsavedServers.remove(forgotten)
    }
}
