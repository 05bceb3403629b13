import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import ReferenceIdP
import Store
import Transport

/// The phone's side of a process: a state directory, opened, with an engine on it and the control API on that.
struct Phone: Sendable {
    let store: Store
    let engine: Engine
    let api: ControlAPI
    /// Held as long as the directory is ours; nil for a store in memory.
    private let lock: StateLock?

    /// Opens the state directory of the settings for a command that found no daemon.
    ///
    /// `alone` keeps other commands out, for one that replaces what they work on. Throws `unavailable` where a daemon has
    /// the directory, or others stand in the way of being alone; `configuration` where it cannot be used.
    static func forCommand(_ settings: Settings, alone: Bool = false) throws(CommandFailure) -> Phone {
        let store = try open(settings.stateDirectory)
        let lock = try locking(settings.stateDirectory) { () throws(StateLock.Failure) in
            alone
                ? try StateLock.forLoneCommand(in: settings.stateDirectory)
                : try StateLock.forCommand(in: settings.stateDirectory)
        }
        return Phone(
            store: store, lock: lock, settings: try engineSettings(settings),
            snapshots: .inState(settings.stateDirectory), mayRunCommands: true)
    }

    /// Opens the state directory of the settings for a daemon, which has it alone.
    static func forDaemon(
        _ settings: Settings, clock: WorldClock = WorldClock(), mayRunCommands: Bool = false,
        onStop: @escaping @Sendable () -> Void
    ) throws(CommandFailure) -> Phone {
        let store = try open(settings.stateDirectory)
        let lock = try locking(settings.stateDirectory) { () throws(StateLock.Failure) in
            try StateLock.forDaemon(in: settings.stateDirectory)
        }
        var engine = try engineSettings(settings)
        engine.clock = clock
        return Phone(
            store: store, lock: lock, settings: engine, snapshots: .inState(settings.stateDirectory),
            mayRunCommands: mayRunCommands, onStop: onStop)
    }

    /// A phone whose state is gone when the process ends.
    static func inMemory(_ settings: EngineSettings) throws(CommandFailure) -> Phone {
        do {
            return Phone(
                store: try Store.inMemory(), lock: nil, settings: settings, snapshots: .inMemory(), mayRunCommands: true
            )
        } catch {
            throw CommandFailure(exit: .internalError, code: "store", message: "\(error)")
        }
    }

    private init(
        store: Store, lock: StateLock?, settings: EngineSettings, snapshots: SnapshotShelf, mayRunCommands: Bool,
        onStop: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.lock = lock
        engine = Engine(store: store, settings: settings)
        api = ControlAPI(
            engine: engine, version: Version.current, mayRunCommands: mayRunCommands, snapshots: snapshots,
            onStop: onStop)
    }

    /// Whom a reference IdP must trust to take this phone's evidence.
    func attestationTrust() throws(CommandFailure) -> AttestationTrust {
        do {
            return try AttestationTrust(try engine.attestationRoots().published)
        } catch {
            throw CommandFailure(exit: .configuration, code: "attestation_roots", message: "\(error)")
        }
    }

    /// The engine's settings: hosts, trust and addresses as the options say, entropy from the seed.
    static func engineSettings(_ settings: Settings) throws(CommandFailure) -> EngineSettings {
        let network = settings.network
        var engine = EngineSettings()
        engine.hosts = HostPolicy(allowing: network.allowedHosts)
        engine.client = ClientConfiguration(
            tls: TLSClientSettings(caFile: try network.readableCAFile()), resolve: network.resolve,
            localAddress: network.localAddress)
        engine.entropy = try SeedBook.entropy(settings)
        // One stretch for whichever process is first to need them: a seed fixes them.
        engine.rootsEntropy = settings.seed.map { SeedBook.entropy(seed: $0, stretch: "attestation roots") }
        engine.profile = try settings.profile()
        return engine
    }

    private static func open(_ directory: String) throws(CommandFailure) -> Store {
        do {
            return try Store(directory: directory)
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func locking(
        _ directory: String, _ take: () throws(StateLock.Failure) -> StateLock
    ) throws(CommandFailure) -> StateLock {
        do throws(StateLock.Failure) {
            return try take()
        } catch {
            throw CommandFailure(error, directory: directory)
        }
    }
}

extension Phone: ControlPort {
    /// Answers the request in this process.
    func call(_ request: HTTPRequest) async throws(ControlPortError) -> HTTPResponse { try await api.call(request) }
}

extension NetworkSettings {
    /// The file of trusted certificates, once it is known to hold some.
    fileprivate func readableCAFile() throws(CommandFailure) -> String? {
        guard let caFile else { return nil }
        guard let bytes = PrivateFile.read(caFile, limit: 16 << 20) else {
            throw CommandFailure(
                exit: .configuration, code: "ca_file", message: "--ca-file: cannot read \(caFile)", field: "ca-file")
        }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            let message = "--ca-file: \(caFile) holds no PEM certificate"
            throw CommandFailure(exit: .configuration, code: "ca_file", message: message, field: "ca-file")
        }
        return caFile
    }
}

extension CommandFailure {
    /// The failure a store that does not open comes to.
    init(_ error: StoreError) {
        let exit: ExitCode =
            switch error {
            case .unusableDirectory, .notADatabase, .foreignDatabase, .newerDatabase, .migrationFailed, .damaged:
                .configuration
            case .busy: .unavailable
            case .duplicate, .missing, .failed, .unreadableRecord: .internalError
            }
        self.init(exit: exit, code: error.code, message: error.description)
    }

    /// The failure a state directory somebody else works in comes to.
    init(_ failure: StateLock.Failure, directory: String) {
        switch failure {
        case .heldByDaemon(let pid):
            let who = pid.map { "a daemon (process \($0))" } ?? "a daemon"
            self.init(
                exit: .unavailable, code: "state_in_use", message: "\(who) has \(directory)",
                advice: "wait until it is ready: understudy wait; or end it: understudy stop")
        case .heldByCommands:
            self.init(
                exit: .unavailable, code: "state_in_use", message: "another command is at work in \(directory)",
                advice: "try again when it has ended")
        case .heldByLoneCommand(let pid):
            let who = pid.map { "a command (process \($0))" } ?? "a command"
            self.init(
                exit: .unavailable, code: "state_in_use", message: "\(who) is replacing the state in \(directory)",
                advice: "try again when it has ended")
        case .unusable(let path, let reason):
            self.init(exit: .configuration, code: "state_unusable", message: "cannot lock \(path): \(reason)")
        }
    }
}
