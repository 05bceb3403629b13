import Control

/// What a command has to work with.
struct CommandContext: Sendable {
    /// The global options, resolved.
    let settings: Settings
    /// Where it writes.
    let output: Output
    /// How it reaches the control API.
    let connector: any Connector
    /// The environment.
    var environment: [String: String] = [:]

    /// Tells flows as the options ask for it: with `-v`, what each call proved.
    var narrator: FlowNarrator { FlowNarrator(style: output.style, verbose: settings.verbose) }

    /// The control API: of a daemon where one runs, else in this process.
    func control() async throws(CommandFailure) -> ControlClient { try await connector.control() }

    /// The control API for a command that replaces the state: in this process, no other command is at work meanwhile.
    func loneControl() async throws(CommandFailure) -> ControlClient { try await connector.loneControl() }

    /// The control API of a daemon, for what only a daemon has.
    func daemon() async throws(CommandFailure) -> ControlClient { try await connector.daemon() }
}

/// Finds the control API, and the management APIs of reference IdPs.
protocol Connector: Sendable {
    /// The control API of the daemon where one runs, else one in this process.
    func control() async throws(CommandFailure) -> ControlClient
    /// The same, with the state directory to itself where there is no daemon, which keeps others out by itself.
    func loneControl() async throws(CommandFailure) -> ControlClient
    /// The control API of the daemon.
    func daemon() async throws(CommandFailure) -> ControlClient
    /// Any API of ours at a URL.
    func remote(_ url: String) throws(CommandFailure) -> ControlClient
    /// Lets what was begun in this process come to its end; called when the command is done.
    func finish() async
    /// The reference IdPs of a process that is no daemon (`understudy idp serve`), where one runs.
    func lonelyIdPs() -> [ServedIdP]
}
