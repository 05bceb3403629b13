/// One command: how it is called, what it takes, what it does.
struct CommandSpec: Sendable {
    /// What running a command comes to: the exit code, or a failure that has one.
    typealias Action = @Sendable (ParsedArguments, CommandContext) async throws(CommandFailure) -> ExitCode

    /// One word, or a noun and a verb.
    let path: [String]
    /// One line of help.
    let summary: String
    /// The plain arguments in order.
    var arguments: [ArgumentSpec] = []
    /// The options besides the global ones.
    var options: [OptionSpec] = []
    /// Paragraphs and examples under the options.
    var notes: [String] = []
    /// What it does.
    let action: Action

    /// Describes a command; `path` is its words divided by a blank.
    init(
        _ path: String, _ summary: String, arguments: [ArgumentSpec] = [], options: [OptionSpec] = [],
        notes: [String] = [], action: @escaping Action
    ) {
        self.path = path.split(separator: " ").map(String.init)
        self.summary = summary
        self.arguments = arguments
        self.options = options
        self.notes = notes
        self.action = action
    }

    /// The words of the command, such as `device create`.
    var name: String { path.joined(separator: " ") }

    /// The usage line: required options are written out, others are summed up.
    var usage: String {
        let required = options.filter(\.required).map(\.usage)
        let rest = options.contains { !$0.required } ? ["[options]"] : []
        return (["usage: understudy", name] + required + rest + arguments.map(\.usage)).joined(separator: " ")
    }
}
