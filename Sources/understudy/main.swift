import Foundation

let program = Program(
    environment: ProcessInfo.processInfo.environment,
    makeOutput: { Output.standard(json: $0, environment: ProcessInfo.processInfo.environment) },
    makeConnector: { LiveConnector($0, $1) })
exit(await program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
