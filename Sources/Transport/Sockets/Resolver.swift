import Glibc
import Synchronization

/// Host names to addresses by the system's `getaddrinfo`, which blocks and therefore never runs on a loop.
///
/// At most four threads exist, only while there is work. IP literals and `localhost` names take no thread.
final class Resolver: Sendable {
    static let shared = Resolver()

    private static let maximumThreads = 4
    private static let maximumWaiting = 1024

    private struct Lookup: Sendable {
        let host: String
        let port: Int
        let completion: @Sendable (Answer) -> Void
    }

    /// Addresses to try in order, or the reason why there are none.
    enum Answer: Sendable {
        case addresses([SocketAddress])
        case failed(String)
    }

    private struct State {
        var threads = 0
        var waiting: [Lookup] = []
    }

    private let state = Mutex(State())

    /// What needs no lookup: IP literals, and the names RFC 6761 (section 6.3) reserves for this machine.
    static func immediate(host: String, port: Int) -> [SocketAddress]? {
        if let literal = SocketAddress(literal: bare(host), port: port) { return [literal] }
        guard isLocalhostName(host) else { return nil }
        return ["127.0.0.1", "::1"].compactMap { SocketAddress(literal: $0, port: port) }
    }

    /// True for `localhost` and names below it.
    static func isLocalhostName(_ host: String) -> Bool {
        let name = host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// A host without the brackets an IPv6 literal wears in a URL.
    static func bare(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    /// Looks a name up on a thread of its own; `completion` runs there.
    func resolve(host: String, port: Int, completion: @escaping @Sendable (Answer) -> Void) {
        let lookup = Lookup(host: host, port: port, completion: completion)
        enum Plan { case start, wait, refuse }
        let plan: Plan = state.withLock { state in
            guard state.waiting.count < Self.maximumWaiting else { return .refuse }
            state.waiting.append(lookup)
            guard state.threads < Self.maximumThreads else { return .wait }
            state.threads += 1
            return .start
        }
        switch plan {
        case .start: Threads.start(name: "understudy-dns") { self.work() }
        case .wait: break
        case .refuse: completion(.failed("too many name lookups are waiting"))
        }
    }

    private func work() {
        while let lookup = next() { lookup.completion(Self.look(up: lookup.host, port: lookup.port)) }
    }

    private func next() -> Lookup? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private static func look(up host: String, port: Int) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else { return .failed(String(cString: gai_strerror(status)).lowercased()) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry?.pointee, addresses.count < 16 {
            if let address = info.ai_addr, info.ai_family == AF_INET || info.ai_family == AF_INET6 {
                addresses.append(SocketAddress(address, length: info.ai_addrlen).with(port: port))
            }
            entry = info.ai_next
        }
        return addresses.isEmpty ? .failed("the name has no address") : .addresses(addresses)
    }
}
