import Encoding
import Engine
import Scenario
import Synchronization

/// One run of scenarios, told line by line in the order of the files.
struct TestRun: Sendable {
    let suite: ScenarioSuite
    let expected: ExpectedFailures?
    let artefacts: TestArtefacts
    let output: Output

    /// Plays them.
    func play(_ scenarios: [Scenario], broken: [BrokenFile]) async -> Report {
        let began = SystemClock().now()
        let today = String(CalendarTime(began).iso8601.prefix(10))
        let order = Mutex(InOrder(scenarios.map(\.file)))
        let results = await suite.play(scenarios) { result in
            let each = Report.Case(expected?.judged(result, today: today) ?? result)
            let ready = order.withLock { $0.take(each, result.scenario.file) }
            for each in ready {
                let lines = TestLines(each, again: again(each), key: artefacts.key, style: output.style)
                output.say(lines.lines)
            }
        }
        let judged = results.map { expected?.judged($0, today: today) ?? $0 }
        return Report(
            title: "understudy test", version: suite.version, startedAt: began, opponent: opponent,
            cases: broken.map { Report.Case($0) } + judged.map { Report.Case($0) })
    }

    /// Says how many ended how.
    func sumUp(_ report: Report) {
        if output.isJSON {
            output.document(TestDocument.json(report, seed: seed, key: artefacts.key))
        } else {
            output.say(TestLines.sum(report, seed: seed))
        }
    }

    private var seed: String { suite.seed ?? "\(ScenarioSuite.standardSeed), unless a file has its own" }

    /// The command that plays one case alone; at an issuer elsewhere a new ticket is needed besides.
    private func again(_ each: Report.Case) -> String {
        let place =
            switch suite.opponent {
            case .reference: "--seed '\(each.seed ?? "")'"
            case .staging(let issuer, let client, let resource, _, _):
                "--issuer \(issuer) --client \(client)" + (resource.map { " --resource \($0)" } ?? "")
            }
        return "understudy test \(place) \(each.file ?? "")"
    }

    private var opponent: String {
        switch suite.opponent {
        case .reference: "a reference IdP for each"
        case .staging(let issuer, _, _, _, _): issuer
        }
    }
}

/// Gives what comes in any order in the order it should be told.
private struct InOrder {
    private let files: [String]
    private var early: [String: Report.Case] = [:]
    private var next = 0

    init(_ files: [String]) { self.files = files }

    /// Takes one that ended, and gives those whose turn it is.
    mutating func take(_ each: Report.Case, _ file: String) -> [Report.Case] {
        early[file] = each
        var ready: [Report.Case] = []
        while next < files.count, let each = early.removeValue(forKey: files[next]) {
            ready.append(each)
            next += 1
        }
        return ready
    }
}
