import Encoding
import Scenario

/// What a person reads of one case: a line, and more where something is wrong.
struct TestLines {
    let lines: [String]

    /// Describes a case; `again` is the command that plays it alone.
    init(_ each: Report.Case, again: String, key: [UInt8], style: Style) {
        let name = Display.safe("\(each.group)/\(each.name)")
        let time = style.faint("\(Int(each.milliseconds.rounded())) ms")
        let redactor = Redactor(knowing: each, key: key)
        func safe(_ text: String) -> [String] {
            redactor.text(text).split(separator: "\n").map { "          " + Display.safe(String($0)) }
        }
        switch each.outcome {
        case .passed: lines = ["\(style.good("ok"))        \(name) \(time)"]
        case .skipped(let reason): lines = ["\(style.faint("skipped"))   \(name): \(Display.safe(reason))"]
        case .failed(let found):
            lines =
                ["\(style.bad("FAILED"))    \(name): \(Display.safe(each.title)) \(time)"]
                + safe(found.text(in: each.file)) + safe("again:    " + again)
        case .error(let reason): lines = ["\(style.bad("ERROR"))     \(name)"] + safe(reason)
        case .expectedFailure(let reason, let found):
            lines = ["\(style.faint("expected"))  \(name): fails, \(Display.safe(reason))"] + safe(found.description)
        }
    }

    /// The last line of a run.
    static func sum(_ report: Report, seed: String) -> [String] {
        let counts = report.counts
        var parts = ["\(counts.passed) passed", "\(counts.failed) failed"]
        if counts.errors > 0 { parts.append("\(counts.errors) could not be judged") }
        if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
        if counts.expectedFailures > 0 { parts.append("\(counts.expectedFailures) failed as expected") }
        return [parts.joined(separator: ", ") + "; seed \(seed)"] + notJudged(report)
    }

    private static func notJudged(_ report: Report) -> [String] {
        let without = report.cases.filter { !$0.unjudged.isEmpty }
        guard !without.isEmpty else { return [] }
        let names = Set(without.flatMap(\.unjudged)).sorted().joined(separator: ", ")
        return ["not judged in \(without.count), since a reference IdP alone tells: \(names)"]
    }
}

/// What a program reads of a run.
enum TestDocument {
    static func json(_ report: Report, seed: String, key: [UInt8]) -> JSON {
        let counts = report.counts
        return [
            "seed": .string(seed), "against": .string(report.opponent),
            "counts": [
                "passed": .int(Int64(counts.passed)), "failed": .int(Int64(counts.failed)),
                "errors": .int(Int64(counts.errors)), "skipped": .int(Int64(counts.skipped)),
                "expected_failures": .int(Int64(counts.expectedFailures)),
            ],
            "scenarios": .array(report.cases.map { json($0, Redactor(knowing: $0, key: key)) }),
        ]
    }

    private static func json(_ each: Report.Case, _ redactor: Redactor) -> JSON {
        var members: [(String, JSON)] = [
            ("name", .string(each.name)), ("group", .string(each.group)), ("title", .string(each.title)),
            ("file", each.file.map(JSON.string) ?? .null), ("seed", each.seed.map(JSON.string) ?? .null),
            ("outcome", .string(each.outcome.word)), ("milliseconds", .int(Int64(each.milliseconds.rounded()))),
        ]
        if !each.unjudged.isEmpty { members.append(("not_judged", .array(each.unjudged.map(JSON.string)))) }
        switch each.outcome {
        case .passed: break
        case .failed(let found): members.append(("failure", json(found, redactor)))
        case .error(let reason), .skipped(let reason): members.append(("reason", .string(redactor.text(reason))))
        case .expectedFailure(let reason, let found):
            members += [("reason", .string(reason)), ("failure", json(found, redactor))]
        }
        return .object(members)
    }

    private static func json(_ found: Disappointment, _ redactor: Redactor) -> JSON {
        [
            "step": .string(found.step), "number": .int(Int64(found.number)), "what": .string(found.what),
            "expected": .string(redactor.text(found.expected)), "got": .string(redactor.text(found.got)),
            "line": .int(Int64(found.place.line)), "column": .int(Int64(found.place.column)),
        ]
    }
}

/// `understudy test --list`.
enum TestListing {
    static func tell(_ scenarios: [Scenario], _ broken: [BrokenFile], _ output: Output) -> ExitCode {
        let listed = scenarios.map { scenario -> JSON in
            [
                "group": .string(scenario.group), "name": .string(scenario.name), "title": .string(scenario.title),
                "source": .string(scenario.source), "file": .string(scenario.file),
                "steps": .int(Int64(scenario.stepCount)),
            ]
        }
        output.result(["scenarios": .array(listed)], lines: lines(scenarios, output.style))
        return broken.isEmpty ? .done : .badInput
    }

    private static func lines(_ scenarios: [Scenario], _ style: Style) -> [String] {
        let groups = Dictionary(grouping: scenarios, by: \.group)
        return groups.keys.sorted().flatMap { group in
            [style.strong(Display.safe(group))]
                + (groups[group] ?? []).map { "  \(Display.safe($0.name)): \(Display.safe($0.title))" }
        }
    }
}
