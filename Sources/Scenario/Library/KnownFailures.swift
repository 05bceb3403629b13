import Encoding

/// What a list of known failures is about: its entries name one each.
enum FailureSubject: String {
    case scenario
    case rule

    /// An entry of the list.
    fileprivate var shape: Shape {
        let steps: [Shape.Key] =
            self == .scenario
            ? [.init("step", .either([.text(), .number(1...1000)]), "the name or the number of the step that fails")]
            : []
        let name =
            self == .scenario ? "the scenario's name, with folders where needed" : "the rule's name, as --list has it"
        return .list(
            .object(
                [.init(rawValue, .text(), required: true, name)] + steps + [
                    .init("reason", .text(), required: true, "why it fails"),
                    .init(
                        "expires", .form("a day such as 2026-12-31", pattern: "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
                        required: true, "the last day on which it is expected to fail"),
                ]))
    }
}

/// What a name of the list may mean.
enum FailureMeaning {
    /// One thing, by a name no other thing has.
    case one(String)
    /// Nothing; the names that might be meant.
    case nothing(among: [String])
    /// More than one thing, by names that tell them apart.
    case several([String])
}

/// A list of known failures, each with why and until when that may be so, and how they are judged.
struct KnownFailures: Sendable {
    /// One known failure.
    struct Entry: Sendable {
        let place: TextPlace
        /// The name of what fails.
        let name: String
        /// The name or the number of the step that fails; nil for any.
        let step: String?
        let reason: String
        /// The last day on which the failure is expected, as in `2026-12-31`.
        let expires: String
    }

    let file: String
    let entries: [Entry]

    /// Reads a list; `meaning` says what a name means.
    ///
    /// Throws ``BrokenFile`` with every fault: of the form, an unknown or ambiguous name, a name that stands twice.
    init(
        file: String, text: String, of subject: FailureSubject, meaning: (String) -> FailureMeaning
    ) throws(BrokenFile) {
        let root: JSON5Value
        do throws(JSON5Error) {
            root = try JSON5Reader.read(text)
        } catch {
            throw BrokenFile([FileFault(file: file, place: error.place, message: error.rule)])
        }
        var check = ShapeCheck(file: file)
        check.check(root, against: subject.shape, at: "")
        let entries = (root.elements ?? []).map { Entry($0, subject) }
        let faults = check.faults.isEmpty ? Self.misnamed(entries, file, subject, meaning) : check.faults
        guard faults.isEmpty else { throw BrokenFile(faults.sorted { $0.place < $1.place }) }
        self.file = file
        self.entries = entries
    }

    private static func misnamed(
        _ entries: [Entry], _ file: String, _ subject: FailureSubject, _ meaning: (String) -> FailureMeaning
    ) -> [FileFault] {
        var seen: Set<String> = []
        return entries.compactMap { entry in
            let message: String
            switch meaning(entry.name) {
            case .nothing(let names):
                let nearest = Nearest.match(entry.name, among: names)
                let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
                message = "there is no \(subject.rawValue) '\(entry.name.prefix(80))'\(hint)"
            case .one where CalendarDay(entry.expires) == nil: message = "'\(entry.expires)' is no day of the calendar"
            case .one(let name) where seen.insert(name).inserted: return nil
            case .one: message = "'\(entry.name)' stands here twice"
            case .several(let names): message = "'\(entry.name)' may be any of \(names.joined(separator: ", "))"
            }
            return FileFault(file: file, place: entry.place, message: message)
        }
    }

    /// An outcome as it counts, with what is known of it.
    ///
    /// `whole` says what passes where something does; `today` is a day such as `2026-11-30`.
    func judged(
        _ outcome: Report.Case.Outcome, by entry: Entry, whole: String, today: String
    ) -> Report.Case.Outcome {
        switch outcome {
        case .passed:
            return .failed(
                Disappointment(
                    place: TextPlace(line: 1, column: 1), number: 0, step: whole, what: "the outcome",
                    expected: "a failure, as \(file):\(entry.place) says (\(entry.reason))",
                    got: "it passes; remove the entry"))
        case .failed(let disappointment):
            guard entry.means(disappointment) else { return outcome }
            return entry.expires < today
                ? .failed(disappointment.noting("expected to fail until \(entry.expires), which is over"))
                : .expectedFailure(entry.reason, disappointment)
        case .error, .skipped, .expectedFailure: return outcome
        }
    }
}

extension KnownFailures.Entry {
    fileprivate init(_ value: JSON5Value, _ subject: FailureSubject) {
        place = value.place
        name = value[subject.rawValue]?.string ?? ""
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
