import Control
import Encoding

/// `understudy flow …`: sign-ins under way and past.
enum FlowCommands {
    static let specs = [
        CommandSpec(
            "flow list", "list sign-ins, newest first",
            options: [
                .one("device", "D", help: "only this phone's"), .flag("live", help: "only those that have not ended"),
            ], action: list),
        CommandSpec(
            "flow show", "show one sign-in step by step", arguments: [flow],
            options: [.flag("show-tokens", help: "print the tokens themselves")], action: show),
        CommandSpec(
            "flow retry", "send a parked sign-in's proof again, and follow it", arguments: [flow],
            options: [.flag("show-tokens", help: "print the tokens themselves")] + AssertionOptions.specs,
            action: retry),
        CommandSpec("flow cancel", "cancel a sign-in", arguments: [flow], action: cancel),
        CommandSpec(
            "flow take-secret", "take the shared secret a sign-in decapsulated; it is given once", arguments: [flow],
            action: takeSecret),
        CommandSpec(
            "flow scan", "show the camera something, for a sign-in that waits",
            arguments: [flow, ArgumentSpec(name: "OUTCOME", help: "what it sees, such as match")], action: scan),
    ]

    private static let flow = ArgumentSpec(name: "FLOW", help: "the sign-in's id")

    private static func list(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var query = parsed["device"].map { [("device", $0)] } ?? []
        if parsed.has("live") { query.append(("live", "true")) }
        let asked = query
        let control = try await context.control()
        let found = try await calling { () throws(ControlFailure) in try await control.get("/v1/flows", asked) }
        let rows = (found["flows"]?.array ?? []).map { flow in
            [
                flow.shown("id"), flow.shown("device"), flow.shown("state"), flow["result"]?.shown ?? "-",
                (flow["reason"] ?? flow["cause"])?.shown ?? "-", flow.shown("issuer"),
            ]
        }
        context.output.result(
            found,
            lines: rows.isEmpty
                ? ["no sign-ins"] : Columns.table(["FLOW", "DEVICE", "STATE", "RESULT", "REASON", "ISSUER"], rows))
        return .done
    }

    private static func show(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let query = parsed.has("show-tokens") ? [("show_tokens", "true")] : []
        let path = Path.flow(parsed.arguments[0])
        let control = try await context.control()
        let flow = try await calling { () throws(ControlFailure) in try await control.get(path, query) }
        context.output.result(flow, lines: lines(flow, context))
        return .done
    }

    private static func lines(_ flow: JSON, _ context: CommandContext) -> [String] {
        let style = context.output.style
        var narrator = context.narrator
        let steps = (flow["steps"]?.array ?? []).flatMap { narrator.lines($0) }
        let head = [
            "flow \(flow.shown("id")) of \(flow.shown("device")): \(flow.shown("client_id")) at \(flow.shown("issuer"))"
        ]
        let end = flow["result"] == nil ? ["still \(flow.shown("state"))"] : FlowEnding.lines(flow, style)
        return head + steps + end
    }

    private static func retry(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.flow(parsed.arguments[0])
        let control = try await context.control()
        let before = try await calling { () throws(ControlFailure) in try await control.get(path) }
        let known = (before["steps"]?.array ?? []).compactMap { $0["n"]?.int }.max() ?? 0
        try await AssertionOptions.register(parsed, device: before["device"]?.string ?? "", control)
        let flow = try await calling { () throws(ControlFailure) in try await control.post(path + "/retry") }
        let follower = FlowFollower(control: control, output: context.output, narrator: context.narrator)
        let end = try await follower.follow(flow, after: known, showTokens: parsed.has("show-tokens"))
        return FlowEnding.tell(end, context.output)
    }

    private static func cancel(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.flow(parsed.arguments[0])
        let control = try await context.control()
        let flow = try await calling { () throws(ControlFailure) in try await control.post(path + "/cancel") }
        context.output.result(flow, lines: ["\(flow.shown("id")): \(flow["reason"]?.shown ?? flow.shown("state"))"])
        return .done
    }

    private static func takeSecret(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = try await context.control()
        let taken = try await PKICommand.takeSecret(of: parsed.arguments[0], control)
        context.output.result(taken, lines: [taken.shown("shared_secret_hex")])
        return .done
    }

    private static func scan(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.flow(parsed.arguments[0]) + "/scan"
        let body: JSON = ["scan": .string(parsed.arguments[1])]
        let control = try await context.control()
        let answer = try await calling { () throws(ControlFailure) in try await control.post(path, body) }
        context.output.result(answer, lines: ["shown: \(Display.safe(parsed.arguments[1]))"])
        return .done
    }
}
