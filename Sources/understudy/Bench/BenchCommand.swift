import Encoding

/// `understudy bench`: the device side of `tools/bench`.
enum BenchCommand {
    static let spec = CommandSpec(
        "bench", "sign in many times at once and say what it cost",
        options: [
            .one("issuer", "I", required: true, help: "the issuer to sign in at"),
            .one("client", "C", required: true, help: "the application"),
            .one("management", "URL", required: true, help: "the management API that makes the users"),
            .one("devices", "N", form: .number(1...100_000), standard: "64", help: "phones that sign in"),
            .one("resting", "N", form: .number(0...1_000_000), standard: "0", help: "phones that only exist"),
            .one("sign-ins", "N", form: .number(1...10_000_000), standard: "1000", help: "sign-ins in all"),
            .one("at-once", "N", form: .number(1...100_000), standard: "32", help: "sign-ins under way at once"),
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let bench = Bench(
            issuer: parsed.required("issuer"), client: parsed.required("client"),
            management: parsed.required("management"), devices: parsed.number("devices") ?? 64,
            resting: parsed.number("resting") ?? 0, signIns: parsed.number("sign-ins") ?? 1000,
            atOnce: parsed.number("at-once") ?? 32, directory: context.settings.stateDirectory)
        do {
            print(try await bench.run().text)
            return .done
        } catch {
            throw CommandFailure(exit: .failed, code: "bench", message: "\(error)")
        }
    }
}
