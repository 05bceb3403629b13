/// A rule that remembers, broken: what it wants and what it found, in the words of findings and explanations alike.
struct RememberedRule: Sendable, Hashable {
    /// The rule's name behind `attestation.`.
    let rule: String
    /// What it wants.
    let expected: String
    /// What was found instead.
    let actual: String

    /// A piece of evidence that was taken before.
    static let replay = RememberedRule(
        rule: "replay", expected: "evidence not taken before", actual: "the same again")

    /// An assertion by a key no attestation was taken of.
    static let knownKey = RememberedRule(
        rule: "known_key", expected: "a key that was attested here", actual: "another key")

    /// An assertion's counter, which must be above the last one of its key.
    static func counter(_ counter: Int64, after known: Int64) -> RememberedRule {
        RememberedRule(rule: "counter", expected: "a counter above \(known)", actual: "\(counter)")
    }
}
