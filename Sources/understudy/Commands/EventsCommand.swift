import Control
import Encoding

/// `understudy events`: follows a daemon's journal.
enum EventsCommand {
    static let spec = CommandSpec(
        "events", "follow what happens in a daemon",
        options: [
            .one("device", "D", help: "only this phone's"), .one("flow", "FLOW", help: "only this sign-in's"),
            .one("after", "N", form: .number(0...Int64.max), standard: "0", help: "from behind this entry on"),
            .flag("once", help: "print what there is and end"),
        ], notes: ["With --json one entry a line."], action: run)

    /// How many entries are asked for at once.
    private static let page: Int64 = 500
    private static let pauseNanoseconds: UInt64 = 250_000_000

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = parsed.has("once") ? try await context.control() : try await context.daemon()
        let filter = ["device", "flow"].compactMap { name in parsed[name].map { (name, $0) } }
        var last = parsed["after"].flatMap { Int64($0) } ?? 0
        while !context.output.isClosed {
            let query = filter + [("after", String(last)), ("limit", String(page))]
            let document = try await calling { () throws(ControlFailure) in
                try await control.get("/v1/journal", query)
            }
            let entries = document["entries"]?.array ?? []
            for entry in entries {
                if context.output.isJSON { context.output.document(entry) } else { context.output.say(line(entry)) }
                last = max(last, entry["sequence"]?.int ?? last)
            }
            if entries.count == page { continue }
            if parsed.has("once") { break }
            try? await Task.sleep(nanoseconds: pauseNanoseconds)
        }
        return .done
    }

    /// One entry: when, whose, and the step in a line.
    private static func line(_ entry: JSON) -> String {
        let at = entry["at"]?.int.map { Display.time($0 / 1000) } ?? "-"
        var narrator = FlowNarrator()
        let step = narrator.lines(entry["step"] ?? .null).map { $0.drop { $0 == " " } }.joined(separator: " ")
        return "\(at)  \(entry.shown("device"))  \(entry.shown("flow"))  \(step)"
    }
}
