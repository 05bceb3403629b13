import Control
import Encoding
import Engine
import HTTP

/// One scenario being played on its stage: sets it, plays step after step, and stops at the first disappointment.
actor Play {
    /// Longest a call of the control API may take, in seconds of real time.
    private static let patience = 60

    let scenario: Scenario
    let stage: Stage
    var people = Names()
    /// The newest sign-in of each phone.
    var lastFlow: [String: String] = [:]
    /// The tickets that are left, where they were given beforehand.
    var tickets: ArraySlice<String> = []
    /// The private key of a confidential client.
    var clientKey: JSON?
    private var result: ScenarioResult
    private var lastEntry: Int64 = 0
    /// What each sign-in has done in earlier steps.
    private var flows: [String: [JSON]] = [:]

    init(_ scenario: Scenario, on stage: Stage, seed: String) {
        self.scenario = scenario
        self.stage = stage
        if case .given(let tickets) = stage.target.tickets { self.tickets = tickets[...] }
        result = ScenarioResult(scenario: scenario, outcome: .passed, seed: seed)
    }

    /// Plays it and tells what came of it.
    func played() async -> ScenarioResult {
        let start = ContinuousClock.now
        do {
            try await prepare()
            result.journal += await newEntries()
            for step in scenario.steps { for _ in 0..<step.times { try await play(step) } }
        } catch let disappointment as Disappointment {
            result.outcome = .failed(disappointment)
        } catch {
            result.outcome = .error("\(error)")
        }
        await stage.end()
        result.journal += await newEntries()
        if stage.idp == nil { result.unjudged = scenario.expectedOfReferenceAlone }
        result.exchanges = stage.log.all
        result.milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return result
    }

    private func play(_ step: Scenario.Step) async throws {
        let before = (findings: stage.findingCount, exchanges: stage.log.count)
        var seen = StepResult(title: step.title, number: step.number, place: step.place)
        do {
            let deeds = try await perform(step)
            // What nobody waits for, such as a revocation, belongs to the step that caused it.
            await stage.engine.settle(within: 5000)
            seen.journal = await newEntries()
            seen.findings = stage.findings(after: before.findings)
            result.journal += seen.journal
            remember(seen.journal)
            let paths = stage.log.paths(after: before.exchanges)
            for (part, deed) in deeds {
                try await judge(part, deed, seen, paths: paths, amongOthers: deeds.count > 1)
            }
            result.steps.append(seen)
        } catch {
            seen.holds = false
            result.steps.append(seen)
            throw error
        }
    }

    /// What a step does: one thing, or its parts at once, each with what it came to, in the order of the file.
    private func perform(_ step: Scenario.Step) async throws -> [(Scenario.Step, Deed)] {
        guard !step.parts.isEmpty else { return [(step, try await performed(step))] }
        return try await withThrowingTaskGroup(of: (Int, Deed).self) { group in
            for (index, part) in step.parts.enumerated() {
                group.addTask { (index, try await self.performed(part)) }
            }
            var deeds: [Int: Deed] = [:]
            for try await (index, deed) in group { deeds[index] = deed }
            return step.parts.enumerated().compactMap { index, part in deeds[index].map { (part, $0) } }
        }
    }

    private func judge(
        _ step: Scenario.Step, _ deed: Deed, _ seen: StepResult, paths: [String], amongOthers: Bool
    ) async throws {
        let entries = seen.journal.filter { !amongOthers || deed.device == nil || $0["device"]?.string == deed.device }
        let steps = entries.map { $0["step"] ?? $0 }
        var evidence = Evidence(
            deed: deed, steps: steps + Evidence.apiCalls(deed.document, steps),
            flow: deed.flow.flatMap { flows[$0] } ?? steps, findings: stage.idp == nil ? nil : seen.findings,
            paths: paths)
        if let device = deed.device { evidence.stored = await stored(device) }
        try Verdict(step: step, evidence: evidence).check()
    }

    private func remember(_ entries: [JSON]) {
        for entry in entries {
            guard let flow = entry["flow"]?.string, let step = entry["step"] else { continue }
            flows[flow, default: []].append(step)
        }
    }

    /// The entries of the journal that are new since this was last asked.
    private func newEntries() async -> [JSON] {
        let entries = await call("GET", "/v1/journal?after=\(lastEntry)&limit=10000").document["entries"]?.array ?? []
        // A journal that was put back begins anew.
        lastEntry = entries.last?["sequence"]?.int ?? lastEntry
        return entries
    }

    /// A call of the control API: the status and the document, whatever they are.
    func call(_ method: String, _ path: String, _ body: JSON? = nil) async -> (status: Int, document: JSON) {
        var request = HTTPRequest(method: method, target: path)
        if let body {
            request.fields = ["Content-Type": "application/json"]
            request.body = body.serialized()
        }
        let (api, sent) = (stage.api, request)
        guard let response = await Deadline.value(withinSeconds: Self.patience, { await api.respond(to: sent) }) else {
            let why = "no answer within \(Self.patience) s; does it wait for a clock that stands?"
            return (504, ["code": "no_answer", "detail": .string("\(method) \(path): \(why)")])
        }
        let document = response.body.isEmpty ? .null : (try? JSON(parsing: response.body, depthLimit: 48)) ?? .null
        return (response.status, document)
    }
}
