public import Encoding

/// What came of a scenario.
public struct ScenarioResult: Sendable {
    /// The scenario.
    public let scenario: Scenario
    /// How it ended.
    public internal(set) var outcome: Report.Case.Outcome
    /// The seed it was played with.
    public let seed: String
    /// The steps that were played.
    public internal(set) var steps: [StepResult] = []
    /// The journal of the phones, as the control API shows it.
    public internal(set) var journal: [JSON] = []
    /// The expectations nobody could judge, since the reference IdP alone tells: `findings`, `stored.generation`.
    public internal(set) var unjudged: [String] = []
    /// How long it took, in milliseconds of real time.
    public internal(set) var milliseconds: Double = 0
    /// The exchanges its phones made, secrets and all.
    var exchanges: [RecordedExchange] = []
    /// Names of members whose values are secrets, as the profile in use has them.
    var secretNames: Set<String> = []
}

/// An expectation that did not hold.
public struct Disappointment: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it stands in the file.
    public let place: TextPlace
    /// The number of the step it belongs to, beginning with 1; 0 where no step is at fault.
    public let number: Int
    /// The step it belongs to.
    public let step: String
    /// What was looked at, such as `calls.token`.
    public let what: String
    /// What the file expects.
    public let expected: String
    /// What came.
    public let got: String

    /// Describes an expectation that did not hold.
    public init(
        place: TextPlace, number: Int, step: String, what: String, expected: String, got: String
    ) {
        self.place = place
        self.number = number
        self.step = step
        self.what = what
        self.expected = expected
        self.got = got
    }

    /// A sentence.
    public var description: String { "\(step): \(what) should be \(expected), and is \(got)" }
}

/// What came of one step.
public struct StepResult: Sendable {
    /// The step's name, or its verb and the phone.
    public let title: String
    /// Its number in the file, beginning with 1.
    public let number: Int
    /// Where it stands in the file.
    public let place: TextPlace
    /// Whether it did what the file expects.
    public internal(set) var holds = true
    /// What happened meanwhile, as the journal has it.
    public internal(set) var journal: [JSON] = []
    /// What the reference IdP noted meanwhile.
    public internal(set) var findings: [JSON] = []
}
