/// What a row of the matrix comes to.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// The server keeps the rule.
    case pass
    /// It keeps the rule in another way than the first choice of the descriptions, which leave it open.
    case warn
    /// It breaks the rule.
    case fail
    /// Nothing was judged; the reason says what is missing.
    case skipped
}

/// One request, or a few that belong together, and what the server made of it.
public struct ProbeResult: Sendable, Hashable {
    /// What was done, such as `typ-jwt at token`.
    public let probe: String
    /// What a good server does.
    public let expected: String
    /// What this one did; holds no secret.
    public let got: String
    /// What that comes to.
    public let verdict: Verdict
}

/// One rule and whether a server keeps it.
public struct RowResult: Sendable, Hashable {
    /// The rule's stable dotted name.
    public let rule: String
    /// Where the rule is stated.
    public let source: String
    /// What must hold, in words.
    public let wanted: String
    /// The worst of its probes.
    public let verdict: Verdict
    /// Every probe, in the order they were made.
    public let probes: [ProbeResult]
    /// Why nothing, or not all, was judged.
    public let reason: String?

    /// The probe the verdict is about: the first of the worst.
    public var decisive: ProbeResult? { probes.first { $0.verdict == verdict } }
}
