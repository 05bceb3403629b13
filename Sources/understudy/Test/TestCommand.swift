import Control
import Crypto
import Encoding
import Engine
import FoundationEssentials
import HTTP
import Scenario
import Transport

/// `understudy test`: plays scenarios and says which of them hold.
enum TestCommand {
    static let spec = CommandSpec(
        "test", "play scenarios, and say which of them hold",
        arguments: [ArgumentSpec(name: "PATH", optional: true, repeats: true, help: "a scenario, or a folder of them")],
        options: [
            .one("issuer", "I", help: "play against this identity provider; a reference IdP for each when left out"),
            .one("client", "C", help: "the application there"),
            .one("resource", "R", help: "the audience of an API there"),
            .many("ticket", "T", help: "an enrolment ticket of it; each is used once"),
            .one(
                "ticket-command", "COMMAND", help: "a command that reads who enrols as JSON and prints a ticket"),
            .one("filter", "TEXT", help: "only those with this in group, name or title"),
            .flag("list", help: "list them by group and play none"),
            .flag("schema", help: "print the JSON Schema of scenarios and play none"),
            .one("jobs", "N", form: .number(1...64), standard: "one for each core", help: "how many at once"),
            .one("expected-failures", "FILE", help: "those known to fail, with reason and last day, as JSON5"),
            .flag("fail-on-skip", help: "exit 1 where one was skipped"),
        ] + TestArtefacts.options,
        notes: [
            "Files are JSON5; docs/scenarios.md describes them. All phones, keys and nonces of a run come from --seed.",
            """
            Exit code 0: all held; 1: one did not, or is skipped with --fail-on-skip; 65: a file is none; 69, 73, 78: \
            the set-up failed.
            """,
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        if parsed.has("schema") {
            context.output.bytes(Array((Scenario.schema.prettyText + "\n").utf8))
            return .done
        }
        guard !parsed.arguments.isEmpty else { throw .usage("test: name a scenario, or a folder of them", of: parsed) }
        let library = try library(parsed.arguments)
        library.broken.flatMap(\.faults).forEach { context.output.note(Display.safe("\($0)")) }
        let chosen = try chosen(library.scenarios, parsed)
        let expected = try expectedFailures(parsed, library.scenarios)
        if parsed.has("list") { return TestListing.tell(chosen, library.broken, context.output) }
        let artefacts = try TestArtefacts(parsed, key: redactionKey(parsed, context))
        let suite = try await suite(parsed, context)
        let run = TestRun(suite: suite, expected: expected, artefacts: artefacts, output: context.output)
        let report = await run.play(chosen, broken: library.broken)
        try artefacts.write(report)
        run.sumUp(report)
        if context.environment["GITHUB_ACTIONS"] == "true" {
            library.broken.flatMap(Annotations.lines).forEach { context.output.say(Display.safe($0)) }
            let others = report.without(library.broken)
            Annotations.lines(others, key: artefacts.key).forEach { context.output.say(Display.safe($0)) }
        }
        return exitCode(report, broken: library.broken, parsed)
    }

    private static func library(_ paths: [String]) throws(CommandFailure) -> ScenarioLibrary {
        do throws(LibraryError) {
            return try ScenarioLibrary(paths: paths)
        } catch {
            throw CommandFailure(exit: .badInput, code: error.code, message: error.description, field: "PATH")
        }
    }

    private static func chosen(
        _ scenarios: [Scenario], _ parsed: ParsedArguments
    ) throws(CommandFailure) -> [Scenario] {
        guard let text = parsed["filter"]?.lowercased() else { return scenarios }
        let chosen = scenarios.filter { scenario in
            "\(scenario.group)/\(scenario.name) \(scenario.title)".lowercased().contains(text)
        }
        guard !chosen.isEmpty else { throw .usage("test: no scenario has '\(text)' in it", of: parsed) }
        return chosen
    }

    private static func expectedFailures(
        _ parsed: ParsedArguments, _ scenarios: [Scenario]
    ) throws(CommandFailure) -> ExpectedFailures? {
        guard let file = parsed["expected-failures"] else { return nil }
        do throws(BrokenFile) {
            return try ExpectedFailures(file: file, knowing: scenarios)
        } catch {
            throw .brokenExpectations(error)
        }
    }

    /// Hashes of secrets are the same in two runs of one seed; against an IdP of somebody's they are this run's own.
    private static func redactionKey(_ parsed: ParsedArguments, _ context: CommandContext) -> [UInt8] {
        let seed = context.settings.seed ?? (parsed["issuer"] == nil ? ScenarioSuite.standardSeed : nil)
        return (seed.map { SeedBook.entropy(seed: $0, stretch: "test redaction") } ?? .system).bytes(32)
    }

    private static func exitCode(_ report: Report, broken: [BrokenFile], _ parsed: ParsedArguments) -> ExitCode {
        let counts = report.counts
        if counts.failed > 0 { return .failed }
        if counts.errors > broken.count { return parsed["issuer"] == nil ? .configuration : .unavailable }
        if !broken.isEmpty { return .badInput }
        return counts.skipped > 0 && parsed.has("fail-on-skip") ? .failed : .done
    }
}

extension CommandFailure {
    /// A list of expected failures that is none.
    static func brokenExpectations(_ error: BrokenFile) -> CommandFailure {
        CommandFailure(
            exit: .badInput, code: "expected_failures", message: error.description, field: "expected-failures")
    }
}

/// Against whom.
extension TestCommand {
    private static func suite(
        _ parsed: ParsedArguments, _ context: CommandContext
    ) async throws(CommandFailure) -> ScenarioSuite {
        var suite = ScenarioSuite()
        suite.version = Version.current
        suite.seed = context.settings.seed
        suite.profile = try context.settings.profile()
        suite.jobs = parsed.number("jobs") ?? ProcessInfo.processInfo.activeProcessorCount
        guard let issuer = parsed["issuer"] else {
            if let idle = ["client", "resource", "ticket", "ticket-command"].first(where: parsed.has) {
                throw .usage("test: --\(idle) goes with --issuer", of: parsed)
            }
            return suite
        }
        guard let client = parsed["client"] else { throw .usage("test: --issuer needs --client", of: parsed) }
        // The state directory has no part in this, so neither has its count of processes with this seed.
        var network = context.settings
        network.seed = nil
        var settings = try Phone.engineSettings(network)
        if let seed = context.settings.seed { settings.entropy = SeedBook.entropy(seed: seed, stretch: "test phones") }
        try await makeSureOfAnswer(issuer, settings)
        suite.opponent = .staging(
            issuer: issuer, client: client, resource: parsed["resource"], tickets: try tickets(parsed),
            settings: settings)
        return suite
    }

