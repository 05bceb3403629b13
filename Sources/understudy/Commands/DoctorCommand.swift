import Control
import Encoding
import Engine
import Glibc

/// `understudy doctor`: what is wrong about the phone, its directory and its way to the network, and what to do.
enum DoctorCommand {
    static let spec = CommandSpec(
        "doctor", "say what is wrong about the phone, and what to do",
        notes: [
            "Looks at the state directory, the daemon, proxy variables, clocks, enrolments and their issuers.",
            "Exit code 0 where nothing is worse than a warning, 1 where something is.",
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var found = context.settings.controlURL == nil ? directory(context.settings) : []
        found += proxies(context.environment) + (await daemon(context))
        var diagnoses = found.map(\.json)
        do throws(CommandFailure) {
            let control = try await context.control()
            let report = try await calling { () throws(ControlFailure) in try await control.get("/v1/doctor") }
            diagnoses += report.records("diagnoses")
        } catch {
            diagnoses.append(unusable(error).json)
        }
        let ordered = PhoneDiagnosis.Severity.allCases.flatMap { severity in
            diagnoses.filter { $0["severity"]?.string == severity.rawValue }
        }
        context.output.result(["diagnoses": .array(ordered)], lines: DiagnosisLines.lines(ordered))
        return DiagnosisLines.exitCode(ordered)
    }

    /// A state directory that does not open: a database of a newer version or of somebody else, a directory that is not
    /// ours.
    private static func unusable(_ failure: CommandFailure) -> PhoneDiagnosis {
        PhoneDiagnosis(
            .error, "state.\(failure.code)", failure.message,
            remedy: failure.advice ?? "use another directory: --state DIR, or the build that wrote this one")
    }

    /// The directory and its files are for their owner alone: they hold private keys.
    static func directory(_ settings: Settings) -> [PhoneDiagnosis] {
        let path = settings.stateDirectory
        let names = ["", "/understudy.db", "/understudy.db-wal", "/understudy.db-shm", "/daemon.json", "/idps.json"]
        return names.compactMap { name in
            var status = stat()
            guard stat(path + name, &status) == 0 else { return nil }
            let mode = status.st_mode & 0o777
            guard mode & 0o077 != 0 else { return nil }
            let wanted = name.isEmpty ? "700" : "600"
            return PhoneDiagnosis(
                .warning, "state.mode", "others may look into \(path + name): its mode is \(String(mode, radix: 8))",
                remedy: "chmod \(wanted) \(path + name)")
        }
    }

    /// Proxy variables move calls to a host nobody may have meant; loopback never goes through them.
    static func proxies(_ environment: [String: String]) -> [PhoneDiagnosis] {
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let set = names.filter { environment[$0]?.isEmpty == false }
        guard !set.isEmpty else { return [] }
        return [
            PhoneDiagnosis(
                .notice, "network.proxy",
                "\(set.joined(separator: ", ")) is set: calls to hosts besides loopback go through that proxy",
                remedy: "unset it, or name the hosts in no_proxy; a daemon has the variables it was started with")
        ]
    }

    private static func daemon(_ context: CommandContext) async -> [PhoneDiagnosis] {
        do throws(CommandFailure) {
            let daemon = try await context.daemon()
            _ = try await calling { () throws(ControlFailure) in try await daemon.get("/readyz") }
            return []
        } catch {
            // A daemon that was named must be there; without a name a command works in its own process.
            if context.settings.controlURL != nil {
                return [
                    PhoneDiagnosis(
                        .error, "daemon.unreachable", error.message,
                        remedy: error.advice ?? "start it, or leave --control out")
                ]
            }
            return [
                PhoneDiagnosis(
                    .notice, "daemon.none", "no daemon runs: commands work in their own process",
                    remedy: "start one for flows that outlive a command: understudy serve")
            ]
        }
    }
}
