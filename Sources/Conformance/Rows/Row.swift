/// One rule and the probes that judge whether a server keeps it.
struct Row: Sendable {
    typealias Probes = @Sendable (Lab, Score) async throws(ProbeFault) -> Void

    /// The rule's stable dotted name.
    let rule: String
    /// Where it is stated.
    let source: String
    /// What must hold, in words.
    let wanted: String
    /// Judges it.
    let probes: Probes

    init(_ rule: String, _ source: String, _ wanted: String, _ probes: @escaping Probes) {
        self.rule = rule
        self.source = source
        self.wanted = wanted
        self.probes = probes
    }

    /// Every row, in the order they are run: what moves the clock or stops the tenant comes last.
    static let all: [Row] =
        proofs + nonces + starts + clients + ceremonies + completions + codes + refreshing + api + assertions + answers
        + enrolments + people + withdrawals + attestations + times
}
