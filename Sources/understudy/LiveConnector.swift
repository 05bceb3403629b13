import Control
import Encoding
import Engine
import HTTP
import Synchronization
import Transport

/// Finds daemons by their ready file, and asks them whether they live.
final class LiveConnector: Connector {
    private let settings: Settings
    private let output: Output
    private let client: HTTPClient
    private let phone = Mutex<Phone?>(nil)

    /// A daemon that starts holds the directory before it is ready, and commands hold it until they end: how often to look
    /// again.
    private let looks: Int
    /// How long to pause between two looks.
    private static let pauseNanoseconds: UInt64 = 50_000_000
    /// How long a command waits for aborts and revocations nobody asked it about.
    private static let settleMilliseconds = 5000

    init(_ settings: Settings, _ output: Output, looks: Int = 100) {
        self.settings = settings
        self.looks = looks
        self.output = output
        client = HTTPClient(
            ClientConfiguration(proxy: .none, limits: HTTPLimits(body: FetchDocumentSize.answer)))
    }

    func control() async throws(CommandFailure) -> ControlClient { try await control(alone: false) }

    func loneControl() async throws(CommandFailure) -> ControlClient { try await control(alone: true) }

    private func control(alone: Bool) async throws(CommandFailure) -> ControlClient {
        if settings.controlURL != nil { return try await daemon() }
        for _ in 0..<looks {
            if let daemon = try await runningDaemon() { return daemon }
            do throws(CommandFailure) {
                return try local(alone: alone)
            } catch {
                guard error.code == "state_in_use" else { throw error }
            }
            try? await Task.sleep(nanoseconds: Self.pauseNanoseconds)
        }
        return try local(alone: alone)
    }

    /// The control API in this process.
    private func local(alone: Bool) throws(CommandFailure) -> ControlClient {
        let opened = try Phone.forCommand(settings, alone: alone)
        phone.withLock { $0 = opened }
        return ControlClient(opened)
    }

    func finish() async {
        await phone.withLock { $0 }?.engine.settle(within: Self.settleMilliseconds)
    }

    func daemon() async throws(CommandFailure) -> ControlClient {
        if let url = settings.controlURL {
            warnAboutNetworkOptions(url)
            return try remote(url)
        }
        guard let daemon = try await runningDaemon() else { throw .noDaemon(state: settings.stateDirectory) }
        return daemon
    }

    func remote(_ url: String) throws(CommandFailure) -> ControlClient { ControlClient(try port(url)) }

    func lonelyIdPs() -> [ServedIdP] {
        guard let ready = ReadyFile.read(at: settings.idpReadyFile), ready.isFromRunningProcess else { return [] }
        return ready.idps
    }

    /// The daemon of the state directory, where one answers; a ready file left by one that was killed is none.
    private func runningDaemon() async throws(CommandFailure) -> ControlClient? {
        guard let url = ReadyFile.read(at: settings.readyFile)?.control else { return nil }
        let port = try port(url)
        guard await port.isAlive() else { return nil }
        warnAboutNetworkOptions(url)
        return ControlClient(port)
    }

    /// Options that say how calls leave the process say nothing to a daemon that makes them.
    private func warnAboutNetworkOptions(_ url: String) {
        for name in settings.networkFlags {
            output.note("understudy: --\(name) does nothing here: the daemon at \(url) makes the calls")
        }
    }

    private func port(_ url: String) throws(CommandFailure) -> RemoteControl {
        do throws(ControlPortError) {
            return try RemoteControl(url: url, client: client)
        } catch {
            throw CommandFailure(exit: .configuration, code: error.code, message: error.description)
        }
    }
}
