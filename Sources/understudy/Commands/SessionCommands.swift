import Control
import Encoding

/// `understudy session …`: what a phone keeps after a sign-in.
enum SessionCommands {
    static let specs = [
        CommandSpec(
            "session show", "show a phone's session",
            options: [device, .flag("show-tokens", help: "print the tokens themselves")], action: show),
        CommandSpec(
            "session refresh", "renew a phone's session with its refresh token",
            options: [
                device, .flag("show-tokens", help: "print the tokens themselves"),
                .many(
                    "fault", "FAULT:refresh[:N]", help: "what to break: drop, lose-reply, status-400 to status-599"),
            ] + AssertionOptions.specs,
            notes: [
                """
                exit code 0: renewed; 1: there is no session, or the issuer ended it and the phone has to sign in \
                again; 69: the issuer could not be reached or could not serve it, and the session is kept
                """
            ], action: refresh),
        CommandSpec(
            "session sign-out", "sign out: revoke and forget the session",
            options: [device] + AssertionOptions.specs, action: signOut),
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

    private static func refresh(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.device(parsed.required("device")) + "/session/refresh"
        let query = parsed.has("show-tokens") ? [("show_tokens", "true")] : []
        let faults = Words.divided(parsed.all("fault")).map(JSON.string)
        let body: JSON? = faults.isEmpty ? nil : ["faults": .array(faults)]
        let control = try await context.control()
        try await AssertionOptions.register(parsed, device: parsed.required("device"), control)
        let session = try await calling { () throws(ControlFailure) in
            try await control.document("POST", path, query, body: body)
        }
        context.output.result(session, lines: ["renewed"] + DeviceLines.session(session))
        return .done
    }

    private static func signOut(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let path = Path.device(parsed.required("device")) + "/session"
        let control = try await context.control()
        try await AssertionOptions.register(parsed, device: parsed.required("device"), control)
        _ = try await calling { () throws(ControlFailure) in try await control.document("DELETE", path) }
        context.output.result(["result": "signed_out"], lines: ["signed out"])
        return .done
    }
}
