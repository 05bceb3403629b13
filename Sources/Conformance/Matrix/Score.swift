/// Collects what the probes of one row came to.
final class Score {
    private(set) var probes: [ProbeResult] = []
    private var reasons: [String] = []

    /// Notes that something was not judged.
    func skip(_ reason: String) { if !reasons.contains(reason) { reasons.append(reason) } }

    /// Notes a probe by whether it went as it should.
    func check(_ probe: String, _ holds: Bool, expected: String, got: String, otherwise: Verdict = .fail) {
        probes.append(
            ProbeResult(probe: probe, expected: expected, got: got, verdict: holds ? .pass : otherwise))
    }

    /// Notes an answer that should be a refusal.
    ///
    /// `errors` begins with the first choice; the others are left open by the descriptions and warn.
    func refused(_ probe: String, _ answer: Answer, _ statuses: [Int], _ errors: [String]) {
        let verdict: Verdict
        if answer.isAccepted || answer.status >= 500 || !statuses.contains(answer.status) {
            verdict = .fail
        } else if let error = answer.error, let place = errors.firstIndex(of: error) {
            verdict = place == 0 ? .pass : .warn
        } else {
            verdict = .fail
        }
        probes.append(
            ProbeResult(
                probe: probe,
                expected: "\(statuses.map(String.init).joined(separator: " or ")) \(errors.joined(separator: " or "))",
                got: answer.summary, verdict: verdict))
    }

    /// Notes an answer that should go through.
    func accepted(_ probe: String, _ answer: Answer, otherwise: Verdict = .fail) {
        check(probe, answer.isAccepted, expected: "accepted", got: answer.summary, otherwise: otherwise)
    }

    /// The row, once all is noted.
    func row(_ row: Row, fault: ProbeFault?) -> RowResult {
        var reasons = reasons
        var probes = probes
        switch fault {
        case nil: break
        case .missing(let what): reasons.append(what)
        case .some(let other):
            probes.append(
                ProbeResult(
                    probe: "what the row begins with", expected: "works", got: other.description, verdict: .fail))
        }
        let order: [Verdict] = [.fail, .warn, .pass]
        let verdict = order.first { verdict in probes.contains { $0.verdict == verdict } } ?? .skipped
        return RowResult(
            rule: row.rule, source: row.source, wanted: row.wanted, verdict: verdict, probes: probes,
            reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "))
    }
}
