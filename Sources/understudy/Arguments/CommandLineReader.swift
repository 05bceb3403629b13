import Encoding

/// Turns a list of arguments into a command and its values, or says in one line what is wrong with it.
struct CommandLineReader: Sendable {
    /// What may be asked for.
    let table: CommandTable
    /// The environment that stands in for options nobody gave.
    let environment: [String: String]

    /// Reads the arguments behind the program's name.
    func read(_ list: [String]) throws(UsageError) -> Invocation {
        var options = Collected()
        var rest = list[...]
        var words: [String] = []
        while true {
            try options.add(read(&rest, GlobalOptions.all, usage: usage(of: words)), usage: usage(of: words))
            if options.has("help") { return .help(words) }
            guard let word = rest.first else { throw incomplete(words) }
            if words.isEmpty, word == "help" { return try help(rest.dropFirst()) }
            words.append(word)
            rest = rest.dropFirst()
            // A command may have verbs besides: `attest` makes evidence, `attest verify` explains some.
            let hasVerb = rest.first.map { table.command(words + [$0]) != nil } ?? false
            if let command = table.command(words), !hasVerb { return try read(rest, for: command, options) }
            guard table.isNoun(words) else { throw unknown(words) }
        }
    }

    private func read(_ rest: ArraySlice<String>, for command: CommandSpec, _ options: Collected) throws(UsageError)
        -> Invocation
    {
        var options = options
        let known = GlobalOptions.all + command.options
        let items: [OptionReader.Item]
        do throws(OptionReader.Fault) {
            items = try OptionReader(known).read(Array(rest), stopAtPlain: false).items
        } catch {
            throw usageError(error, known, command.usage, command.name)
        }
        try options.add(items, known, usage: command.usage, command: command.name)
        if options.has("help") { return .help(command.path) }
        let parsed = ParsedArguments(
            command: command, options: options.values, given: Set(options.values.keys), arguments: options.plain)
        return .run(try completed(parsed, known))
    }

    /// Fills in the environment and checks what must be there.
    private func completed(_ parsed: ParsedArguments, _ known: [OptionSpec]) throws(UsageError) -> ParsedArguments {
        var parsed = parsed
        let command = parsed.command
        for option in known where parsed.options[option.name] == nil {
            guard let variable = option.environment, let text = environment[variable], !text.isEmpty else { continue }
            let values = option.repeats ? text.split(separator: ",").map(String.init) : [text]
            for value in values {
                guard let rule = option.form.rule(brokenBy: value) else { continue }
                throw UsageError(message: "\(variable): '\(value)' \(rule)", usage: command.usage)
            }
            parsed.options[option.name] = values
        }
        if let missing = command.options.first(where: { $0.required && parsed.options[$0.name] == nil }) {
            throw UsageError(message: "\(command.name) needs \(missing.usage)", usage: command.usage)
        }
        let needed = command.arguments.filter { !$0.optional }.count
        if parsed.arguments.count < needed {
            let name = command.arguments[parsed.arguments.count].name
            throw UsageError(message: "\(command.name) needs \(name)", usage: command.usage)
        }
        let most = command.arguments.last?.repeats == true ? Int.max : command.arguments.count
        if parsed.arguments.count > most {
            let message = "\(command.name): unexpected argument '\(parsed.arguments[most])'"
            throw UsageError(message: message, usage: command.usage)
        }
        return parsed
    }

    /// Reads the global options in front of the next word.
    private func read(_ rest: inout ArraySlice<String>, _ known: [OptionSpec], usage: String) throws(UsageError)
        -> [OptionReader.Item]
    {
        do throws(OptionReader.Fault) {
            let (items, count) = try OptionReader(known).read(Array(rest), stopAtPlain: true)
            rest = rest.dropFirst(count)
            return items
        } catch {
            throw usageError(error, known, usage, nil)
        }
    }

    private func help(_ rest: ArraySlice<String>) throws(UsageError) -> Invocation {
        let words = rest.filter { !$0.hasPrefix("-") }
        guard words.isEmpty || table.command(words) != nil || table.isNoun(words) else { throw unknown(words) }
        return .help(words)
    }
}

// The words of what is wrong.
extension CommandLineReader {
    private func usage(of words: [String]) -> String {
        words.isEmpty ? Help.usage : "usage: understudy \(words.joined(separator: " ")) VERB [options]"
    }

    private func incomplete(_ words: [String]) -> UsageError {
        guard let noun = words.first else { return UsageError(message: "a command is missing", usage: Help.usage) }
        return UsageError(message: "\(noun) needs a verb: \(list(table.verbs(of: noun)))", usage: usage(of: words))
    }

    private func unknown(_ words: [String]) -> UsageError {
        guard words.count > 1, table.isNoun([words[0]]) else {
            let near = Nearest.match(words[0], among: table.firstWords)
            return UsageError(message: "unknown command '\(words[0])'" + meant(near), usage: Help.usage)
        }
        let verbs = table.verbs(of: words[0])
        let near = Nearest.match(words[1], among: verbs)
        let hint = near == nil ? "; there are \(list(verbs))" : meant(near.map { "\(words[0]) \($0)" })
        let name = words.prefix(2).joined(separator: " ")
        return UsageError(message: "unknown command '\(name)'" + hint, usage: usage(of: [words[0]]))
    }

    private func usageError(_ fault: OptionReader.Fault, _ known: [OptionSpec], _ usage: String, _ command: String?)
        -> UsageError
    {
        let place = command.map { "\($0): " } ?? ""
        switch fault {
        case .unknownOption(let name):
            let near = Nearest.match(name, among: known.map { "--\($0.name)" })
            return UsageError(message: "\(place)unknown option \(name)" + meant(near), usage: usage)
        case .missingValue(let name):
            let value = known.first { "--\($0.name)" == name || $0.letter.map { "-\($0)" } == name }?.value ?? "value"
            return UsageError(message: "\(place)\(name) needs a value: \(name) \(value)", usage: usage)
        case .unwantedValue(let name):
            return UsageError(message: "\(place)\(name) takes no value", usage: usage)
        }
    }

    private func meant(_ near: String?) -> String { near.map { "; did you mean '\($0)'?" } ?? "" }

    private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}

/// Options as they are collected from the places they may stand in.
private struct Collected {
    var values: [String: [String]] = [:]
    var plain: [String] = []

    func has(_ name: String) -> Bool { values[name] != nil }

    mutating func add(_ items: [OptionReader.Item], usage: String) throws(UsageError) {
        try add(items, GlobalOptions.all, usage: usage, command: nil)
    }

    mutating func add(_ items: [OptionReader.Item], _ known: [OptionSpec], usage: String, command: String?)
        throws(UsageError)
    {
        for item in items {
            switch item {
            case .plain(let text):
                plain.append(text)
            case .option(let name, let value):
                guard let option = known.first(where: { $0.name == name }) else { continue }
                if let value, let rule = option.form.rule(brokenBy: value) {
                    let place = command.map { "\($0): " } ?? ""
                    throw UsageError(message: "\(place)--\(name): '\(value)' \(rule)", usage: usage)
                }
                values[name] = (option.repeats ? values[name] ?? [] : []) + [value ?? ""]
            }
        }
    }
}
