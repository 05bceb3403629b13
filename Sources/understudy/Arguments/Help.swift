/// The help texts, made from the table of commands.
struct Help: Sendable {
    /// The usage line of the program.
    static let usage = "usage: understudy COMMAND [options]; understudy help lists the commands"

    /// What there is to explain.
    let table: CommandTable

    /// Help about these words; about everything for none.
    func lines(about words: [String]) -> [String] {
        if let command = table.command(words) { return lines(about: command) }
        if table.isNoun(words) { return lines(aboutNoun: words[0]) }
        return overview
    }

    private var overview: [String] {
        let commands = table.commands.map { ($0.name, $0.summary) }
        return [
            "understudy: a virtual phone for testing first-party sign-in", "",
            "usage: understudy COMMAND [options]", "", "commands:",
        ] + columns(commands) + ["", "options of every command:"] + columns(rows(GlobalOptions.all)) + [
            "", "understudy help COMMAND says more. Try: understudy demo",
        ]
    }

    private func lines(aboutNoun noun: String) -> [String] {
        let commands = table.commands.filter { $0.path.count > 1 && $0.path[0] == noun }
        return ["usage: understudy \(noun) VERB [options]", ""] + columns(commands.map { ($0.name, $0.summary) })
    }

    private func lines(about command: CommandSpec) -> [String] {
        var lines = [command.usage, "", command.summary]
        if !command.arguments.isEmpty {
            lines += ["", "arguments:"] + columns(command.arguments.map { ($0.name, $0.help) })
        }
        if !command.options.isEmpty { lines += ["", "options:"] + columns(rows(command.options)) }
        lines += ["", "options of every command:"] + columns(rows(GlobalOptions.all))
        for note in command.notes { lines += ["", note] }
        return lines
    }

    private func rows(_ options: [OptionSpec]) -> [(String, String)] {
        options.map { option in
            let letter = option.letter.map { "-\($0), " } ?? ""
            var remarks: [String] = []
            if option.required { remarks.append("required") }
            if option.repeats { remarks.append("repeatable") }
            if case .choice(let words) = option.form { remarks.append(words.joined(separator: ", ")) }
            if let variable = option.environment { remarks.append("$\(variable)") }
            if let standard = option.standard { remarks.append("default \(standard)") }
            let remark = remarks.isEmpty ? "" : " (" + remarks.joined(separator: "; ") + ")"
            return (letter + option.usage, option.help + remark)
        }
    }

    /// Two columns, the second wrapped to fit 100 columns.
    private func columns(_ rows: [(String, String)]) -> [String] {
        let width = min(30, (rows.map(\.0.count).max() ?? 0) + 2)
        return rows.flatMap { name, text in
            let wrapped = wrap(text, to: 96 - width)
            let head = "  " + name
            let indent = String(repeating: " ", count: width + 2)
            if head.count + 1 > indent.count { return [head] + wrapped.map { indent + $0 } }
            let first = head + String(repeating: " ", count: indent.count - head.count) + (wrapped.first ?? "")
            return [first] + wrapped.dropFirst().map { indent + $0 }
        }
    }

    private func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
