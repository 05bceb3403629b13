import Control
import Encoding

/// `understudy idp doctor`: what is misconfigured at a reference IdP, and what to do.
enum IdPDoctor {
    static let spec = CommandSpec(
        "idp doctor", "say what is misconfigured at an IdP, and what to do",
        options: [.one("issuer", "I", standard: "every tenant of the only IdP", help: "one issuer alone")],
        notes: ["Exit code 0 where nothing is worse than a warning, 1 where something is."], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let issuer = parsed["issuer"]
        let tenant = try await ManagedTenant.find(issuer, context)
        let path = issuer == nil ? "/manage/doctor" : tenant.path + "/doctor"
        let report = try await calling { () throws(ControlFailure) in try await tenant.api.get(path) }
        context.output.result(report, lines: DiagnosisLines.lines(report.records("diagnoses")))
        return DiagnosisLines.exitCode(report.records("diagnoses"))
    }
}

/// Diagnoses for a person: how bad, where, what is so, what to do.
enum DiagnosisLines {
    static func lines(_ diagnoses: [JSON]) -> [String] {
        guard !diagnoses.isEmpty else { return ["nothing is wrong"] }
        return diagnoses.flatMap { diagnosis in
            let place = ["tenant", "client_id", "device", "issuer"].compactMap {
                diagnosis[$0]?.string.map(Display.safe)
            }
            let head = [diagnosis.shown("severity"), diagnosis.shown("rule")] + place
            return [
                head.joined(separator: "  "), "  " + diagnosis.shown("problem"),
                "  what to do: " + diagnosis.shown("remedy"),
            ]
        }
    }

    static func exitCode(_ diagnoses: [JSON]) -> ExitCode {
        diagnoses.contains { $0["severity"]?.string == "error" } ? .failed : .done
    }
}
