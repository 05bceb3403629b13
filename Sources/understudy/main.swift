import FoundationEssentials
import Glibc

// Hidden: our HTTP alone, for the interoperability tests.
if CommandLine.arguments.dropFirst().first == "probe" {
    exit(await Probe.run(Array(CommandLine.arguments.dropFirst(2))))
}

let program = Program(
    environment: ProcessInfo.processInfo.environment,
    makeOutput: { Output.standard(json: $0, environment: ProcessInfo.processInfo.environment) },
    makeConnector: { LiveConnector($0, $1) })
exit(await program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
