import Control
import Encoding

/// `understudy session …`: what a phone keeps after a sign-in.
enum SessionCommands {
    static let specs = [
        CommandSpec(
            "session show", "show a phone's session",
            options: [device, .flag("show-tokens", help: "print the tokens themselves")], action: show),
        CommandSpec("session sign-out", "sign out: revoke and forget the session", options: [device], action: signOut),
    ]

    private static let device = OptionSpec.one("device", "D", required: true, help: "the phone")

    private static func show(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.device(parsed.required("device")) + "/session"
        let query = parsed.has("show-tokens") ? [("show_tokens", "true")] : []
        let control = try await context.control()
        let session = try await calling { () throws(ControlFailure) in try await control.get(path, query) }
        context.output.result(session, lines: DeviceLines.session(session))
        return .done
    }

    private static func signOut(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.device(parsed.required("device")) + "/session"
        let control = try await context.control()
        _ = try await calling { () throws(ControlFailure) in try await control.document("DELETE", path) }
        context.output.result(["result": "signed_out"], lines: ["signed out"])
        return .done
    }
}