    private static func tickets(_ parsed: ParsedArguments) throws(CommandFailure) -> Tickets {
        guard let command = parsed["ticket-command"] else { return .given(parsed.all("ticket")) }
        guard !parsed.has("ticket") else {
            throw .usage("test: --ticket and --ticket-command do not go together", of: parsed)
        }
        return .asked { (request) throws(NoTicket) in
            switch await CommandRun.shell(command, input: request.json.serialized(), timeoutMilliseconds: 10_000) {
            case .notStarted(let why): throw NoTicket("the command does not start: \(why)")
            case .tooLate: throw NoTicket("the command took over 10 s")
            case .ended(0, let printed, _): return try Ticket(printed: printed)
            case .ended(let code, _, let said):
                let words = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isWhitespace)
                throw NoTicket("the command exited with \(code): " + words.joined(separator: " ").suffix(300))
            }
        }
    }

    /// An issuer that does not answer would make every scenario fail for one reason that is none of theirs.
    private static func makeSureOfAnswer(_ issuer: String, _ settings: EngineSettings) async throws(CommandFailure) {
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(issuer) } catch { throw .badValue("issuer", "issuer: \(error)") }
        if let objection = settings.hosts.objection(to: url) {
            throw CommandFailure(
                exit: .configuration, code: objection.code, message: objection.description, field: "issuer")
        }
        let client = HTTPClient(settings.client)
        defer { client.close() }
        do throws(TransportError) {
            _ = try await client.send(ClientRequest(url: url, timeoutMilliseconds: 10_000))
        } catch {
            throw CommandFailure(
                exit: .unavailable, code: "unreachable", message: "\(issuer) does not answer: \(error)",
                field: "issuer")
        }
    }
}

extension Report {
    /// The run without the files that are no scenarios.
    fileprivate func without(_ broken: [BrokenFile]) -> Report {
        var report = self
        report.cases.removeAll { each in broken.contains { $0.file == each.file } }
        return report
    }
}
