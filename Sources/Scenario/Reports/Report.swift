public import Encoding

/// A test run as its reports tell it: scenarios, or anything else that has cases with an outcome.
public struct Report: Sendable {
    /// One case.
    public struct Case: Sendable {
        /// How it ended.
        public enum Outcome: Sendable {
            /// Everything held.
            case passed
            /// Something did not hold.
            case failed(Disappointment)
            /// It could not be judged, for this reason.
            case error(String)
            /// It was not run, for this reason.
            case skipped(String)
            /// It failed, as was to be expected for this reason.
            case expectedFailure(String, Disappointment)
        }

        /// A part of a case.
        public struct Part: Sendable {
            /// What it is for.
            public var title: String
            /// Where it stands in the file.
            public var place: TextPlace?
            /// Whether it did what was expected.
            public var holds = true
            /// What happened, as the journal of a phone has it.
            public var journal: [JSON] = []
            /// What the reference IdP noted.
            public var findings: [JSON] = []

            /// Describes a part.
            public init(title: String, place: TextPlace? = nil) {
                self.title = title
                self.place = place
            }
        }

        /// The name it goes by.
        public var name: String
        /// The part of the library it belongs to.
        public var group: String
        /// What it shows, in a sentence.
        public var title: String
        /// Where its rule comes from.
        public var source = ""
        /// The file it stands in.
        public var file: String?
        /// The seed it was run with.
        public var seed: String?
        /// How it ended.
        public var outcome: Outcome
        /// Its parts, as far as they were run.
        public var parts: [Part] = []
        /// The whole journal.
        public var journal: [JSON] = []
        /// The expectations that could not be judged, by name.
        public var unjudged: [String] = []
        /// The exchanges with servers.
        public var exchanges: [RecordedExchange] = []
        /// Names of members whose values are secrets, as the profile in use has them.
        var secretNames: Set<String> = []
        /// How long it took, in milliseconds of real time.
        public var milliseconds: Double = 0

        /// Describes a case that ended.
        public init(name: String, group: String, title: String, outcome: Outcome) {
            self.name = name
            self.group = group
            self.title = title
            self.outcome = outcome
        }
    }

    /// How many cases ended in which way.
    public struct Counts: Sendable, Equatable {
        /// Everything held.
        public var passed = 0
        /// Something did not hold.
        public var failed = 0
        /// Could not be judged.
        public var errors = 0
        /// Were not run.
        public var skipped = 0
        /// Failed as expected.
        public var expectedFailures = 0

        /// All of them.
        public var all: Int { passed + failed + errors + skipped + expectedFailures }
    }

    /// What was run, such as `understudy test`.
    public var title: String
    /// The program's version.
    public var version: String
    /// When it began.
    public var startedAt: Instant
    /// Against what it was run, in words.
    public var opponent: String
    /// The cases, in order.
    public var cases: [Case]

    /// Describes a run.
    public init(title: String, version: String, startedAt: Instant, opponent: String, cases: [Case]) {
        self.title = title
        self.version = version
        self.startedAt = startedAt
        self.opponent = opponent
        self.cases = cases
    }

    /// How many cases ended in which way.
    public var counts: Counts {
        cases.reduce(into: Counts()) { counts, each in
            switch each.outcome {
            case .passed: counts.passed += 1
            case .failed: counts.failed += 1
            case .error: counts.errors += 1
            case .skipped: counts.skipped += 1
            case .expectedFailure: counts.expectedFailures += 1
            }
        }
    }

    /// The groups, in the order in which each first occurs.
    var groups: [(name: String, cases: [Case])] {
        var order: [String] = []
        var byName: [String: [Case]] = [:]
        for each in cases {
            if byName[each.group] == nil { order.append(each.group) }
            byName[each.group, default: []].append(each)
        }
        return order.map { ($0, byName[$0] ?? []) }
    }
}

extension Report.Case.Outcome {
    /// The word for the outcome.
    public var word: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .error: "error"
        case .skipped: "skipped"
        case .expectedFailure: "expected failure"
        }
    }
}

extension Report.Case {
    /// The case that a scenario is.
    public init(_ result: ScenarioResult) {
        let scenario = result.scenario
        self.init(name: scenario.name, group: scenario.group, title: scenario.title, outcome: result.outcome)
        source = scenario.source
        file = scenario.file
        seed = result.seed
        parts = result.steps.map { step in
            var part = Part(title: step.title, place: step.place)
            (part.holds, part.journal, part.findings) = (step.holds, step.journal, step.findings)
            return part
        }
        journal = result.journal
        unjudged = result.unjudged
        exchanges = result.exchanges
        secretNames = result.secretNames
        milliseconds = result.milliseconds
    }

    /// The case that a file is which is no scenario.
    public init(_ broken: BrokenFile) {
        self.init(
            name: broken.file, group: "files that are no scenarios", title: broken.file,
            outcome: .error(broken.description))
        file = broken.file
    }
}
