public import Encoding

/// One refusal as the person who runs the IdP should see it: the rule, what it wanted, what came.
///
/// The caller is told only what the protocol allows; the finding says the rest. It holds no token, code,
/// key or proof, only names and public facts.
public struct Finding: Sendable, Hashable {
    /// When, by the server's clock.
    public let at: Instant
    /// A stable dotted name, such as `completion.generation`.
    public let rule: String
    /// What the rule wanted, in words.
    public let expected: String
    /// What the request had, in words.
    public let actual: String
    /// The endpoint, such as `token`.
    public let endpoint: String
    /// The tenant, where the path named one.
    public let tenant: String?
    /// The client, where the request named one.
    public let clientID: String?

    /// The finding as an entry of `GET /manage/findings`.
    public var json: JSON {
        .object([
            ("at", .int(at.seconds)), ("rule", .string(rule)), ("expected", .string(expected)),
            ("actual", .string(actual)), ("endpoint", .string(endpoint)),
            ("tenant", tenant.map(JSON.string) ?? .null), ("client_id", clientID.map(JSON.string) ?? .null),
        ])
    }
}

/// The newest findings; an old one makes room for a new one.
struct FindingRing: Sendable {
    let capacity: Int
    private var slots: [Finding] = []
    /// How many were ever recorded; also the sequence number of the newest.
    private(set) var total = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func record(_ finding: Finding) {
        if slots.count < capacity { slots.append(finding) } else { slots[total % capacity] = finding }
        total += 1
    }

    /// Up to `limit` findings behind a sequence number, oldest first, each with its number.
    func since(_ sequence: Int, limit: Int) -> [(sequence: Int, finding: Finding)] {
        let oldest = total - slots.count
        let start = max(oldest, min(sequence, total))
        return (start..<min(total, start + limit)).map { ($0 + 1, slots[$0 % capacity]) }
    }

    /// The newest `limit` findings, oldest first, each with its number.
    func newest(limit: Int) -> [(sequence: Int, finding: Finding)] {
        since(total - min(limit, slots.count), limit: limit)
    }
}
