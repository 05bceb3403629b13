/// All commands, in the order help lists them.
struct CommandTable: Sendable {
    /// The commands.
    let commands: [CommandSpec]

    /// The command of exactly these words.
    func command(_ words: [String]) -> CommandSpec? { commands.first { $0.path == words } }

    /// Whether this is one word that has verbs.
    func isNoun(_ words: [String]) -> Bool {
        words.count == 1 && commands.contains { $0.path.count > 1 && $0.path[0] == words[0] }
    }

    /// The verbs of a noun.
    func verbs(of noun: String) -> [String] {
        commands.filter { $0.path.count > 1 && $0.path[0] == noun }.map { $0.path[1] }
    }

    /// Every word a command line may begin with, each once.
    var firstWords: [String] {
        var seen: Set<String> = []
        return (commands.map { $0.path[0] } + ["help"]).filter { seen.insert($0).inserted }
    }
}
