import Control
import Encoding
import Engine
import Scenario

/// `understudy conform`: judges an identity provider by the rules of the descriptions.
enum ConformCommand {
    static let spec = CommandSpec(
        "conform", "judge an identity provider: every refusal and repetition a good one must get right",
        options: [
            .one("issuer", "I", help: "the issuer, such as http://127.0.0.1:7421/acme"),
            .one("client", "C", help: "the opted-in public application to sign in to"),
            .one("device", "D", help: "an enrolled phone to judge with"),
            .one("ticket", "T", help: "or an enrolment ticket, for a phone made for the run and wiped behind it"),
            .one(
                "spare-ticket", "T",
                help: "a further ticket, for the rows about enrolment where there is no --management"),
            .one("api", "URL", help: "base of a resource API that takes the tenant's tokens; also their audience"),
            .one("api-path", "PATH", help: "what to ask the API for, behind its base"),
            .one("management", "URL", help: "the reference IdP's management API, such as http://127.0.0.1:7421/manage"),
            .one(
                "attest", "FORMAT",
                help: "evidence for starts where it is wanted; auto is what the phone's platform has"),
            .flag("attestation-enforced", help: "the issuer enforces attestation: judge it by that, do not find out"),
            .many("only", "RULE", help: "judge these rules alone"),
            .flag("wait", help: "without --management, wait until codes, sessions and tokens are too old"),
            .one("junit", "FILE", help: "write a JUnit report"),
            .one("expected-failures", "FILE", help: "rules known to fail, each with reason and expires, in JSON5"),
            .flag("list", help: "list the rules and where they are stated, and judge nothing"),
        ],
        notes: [
            "Exit code 0 where no rule failed, 1 where one did, 69 where the server cannot be reached or a plain sign-in "
                + "does not work: then nothing is judged.",
            "A rule expected to fail that passes, or whose day is over, counts as failed: the list is out of date.",
            "With --management it makes users and applications of its own and takes them away again, moves the server's "
                + "clock, and stops the tenant's app for a moment: never point it at a server others sign in to.",
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = try await context.control()
        if parsed.has("list") { return try await list(control, context) }
        let order = try order(parsed)
        let expected = try await expectedRules(parsed, control)
        let found = try await follow(order, control, context)
        guard let matrix = found["matrix"] else { throw notJudged(found["fault"] ?? .null) }
        let today = String(CalendarTime(SystemClock().now()).iso8601.prefix(10))
        let verdicts = ConformanceVerdicts(matrix, expected, today: today)
        if let file = parsed["junit"] {
            // Verdicts hold no secrets: there is nothing a key would have to hide.
            let text = JUnit.text(verdicts.report(version: Version.current), key: [])
            try TextFile.write(text, to: file, option: "junit")
        }
        var document = matrix.object ?? JSONObject()
        document["unexpected"] = .array(verdicts.unexpected.map(JSON.string))
        document["expected_failures"] = .array(verdicts.expectedFailures.map(JSON.string))
        context.output.result(.object(document), lines: ConformanceLines.summary(verdicts, context.output.style))
        return verdicts.unexpected.isEmpty ? .done : .failed
    }

    private static func list(_ control: ControlClient, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let found = try await calling { () throws(ControlFailure) in try await control.get("/v1/conform") }
        let rows = found.records("rules").map { [$0.shown("rule"), $0.shown("source"), $0.shown("wanted")] }
        context.output.result(found, lines: Columns.table(["RULE", "SOURCE", "WHAT MUST HOLD"], rows))
        return .done
    }

    private static func expectedRules(
        _ parsed: ParsedArguments, _ control: ControlClient
    ) async throws(CommandFailure) -> ExpectedRules? {
        guard let file = parsed["expected-failures"] else { return nil }
        let found = try await calling { () throws(ControlFailure) in try await control.get("/v1/conform") }
        do throws(BrokenFile) {
            return try ExpectedRules(file: file, knowing: found.records("rules").map { $0.shown("rule") })
        } catch {
            throw .brokenExpectations(error)
        }
    }

    private static func order(_ parsed: ParsedArguments) throws(CommandFailure) -> JSON {
        guard let issuer = parsed["issuer"], let client = parsed["client"] else {
            throw .usage("conform needs --issuer I and --client C", of: parsed)
        }
        guard (parsed["device"] == nil) != (parsed["ticket"] == nil) else {
            throw .usage("conform needs either --device D or --ticket T", of: parsed)
        }
        var body = JSONObject([("issuer", .string(issuer)), ("client_id", .string(client))])
        for (name, option) in [
            ("device", "device"), ("ticket", "ticket"), ("api", "api"), ("api_path", "api-path"),
            ("management", "management"), ("attest", "attest"), ("spare_ticket", "spare-ticket"),
        ] { body[name] = parsed[option].map(JSON.string) }
        let only = Words.divided(parsed.all("only"))
        if !only.isEmpty { body["only"] = .array(only.map(JSON.string)) }
        if parsed.has("wait") { body["wait"] = true }
        if parsed.has("attestation-enforced") { body["attestation_enforced"] = true }
        return .object(body)
    }

    /// Starts a run and tells each row as it is judged.
    private static func follow(
        _ order: JSON, _ control: ControlClient, _ context: CommandContext
    ) async throws(CommandFailure) -> JSON {
        let started = try await calling { () throws(ControlFailure) in try await control.post("/v1/conform", order) }
        let path = "/v1/conform/" + started.shown("id")
        var seen = 0
        while true {
            let after = seen
            let news = try await calling { () throws(ControlFailure) in
                try await control.get(path, [("after", String(after))])
            }
            for row in news.records("rows") {
                seen += 1
                context.output.say(ConformanceLines.row(row, context.output.style, verbose: context.settings.verbose))
            }
            if news["done"]?.bool == true { return news }
        }
    }

    private static func notJudged(_ fault: JSON) -> CommandFailure {
        let code = fault["code"]?.string ?? "conform.own"
        return CommandFailure(
            exit: code == "conform.own" || code == "conform.missing" ? .badInput : .unavailable, code: code,
            message: "nothing was judged: \(fault["message"]?.string ?? "the run ended without a word")",
            advice: code == "conform.broken" ? "make a plain sign-in work first: understudy signin" : nil)
    }
}
