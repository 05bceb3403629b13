import Control
import Encoding

/// `understudy trace`: explains what became of a sign-in.
enum TraceCommand {
    static let spec = CommandSpec(
        "trace", "explain a sign-in: which rule refused, what it wanted, and what it found",
        arguments: [ArgumentSpec(name: "FLOW", help: "the sign-in's id")],
        notes: ["Of a reference IdP in the daemon the rule is known; of any other, what it answered."], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.flow(parsed.arguments[0]) + "/trace"
        let control = try await context.control()
        let trace = try await calling { () throws(ControlFailure) in try await control.get(path) }
        context.output.result(trace, lines: lines(trace))
        return .done
    }

    private static func lines(_ trace: JSON) -> [String] {
        let head = "flow \(trace.shown("flow")) of \(trace.shown("device")): \(trace.shown("outcome"))"
        let explanation = (trace["explanation"]?.array ?? []).compactMap(\.string).map { "  " + Display.safe($0) }
        return [head] + (trace["timeline"]?.array ?? []).map(entry) + ["why:"] + explanation + proof(trace)
    }

    private static func entry(_ step: JSON) -> String {
        switch step["kind"]?.string {
        case "fault"?: return "  fault as asked: \(step.shown("fault")) at \(step.shown("call"))"
        case "scan"?: return "  camera: \(step.shown("outcome"))"
        default:
            let end = step["lost"].map { "lost: \($0.shown)" } ?? step.shown("status")
            let error = step["error"].map { " \($0.shown)" } ?? ""
            return "  \(step.shown("call")) \(step.shown("attempt")): \(end)\(error)"
        }
    }

    private static func proof(_ trace: JSON) -> [String] {
        (trace["refusal"]?["proved"]?.array ?? []).map { proof in
            let place = proof["header"] ?? proof["body"] ?? .null
            return "  \(place.shown) by the \(proof.shown("by")): \(Display.safe(proof["claims"]?.text ?? ""))"
        }
    }
}
