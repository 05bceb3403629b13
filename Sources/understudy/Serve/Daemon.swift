import Control
import Engine
import Glibc
import HTTP

/// A daemon that is ready: its phone, its control port, its reference IdPs.
struct Daemon: Sendable {
    /// Where everything answers.
    let ready: ReadyFile
    private let phone: Phone
    private let control: OpenPort
    private let idps: [IdPService]
    private let readyPath: String

    /// What is started where the options do not say.
    struct Defaults: Sendable {
        /// The control API's port; 0 for any.
        var port = 7420
        /// The first reference IdP's port; 0 for any.
        var idpPort = 7421
        /// The reference IdPs' systems.
        var systems: [String] = []
    }

    /// Opens the state directory and every port, and takes up what an earlier process left.
    ///
    /// The ready file is the caller's to write. Throws what keeps it from being ready; then nothing listens.
    static func start(
        _ parsed: ParsedArguments, _ settings: Settings, defaults: Defaults = Defaults(), until stop: StopSignal
    ) async throws(CommandFailure) -> Daemon {
        let clock = try ServeOptions.worldClock(parsed)
        let phone = try Phone.forDaemon(
            settings, clock: clock, mayRunCommands: parsed.has("allow-assertion-commands"), onStop: { stop.give() })
        try LaunchedAssertions.register(parsed, on: phone.engine)
        let control = try await OpenPort.listen(
            on: parsed["bind"] ?? "127.0.0.1", port: parsed.number("port") ?? defaults.port, option: "port",
            limits: HTTPLimits(body: FetchDocumentSize.request))
        let idps = try await ServeOptions.startIdPs(
            parsed, settings, store: phone.store, clock: clock, standard: defaults.systems, port: defaults.idpPort
        ) { () throws(CommandFailure) in try phone.attestationTrust() }
        for idp in idps {
            phone.api.add(idp)
            // What is changed here is seen at once, and not when the phone would next ask.
            let engine = phone.engine
            idp.onChange { engine.forgetMetadata() }
        }
        do {
            try await phone.engine.resumeFlows()
        } catch {
            throw CommandFailure(exit: .configuration, code: "store", message: "cannot go on where it ended: \(error)")
        }
        control.serve(ControlHandler(phone.api))
        let ready = ReadyFile(
            control: control.origin, pid: Int(getpid()), version: Version.current, idps: idps.map(\.served))
        return Daemon(
            ready: ready, phone: phone, control: control, idps: idps,
            readyPath: parsed["ready-file"] ?? settings.readyFile)
    }

    /// Lets what is under way be answered, and closes everything; the ready file is gone first.
    func end() async {
        ready.remove(from: readyPath)
        await control.shutdown()
        for idp in idps { await idp.shutdown() }
        await phone.engine.settle(within: 2000)
        phone.engine.close()
    }
}
