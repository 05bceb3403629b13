import Control
import Encoding
import Foundation
import Glibc

/// `understudy exec -- CMD…`: a daemon and reference IdPs around a command, and the command's own exit code.
enum ExecCommand {
    static let spec = CommandSpec(
        "exec", "run a command with a daemon and reference IdPs around it, and end with its exit code",
        arguments: [ArgumentSpec(name: "CMD", repeats: true, help: "the command and its arguments, behind --")],
        options: [
            .one("port", "N", form: .port, standard: "any", help: "the control API's port"), ServeOptions.idp,
            .one("idp-port", "N", form: .port, standard: "any", help: "the first reference IdP's port"),
            ServeOptions.bind, ServeOptions.clock,
        ] + LaunchedAssertions.specs,
        notes: [
            """
            The state directory is a fresh one and gone afterwards, unless --state or UNDERSTUDY_STATE names one. The \
            command finds UNDERSTUDY_URL, UNDERSTUDY_ISSUER, UNDERSTUDY_ISSUER_<TENANT>, UNDERSTUDY_API, \
            UNDERSTUDY_MANAGEMENT, UNDERSTUDY_STATE and UNDERSTUDY_SEED in its environment.
            """,
            """
            Exit codes: the command's own, 128 and the number for a signal; 126 and 127 when it cannot be run; 69 and \
            78 when the set-up failed, and then the command was not run.
            """,
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var settings = SeedBook.seeded(context.settings)
        let scratch = parsed["state"] == nil ? try TemporaryState() : nil
        if let scratch { settings.stateDirectory = scratch.path }
        defer { scratch?.remove() }
        let stop = StopSignal()
        let daemon = try await Daemon.start(
            parsed, settings, defaults: Daemon.Defaults(port: 0, idpPort: 0, systems: HostedIdP.systems), until: stop)
        context.output.note(SeedBook.line(settings))
        let outcome = await CommandFailure.caught { () async throws(CommandFailure) in
            do throws(PrivateFileError) {
                try daemon.ready.write(to: settings.readyFile)
            } catch {
                throw CommandFailure(exit: .configuration, code: error.code, message: error.description)
            }
            let environment = environment(context.environment, daemon.ready, settings)
            return try await ChildProcess.run(parsed.arguments, environment: environment)
        }
        await daemon.end()
        return try outcome.get()
    }

    /// The variables the command finds where everything is by.
    static let variables: Set<String> = [
        "UNDERSTUDY_URL", "UNDERSTUDY_ISSUER", "UNDERSTUDY_API", "UNDERSTUDY_MANAGEMENT", "UNDERSTUDY_STATE",
        "UNDERSTUDY_SEED",
    ]
    /// What variables for single tenants begin with.
    static let issuerPrefix = "UNDERSTUDY_ISSUER_"

    private static func environment(
        _ given: [String: String], _ ready: ReadyFile, _ settings: Settings
    ) -> [String: String] {
        // What a run around this one said is about that one.
        var environment = given.filter { !variables.contains($0.key) && !$0.key.hasPrefix(issuerPrefix) }
        environment["UNDERSTUDY_URL"] = ready.control
        environment["UNDERSTUDY_STATE"] = settings.stateDirectory
        environment["UNDERSTUDY_SEED"] = settings.seed
        guard let idp = ready.idps.first else { return environment }
        environment["UNDERSTUDY_ISSUER"] = idp.issuers.first
        environment["UNDERSTUDY_API"] = idp.issuers.first.map {
            $0.replacing(idp.origin, with: idp.api, maxReplacements: 1)
        }
        environment["UNDERSTUDY_MANAGEMENT"] = idp.management
        for issuer in idp.issuers {
            let tenant = issuer.split(separator: "/").last.map(String.init) ?? ""
            let name = tenant.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
            environment[issuerPrefix + String(name)] = issuer
        }
        return environment
    }
}

/// A state directory for one run.
private struct TemporaryState {
    let path: String

    init() throws(CommandFailure) {
        let base = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array((base + "/understudy-exec-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                exit: .configuration, code: "no_state_directory",
                message: "cannot make a directory in \(base): \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the directory and what is in it.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
