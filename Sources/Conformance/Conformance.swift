import Encoding

/// Judging an identity provider by the rules of the descriptions: every refusal and every repetition that a good one
/// must answer in its own way.
public enum Conformance {
    /// The rules there are rows for, in the order they are judged: name, source, and what must hold.
    public static var rules: [(rule: String, source: String, wanted: String)] {
        Row.all.map { ($0.rule, $0.source, $0.wanted) }
    }

    /// Runs the rows against a server.
    ///
    /// First a plain sign-in; where that does not work nothing is judged, and the fault is thrown. `progress` is told of
    /// every row as it is done. What the run made over the management API is taken away again.
    public static func run(
        _ setup: ConformanceSetup, progress: @Sendable (RowResult) async -> Void = { _ in }
    ) async throws(ProbeFault) -> Matrix {
        let lab = Lab(setup)
        try await plainSignIn(lab)
        var results: [RowResult] = []
        for row in Row.all where setup.only?.contains(row.rule) ?? true {
            let result = await judge(row, lab)
            results.append(result)
            await progress(result)
        }
        await lab.tidy()
        return Matrix(issuer: lab.issuer, clientID: setup.clientID, rows: results)
    }

    /// The four calls, a refresh and a call of the API, as far as they are offered.
    private static func plainSignIn(_ lab: Lab) async throws(ProbeFault) {
        let tokens = try await ProbeFlow(lab).finish()
        if let refresh = tokens.refresh {
            let answer = try await lab.refresh(refresh)
            guard answer.status == 200 else { throw .broken("a plain refresh was answered \(answer.summary)") }
        }
        guard lab.setup.api != nil else { return }
        let answer = try await lab.callAPI(tokens.access)
        guard answer.isAccepted else { throw .broken("a plain call of the API was answered \(answer.summary)") }
    }

    private static func judge(_ row: Row, _ lab: Lab) async -> RowResult {
        let score = Score()
        do throws(ProbeFault) {
            try await row.probes(lab, score)
            return score.row(row, fault: nil)
        } catch {
            lab.forgetStages()
            return score.row(row, fault: error)
        }
    }
}
