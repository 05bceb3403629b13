public import Encoding

/// Evidence that was taken before, for the rules that remember: which pieces, and each App Attest key with its counter.
///
/// What is remembered is taken at its word: neither whom it goes back to nor what it is bound to is judged.
public struct EvidenceMemory: Sendable {
    /// An App Attest key, as earlier evidence shows it.
    struct Key: Sendable, Hashable {
        /// The key's X9.63 point, once an attestation of it was remembered.
        var point: [UInt8]?
        /// The greatest counter.
        var counter: Int64 = 0
    }

    private var pieces: Set<[UInt8]> = []
    /// By key id, in standard base64.
    private var keys: [String: Key] = [:]
    /// The greatest counter of assertions that name no key.
    private var unnamedCounter: Int64?

    /// Remembers nothing yet.
    public init() {}

    /// Whether nothing is remembered.
    public var isEmpty: Bool { pieces.isEmpty }

    /// Remembers a piece of evidence; `trust` holds the keys Play Integrity tokens are opened with.
    ///
    /// Throws ``EvidenceQuestionError`` where it cannot be read to its end, with the field that is in the way.
    public mutating func remember(
        _ question: EvidenceQuestion, trust: AttestationTrust, now: Instant
    ) throws(EvidenceQuestionError) {
        let expected = EvidenceExpectations(trust: trust, now: now)
        var look = EvidenceLook(format: question.evidence.format, expected: expected)
        do throws(EvidenceUnreadable) {
            try look.examine(question.evidence.body)
        } catch {
            let words = look.found.faults.last.map { "\($0.name): \($0.value), expected \($0.expected)" }
            throw EvidenceQuestionError(description: words ?? "it cannot be read")
        }
        let facts = look.facts
        pieces.insert(facts.identity)
        guard let id = facts.keyID else {
            if let counter = facts.counter { unnamedCounter = max(unnamedCounter ?? 0, counter) }
            return
        }
        var key = keys[id] ?? Key()
        key.point = facts.point ?? key.point
        key.counter = max(key.counter, facts.counter ?? 0)
        keys[id] = key
    }

    /// Whether this very piece was taken before.
    func contains(_ facts: EvidenceFacts) -> Bool { pieces.contains(facts.identity) }

    /// The keys whose attestation is remembered: id and point, in the order of the ids.
    var attestedKeys: [(id: String, point: [UInt8])] {
        keys.sorted { $0.key < $1.key }.compactMap { key in key.value.point.map { (key.key, $0) } }
    }

    /// What is known of the last counter of a key.
    enum LastCounter: Sendable, Hashable {
        /// Nothing of this key is remembered.
        case unknown
        /// The greatest one that is known to be the key's; `isCertain` where no other could be.
        case known(Int64, isCertain: Bool)
    }

    /// The last counter of the key of this id, or of a key that is not named.
    ///
    /// While there is one key alone, what names none is its.
    func lastCounter(of id: String?) -> LastCounter {
        let isOneKey = Set(keys.keys).union(id.map { [$0] } ?? []).count <= 1
        let named = (id ?? (isOneKey ? keys.keys.first : nil)).flatMap { keys[$0]?.counter }
        guard isOneKey else { return named.map { .known($0, isCertain: unnamedCounter == nil) } ?? .unknown }
        return [named, unnamedCounter].compactMap(\.self).max().map { .known($0, isCertain: true) } ?? .unknown
    }
}
