import Encoding

/// The newest attestation challenge of each server, until it may have ended; one that has ended is kept for wrong evidence.
struct ChallengeBook: Sendable {
    /// How long a challenge is used, in seconds: shorter than a server takes it (SenseCrypt wire, section 14).
    static let lifetime: Int64 = 240
    /// How old a challenge is that no server takes any more, in seconds.
    static let ended: Int64 = 300
    /// More origins than any sign-in meets; the oldest is forgotten first.
    static let originLimit = 64

    private struct Entry {
        var challenge: String
        var received: Instant
        /// The one before it, and when it was received.
        var before: (challenge: String, received: Instant)?
    }

    private var entries: [String: Entry] = [:]
    private var order: [String] = []

    /// The newest challenge of a server that may still be good.
    func newest(of origin: String, at now: Instant) -> String? {
        guard let entry = entries[origin] else { return nil }
        let age = now.seconds - entry.received.seconds
        return (0...Self.lifetime).contains(age) ? entry.challenge : nil
    }

    /// A challenge of the server that has ended for certain; nil where none is known.
    func ended(of origin: String, at now: Instant) -> String? {
        guard let entry = entries[origin] else { return nil }
        let known = [(entry.challenge, entry.received)] + (entry.before.map { [$0] } ?? [])
        return known.first { now.seconds - $0.1.seconds > Self.ended }?.0
    }

    /// Records the challenge an answer brought.
    mutating func record(_ challenge: String, of origin: String, at now: Instant) {
        if let known = entries[origin] {
            let before = known.challenge == challenge ? known.before : (known.challenge, known.received)
            entries[origin] = Entry(challenge: challenge, received: now, before: before)
            return
        }
        entries[origin] = Entry(challenge: challenge, received: now)
        order.append(origin)
        if order.count > Self.originLimit { entries[order.removeFirst()] = nil }
    }
}
