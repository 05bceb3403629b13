import Encoding

/// A list of scenarios that are known to fail, each with why and until when that may be so.
public struct ExpectedFailures: Sendable {
    /// One known failure.
    struct Entry: Sendable {
        let place: TextPlace
        let scenario: String
        /// The name or the number of the step that fails; nil for any.
        let step: String?
        let reason: String
        /// The last day on which the failure is expected, as in `2026-12-31`.
        let expires: String
    }

    let file: String
    let entries: [Entry]

    static let shape = Shape.list(
        .object([
            .init("scenario", .text(), required: true, "the scenario's name, with folders where needed"),
            .init("step", .either([.text(), .number(1...1000)]), "the name or the number of the step that fails"),
            .init("reason", .text(), required: true, "why it fails"),
            .init(
                "expires", .form("a day such as 2026-12-31", pattern: "[0-9]{4}-[0-9]{2}-[0-9]{2}"), required: true,
                "the last day on which it is expected to fail"),
        ]))

    /// Reads a file; the names in it must be those of scenarios that were read.
    ///
    /// Throws ``BrokenFile`` with every fault: of the form, an unknown or ambiguous name, a name that stands twice.
    public init(file: String, knowing scenarios: [Scenario]) throws(BrokenFile) {
        try self.init(file: file, text: try ScenarioLibrary.text(of: file), knowing: scenarios)
    }

    init(file: String, text: String, knowing scenarios: [Scenario]) throws(BrokenFile) {
        let root: JSON5Value
        do throws(JSON5Error) {
            root = try JSON5Reader.read(text)
        } catch {
            throw BrokenFile([FileFault(file: file, place: error.place, message: error.rule)])
        }
        var check = ShapeCheck(file: file)
        check.check(root, against: Self.shape, at: "")
        let entries = (root.elements ?? []).map(Entry.init)
        let faults = check.faults.isEmpty ? Self.misnamed(entries, scenarios, file) : check.faults
        guard faults.isEmpty else { throw BrokenFile(faults.sorted { $0.place < $1.place }) }
        self.file = file
        self.entries = entries
    }

    private static func misnamed(_ entries: [Entry], _ scenarios: [Scenario], _ file: String) -> [FileFault] {
        var seen: Set<String> = []
        return entries.compactMap { entry in
            let meant = scenarios.filter { $0.isCalled(entry.scenario) }
            let message: String
            switch meant.count {
            case 0:
                let nearest = Nearest.match(entry.scenario, among: scenarios.map(\.name))
                let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
                message = "there is no scenario '\(entry.scenario.prefix(80))'\(hint)"
            case 1 where CalendarDay(entry.expires) == nil: message = "'\(entry.expires)' is no day of the calendar"
            case 1 where seen.insert(meant[0].file).inserted: return nil
            case 1: message = "'\(entry.scenario)' stands here twice"
            default: message = "'\(entry.scenario)' may be any of \(meant.map(\.file).joined(separator: ", "))"
            }
            return FileFault(file: file, place: entry.place, message: message)
        }
    }

    /// The result as it counts, with what is known of it.
    ///
    /// `today` is a day such as `2026-11-30`.
    public func judged(_ result: ScenarioResult, today: String) -> ScenarioResult {
        guard let entry = entries.first(where: { result.scenario.isCalled($0.scenario) }) else { return result }
        var result = result
        switch result.outcome {
        case .passed: result.outcome = .failed(unexpected(entry, "it passes; remove the entry"))
        case .failed(let disappointment):
            guard entry.means(disappointment) else { return result }
            result.outcome =
                entry.expires < today
                ? .failed(disappointment.noting("expected to fail until \(entry.expires), which is over"))
                : .expectedFailure(entry.reason, disappointment)
        case .error, .skipped, .expectedFailure: break
        }
        return result
    }

    private func unexpected(_ entry: Entry, _ got: String) -> Disappointment {
        Disappointment(
            place: TextPlace(line: 1, column: 1), number: 0, step: "the whole scenario", what: "the outcome",
            expected: "a failure, as \(file):\(entry.place) says (\(entry.reason))", got: got)
    }
}

extension ExpectedFailures.Entry {
    fileprivate init(_ value: JSON5Value) {
        place = value.place
        scenario = value["scenario"]?.string ?? ""
        step = value["step"].flatMap { $0.string ?? $0.int.map { "\($0)" } }
        reason = value["reason"]?.string ?? ""
        expires = value["expires"]?.string ?? ""
    }

    /// Whether the failure is in the step that is named, if one is.
    fileprivate func means(_ disappointment: Disappointment) -> Bool {
        step.map { $0 == disappointment.step || $0 == "\(disappointment.number)" } ?? true
    }
}

extension Disappointment {
    fileprivate func noting(_ note: String) -> Disappointment {
        Disappointment(
            place: place, number: number, step: step, what: what, expected: expected, got: "\(got) (\(note))")
    }
}

/// A day of the calendar, from its text form.
struct CalendarDay {
    init?(_ text: String) {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3,
            CalendarTime(year: parts[0], month: parts[1], day: parts[2], hour: 0, minute: 0, second: 0) != nil
        else { return nil }
    }
}
