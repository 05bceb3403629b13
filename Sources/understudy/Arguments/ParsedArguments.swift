/// A command line that was understood: the command, and what it was given.
struct ParsedArguments: Sendable {
    /// The command.
    let command: CommandSpec
    /// The values of options that were given or stand in the environment; a switch has an empty text.
    var options: [String: [String]] = [:]
    /// Names of options that came from the command line, not from the environment.
    var given: Set<String> = []
    /// The plain arguments.
    var arguments: [String] = []

    /// Whether a switch was given.
    func has(_ name: String) -> Bool { options[name] != nil }

    /// The value of an option, the last where it was given again.
    subscript(name: String) -> String? { options[name]?.last }

    /// All values of a repeatable option.
    func all(_ name: String) -> [String] { options[name] ?? [] }

    /// The value of an option the reader insists on.
    func required(_ name: String) -> String {
        guard let value = self[name] else { preconditionFailure("--\(name) is not declared as required") }
        return value
    }

    /// The value of an option declared as a number.
    func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
}

/// What a command line asks for.
enum Invocation: Sendable {
    /// A command to run.
    case run(ParsedArguments)
    /// Help about a command, a noun with its verbs, or, for no words, everything.
    case help([String])
}
