import Control
import Encoding
import SignIn

/// `understudy signin`: one sign-in from its first call to its end.
enum SignInCommand {
    static let spec = CommandSpec(
        "signin", "sign in, and say what happened",
        options: [
            .one("device", "D", required: true, help: "the phone"),
            .one("issuer", "I", required: true, help: "the issuer, such as http://127.0.0.1:7421/acme"),
            .one("client", "C", required: true, help: "the application's client_id"),
            .many("scope", "S", help: "a scope to ask for; openid when none"),
            .one("hint", "H", help: "login_hint: the address of the user"),
            .one("resource", "R", help: "the API the token is for"),
            .many("scan", "OUTCOME", help: "what the camera sees, by commas or again: mismatch,match"),
            .many(
                "fault", "FAULT:CALL[:N]", help: "what to break: lose-reply:token, drop:start, status-503:completion:2"),
            .flag("show-tokens", help: "print the tokens themselves"),
            AttestationOptions.defect,
        ] + AssertionOptions.specs + ClientAttestationOptions.specs + PKICommand.options,
        notes: [
            PKICommand.note,
            "faults: drop, lose-reply, status-400 to status-599, wrong-NAME (docs/wrong-on-purpose.md); at: "
                + Call.Purpose.ofSignIn.map(\.rawValue).joined(separator: ", "),
            "exit code 0: signed in; 1: failed, or parked with the command to go on with",
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var body = JSONObject([
            ("issuer", .string(parsed.required("issuer"))), ("client_id", .string(parsed.required("client"))),
        ])
        let scopes = parsed.all("scope").flatMap { $0.split(separator: " ").map { JSON.string(String($0)) } }
        if !scopes.isEmpty { body["scopes"] = .array(scopes) }
        body["login_hint"] = parsed["hint"].map(JSON.string)
        body["resource"] = parsed["resource"].map(JSON.string)
        if parsed["scan"] != nil { body["scans"] = .array(Words.divided(parsed.all("scan")).map(JSON.string)) }
        if parsed["fault"] != nil { body["faults"] = .array(Words.divided(parsed.all("fault")).map(JSON.string)) }
        body["attestation_defect"] = parsed["attest-defect"].map(JSON.string)
        body["client_assertion_provider"] = try AssertionOptions.provider(parsed)
        try ClientAttestationOptions.add(to: &body, parsed)
        body["pki"] = try PKICommand.request(parsed)
        let path = Path.device(parsed.required("device")) + "/flows"
        let control = try await context.control()
        let flow = try await calling { () throws(ControlFailure) in try await control.post(path, .object(body)) }
        let follower = FlowFollower(control: control, output: context.output, narrator: context.narrator)
        var end = try await follower.follow(flow, showTokens: parsed.has("show-tokens"))
        if parsed.has("show-secret") { end = try await PKICommand.showingSecret(end, control) }
        return FlowEnding.tell(end, context.output)
    }
}
