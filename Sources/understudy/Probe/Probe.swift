import Encoding
import Foundation
import HTTP
import Transport

/// The hidden `understudy probe` commands: our HTTP client and server on their own, for other people's
/// programs to be tried against (`tools/referees/http`) and for measuring.
///
/// - `probe serve [--port N] [--tls-cert FILE --tls-key FILE]` prints `{"port":N}` and serves until it is killed.
/// - `probe get [--method M] [--header 'K: V']… [--data-file FILE] [--cacert FILE] [--resolve H:P:IP:P]
///   [--repeat N] [--timeout MS] URL` prints one line of JSON per request.
/// - `probe load [--requests N] [--connections C] [--loops L]` measures client and server in one process.
enum Probe {
    /// Runs one of the commands.
    ///
    /// - Parameter arguments: what follows `probe`.
    /// - Returns: the exit status: 0, 1 for a failed request or a server that cannot start, 64 for bad usage.
    static func run(_ arguments: [String]) async -> Int32 {
        guard let command = arguments.first, let options = ProbeOptions(arguments.dropFirst()) else { return usage() }
        switch command {
        case "serve": return await ProbeServer.run(options)
        case "get": return await ProbeFetch.run(options)
        case "load": return await ProbeLoad.run(options)
        default: return usage()
        }
    }

    /// Prints one line of JSON, at once.
    static func say(_ members: KeyValuePairs<String, JSON>) {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        // Past the buffer of `print`: the reader waits for this line while we go on serving.
        FileHandle.standardOutput.write(Data(JSON.object(object).serialized() + [0x0A]))
    }

    /// Prints an error in the shape of an answer.
    static func fail(_ error: TransportError) -> Int32 {
        say(["error": .string(error.code), "description": .string(error.description)])
        return 1
    }

    static func usage() -> Int32 {
        say(["error": "usage", "description": "probe serve | get | load"])
        return 64
    }
}

/// `--name value` pairs and what stands alone.
struct ProbeOptions {
    private var values: [String: [String]] = [:]
    private(set) var operands: [String] = []

    /// - Returns: nil when an option lacks its value.
    init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                operands.append(argument)
                continue
            }
            guard let value = rest.popFirst() else { return nil }
            values[String(argument.dropFirst(2)), default: []].append(value)
        }
    }

    subscript(name: String) -> String? { values[name]?.last }

    /// Every value of an option that may be repeated.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// A number, or the default when the option is missing or no number.
    func number(_ name: String, default fallback: Int) -> Int { self[name].flatMap { Int($0) } ?? fallback }
}
