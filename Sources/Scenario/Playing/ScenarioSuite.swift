import Encoding
public import Engine
public import Profiles

/// Plays many scenarios, some at once, each on a stage of its own.
public struct ScenarioSuite: Sendable {
    /// Against what scenarios are played.
    public enum Opponent: Sendable {
        /// A reference IdP in this process, one for each scenario.
        case reference
        /// An identity provider somewhere else: its issuer, the client, the API's audience, and who gives tickets.
        case staging(issuer: String, client: String, resource: String?, tickets: Tickets, settings: EngineSettings)
    }

    /// The seed of scenarios that name none, where none is given.
    public static let standardSeed = "1"

    /// Against what scenarios are played.
    public var opponent = Opponent.reference
    /// The seed of every scenario, in place of those in the files.
    public var seed: String?
    /// How many are played at once.
    public var jobs = 2
    /// The program's version, for the control API.
    public var version = "0"
    /// The words of the wire, of phones and reference IdPs.
    public var profile = SenseCryptProfile.builtIn

    /// A suite against reference IdPs.
    public init() {}

    /// Plays scenarios and gives the results in the order of the scenarios; `told` hears of each as it ends.
    public func play(
        _ scenarios: [Scenario], told: @escaping @Sendable (ScenarioResult) -> Void = { _ in }
    ) async -> [ScenarioResult] {
        await withTaskGroup(of: (Int, ScenarioResult).self) { group in
            var results: [Int: ScenarioResult] = [:]
            let tickets = dealt(to: scenarios)
            var waiting = scenarios.indices[...]
            func begin() {
                guard let index = waiting.popFirst() else { return }
                group.addTask { (index, await play(scenarios[index], tickets: tickets[index])) }
            }
            for _ in 0..<max(1, jobs) { begin() }
            for await (index, result) in group {
                told(result)
                results[index] = result
                begin()
            }
            return scenarios.indices.compactMap { results[$0] }
        }
    }

    /// Plays one scenario.
    public func play(_ scenario: Scenario) async -> ScenarioResult {
        await play(scenario, tickets: dealt(to: [scenario])[0])
    }

    /// The tickets each scenario enrols with: in the order of the scenarios, each ticket once, and none for one that
    /// cannot have all it needs.
    private func dealt(to scenarios: [Scenario]) -> [Tickets] {
        guard case .staging(_, _, let resource, let tickets, _) = opponent else {
            return scenarios.map { _ in .given([]) }
        }
        guard case .given(let texts) = tickets else { return scenarios.map { _ in tickets } }
        var rest = texts[...]
        return scenarios.map { scenario in
            let count = scenario.ticketCount
            guard count <= rest.count, missing(scenario, resource: resource) == nil else { return .given([]) }
            defer { rest = rest.dropFirst(count) }
            return .given(Array(rest.prefix(count)))
        }
    }

    private func play(_ scenario: Scenario, tickets: Tickets) async -> ScenarioResult {
        let seed = seed ?? scenario.seed ?? Self.standardSeed
        if let reason = missing(scenario, tickets: tickets) {
            return ScenarioResult(scenario: scenario, outcome: .skipped(reason), seed: seed)
        }
        do {
            let stage = try stage(for: scenario, seed: seed, tickets: tickets)
            var result = await Play(scenario, on: stage, seed: seed).played()
            result.secretNames = profile.members.secretNames
            return result
        } catch {
            return ScenarioResult(scenario: scenario, outcome: .error("\(error)"), seed: seed)
        }
    }

    private func stage(for scenario: Scenario, seed: String, tickets: Tickets) throws -> Stage {
        switch opponent {
        case .reference: return try .reference(seed: seed, scenario: scenario, profile: profile, version: version)
        case .staging(let issuer, let client, let resource, _, let settings):
            let target = Stage.Target(issuer: issuer, client: client, resource: resource, tickets: tickets)
            return try .staging(target, settings: settings, version: version)
        }
    }

    /// Why a scenario cannot be played here with these tickets, or nil.
    private func missing(_ scenario: Scenario, tickets: Tickets) -> String? {
        guard case .staging(_, _, let resource, let all, _) = opponent else { return nil }
        if let what = missing(scenario, resource: resource) { return what }
        guard case .given(let own) = tickets, case .given(let all) = all, scenario.ticketCount > own.count else {
            return nil
        }
        return
            "it needs an enrolment ticket for each of \(scenario.ticketCount); given are \(all.count), some used before"
    }

    private func missing(_ scenario: Scenario, resource: String?) -> String? {
        if let what = scenario.needOfReference { return "it needs the reference IdP: \(what)" }
        return scenario.needs.contains(.api) && resource == nil ? "it needs a resource API: --resource" : nil
    }
}

extension Scenario {
    /// What of it only a reference IdP can do; nil where any identity provider will do.
    fileprivate var needOfReference: String? {
        if needs.contains(.reference) { return "the file says so" }
        if idp != .object([]) { return "'idp' sets it" }
        if hasClientKey { return "'client_key' registers a key" }
        if users.contains(where: { $0.settings != nil }) { return "'users' sets one up" }
        let parts = steps.flatMap { $0.parts.isEmpty ? [$0] : $0.parts }
        return parts.lazy.compactMap(\.needOfReference).first
    }

    /// How many tickets it takes.
    fileprivate var ticketCount: Int {
        let enrolments = steps.flatMap { $0.parts.isEmpty ? [$0] : $0.parts }
            .filter { $0.verb == "enrol" && $0.order["ticket"] == nil }
        return devices.reduce(0) { $0 + $1.enrolled.count } + enrolments.count
    }
}

extension Scenario {
    /// What it expects that only a reference IdP tells, in the order of the format.
    var expectedOfReferenceAlone: [String] {
        let expectations = steps.flatMap { $0.parts.isEmpty ? [$0] : $0.parts }.compactMap(\.expect)
        var names: [String] = []
        if expectations.contains(where: { $0["findings"] != nil }) { names.append("findings") }
        if expectations.contains(where: { $0["stored"]?["generation"] != nil }) { names.append("stored.generation") }
        return names
    }
}

extension Scenario.Step {
    fileprivate var needOfReference: String? {
        guard ["manage", "signup", "advance", "reset", "snapshot", "restore"].contains(verb) else { return nil }
        return "the step '\(verb)'"
    }
}
