import Control
import Encoding
import Transport

/// Finds daemons by their ready file, and asks them whether they live.
struct LiveConnector: Connector {
    private let settings: Settings
    private let output: Output
    private let client: HTTPClient

    init(_ settings: Settings, _ output: Output) {
        self.settings = settings
        self.output = output
        client = HTTPClient(ClientConfiguration(proxy: .none))
    }

    func control() async throws(CommandFailure) -> ControlClient {
        try await daemon()
    }

    func daemon() async throws(CommandFailure) -> ControlClient {
        if let url = settings.controlURL { return try remote(url) }
        guard let daemon = try await runningDaemon() else { throw .noDaemon(state: settings.stateDirectory) }
        return daemon
    }

    func remote(_ url: String) throws(CommandFailure) -> ControlClient { ControlClient(try port(url)) }

    func lonelyIdPs() -> [ReadyFile.IdP] { ReadyFile.read(at: settings.stateDirectory + "/idps.json")?.idps ?? [] }

    /// The daemon of the state directory, where one answers; a ready file left by one that was killed is none.
    private func runningDaemon() async throws(CommandFailure) -> ControlClient? {
        guard let url = ReadyFile.read(at: settings.readyFile)?.control else { return nil }
        let port = try port(url)
        return await port.isAlive() ? ControlClient(port) : nil
    }

    private func port(_ url: String) throws(CommandFailure) -> RemoteControl {
        do throws(ControlPortError) {
            return try RemoteControl(url: url, client: client)
        } catch {
            throw CommandFailure(exit: .configuration, code: error.code, message: error.description)
        }
    }
}
