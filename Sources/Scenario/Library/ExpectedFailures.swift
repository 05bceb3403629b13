/// A list of scenarios that are known to fail, each with why and until when that may be so.
public struct ExpectedFailures: Sendable {
    private let known: KnownFailures

    /// Reads a file; the names in it must be those of scenarios that were read.
    ///
    /// Throws ``BrokenFile`` with every fault: of the form, an unknown or ambiguous name, a name that stands twice.
    public init(file: String, knowing scenarios: [Scenario]) throws(BrokenFile) {
        try self.init(file: file, text: try ScenarioLibrary.text(of: file), knowing: scenarios)
    }

    init(file: String, text: String, knowing scenarios: [Scenario]) throws(BrokenFile) {
        known = try KnownFailures(file: file, text: text, of: .scenario) { name in
            let meant = scenarios.filter { $0.isCalled(name) }.map(\.file)
            switch meant.count {
            case 0: return .nothing(among: scenarios.map(\.name))
            case 1: return .one(meant[0])
            default: return .several(meant)
            }
        }
    }

    /// The result as it counts, with what is known of it.
    ///
    /// `today` is a day such as `2026-11-30`.
    public func judged(_ result: ScenarioResult, today: String) -> ScenarioResult {
        guard let entry = known.entries.first(where: { result.scenario.isCalled($0.name) }) else { return result }
        var result = result
        result.outcome = known.judged(result.outcome, by: entry, whole: "the whole scenario", today: today)
        return result
    }
}

/// A list of rules that a server is known to break, each with why and until when that may be so.
public struct ExpectedRules: Sendable {
    private let known: KnownFailures

    /// Reads a file; the names in it must be those of rules there are.
    ///
    /// Throws ``BrokenFile`` with every fault: of the form, an unknown name, a name that stands twice.
    public init(file: String, knowing rules: [String]) throws(BrokenFile) {
        try self.init(file: file, text: try ScenarioLibrary.text(of: file), knowing: rules)
    }

    /// The same from a text; `file` is what it is called in faults.
    public init(file: String, text: String, knowing rules: [String]) throws(BrokenFile) {
        known = try KnownFailures(file: file, text: text, of: .rule) { name in
            rules.contains(name) ? .one(name) : .nothing(among: rules)
        }
    }

    /// The outcome of a rule as it counts, with what is known of it.
    ///
    /// `today` is a day such as `2026-11-30`.
    public func judged(_ outcome: Report.Case.Outcome, of rule: String, today: String) -> Report.Case.Outcome {
        guard let entry = known.entries.first(where: { $0.name == rule }) else { return outcome }
        return known.judged(outcome, by: entry, whole: rule, today: today)
    }
}
