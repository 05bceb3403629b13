import Encoding

/// The program from its arguments to its exit code.
struct Program: Sendable {
    /// The environment.
    let environment: [String: String]
    /// Where everything is written; a command's own settings decide about JSON.
    let makeOutput: @Sendable (_ json: Bool) -> Output
    /// How the control API is found.
    let makeConnector: @Sendable (Settings, Output) -> any Connector

    /// Runs one command line.
    ///
    /// - Parameter arguments: what follows the program's name.
    func run(_ arguments: [String]) async -> ExitCode {
        let table = Commands.table
        switch Result(catching: { () throws(UsageError) in
            try CommandLineReader(table: table, environment: environment).read(arguments)
        }) {
        case .success(.help(let words)):
            makeOutput(false).say(Help(table: table).lines(about: words))
            return .done
        case .success(.run(let parsed)):
            return await run(parsed)
        case .failure(let error):
            return refuse(error, json: arguments.contains("--json"))
        }
    }

    private func run(_ parsed: ParsedArguments) async -> ExitCode {
        let output = makeOutput(parsed.has("json"))
        warnAboutUnknownVariables(output)
        do throws(CommandFailure) {
            let settings = try Settings(parsed, environment: environment)
            let connector = makeConnector(settings, output)
            let context = CommandContext(
                settings: settings, output: output, connector: connector, environment: environment)
            let result = await CommandFailure.caught { () async throws(CommandFailure) in
                try await parsed.command.action(parsed, context)
            }
            await connector.finish()
            return try result.get()
        } catch {
            if output.isJSON { output.document(error.json) }
            error.lines.forEach { output.note($0) }
            return error.exit
        }
    }

    private func refuse(_ error: UsageError, json: Bool) -> ExitCode {
        let output = makeOutput(json)
        if json {
            output.document(CommandFailure(exit: .usage, code: "usage", message: error.message).json)
        }
        error.lines.forEach { output.note(Display.safe($0)) }
        return .usage
    }

    /// A misspelled variable would otherwise do nothing, silently.
    private func warnAboutUnknownVariables(_ output: Output) {
        let known = Self.variables
        for name in environment.keys.sorted() where name.hasPrefix("UNDERSTUDY_") && !known.contains(name) {
            if ExecCommand.variables.contains(name) || name.hasPrefix(ExecCommand.issuerPrefix) { continue }
            let near = Nearest.match(name, among: known.sorted())
            output.note("understudy: \(name) means nothing" + (near.map { "; did you mean \($0)?" } ?? ""))
        }
    }

    /// Every environment variable some option reads.
    static let variables = GlobalOptions.variables.union(
        Commands.table.commands.flatMap { $0.options.compactMap(\.environment) })
}
