import Control
import Crypto
import Encoding
import Engine
import Glibc
import HTTP
import Store

/// `understudy serve`: the daemon.
enum ServeCommand {
    static let spec = CommandSpec(
        "serve", "run the daemon: the phone, its control API, and reference IdPs",
        options: [
            .one(
                "port", "N", form: .port, environment: "UNDERSTUDY_PORT", standard: "7420",
                help: "the control API's port; 0 for any that is free"),
            ServeOptions.idp, ServeOptions.idpPort, ServeOptions.bind,
            .one(
                "ready-file", "FILE", standard: "STATE/daemon.json", help: "where to write the URLs when it is ready"
            ),
        ] + LaunchedAssertions.specs,
        notes: [
            """
            The daemon ends after SIGTERM, SIGINT or understudy stop, when what is under way has been answered; a \
            second signal ends it at once. One daemon at a time has a state directory.
            """
        ]
    ) { (parsed, context) throws(CommandFailure) in try await run(parsed, context, until: .fromSystem()) }

    /// Serves until the order to stop comes.
    static func run(
        _ parsed: ParsedArguments, _ context: CommandContext, until stop: StopSignal
    ) async throws(CommandFailure) -> ExitCode {
        let settings = context.settings
        let phone = try Phone.forDaemon(
            settings, mayRunCommands: parsed.has("allow-assertion-commands"), onStop: { stop.give() })
        try LaunchedAssertions.register(parsed, on: phone.engine)
        let bind = parsed["bind"] ?? "127.0.0.1"
        let control = try await OpenPort.listen(
            on: bind, port: parsed.number("port") ?? 7420, option: "port",
            limits: HTTPLimits(body: FetchDocumentSize.request))
        let idps = try await ServeOptions.startIdPs(parsed, settings, store: phone.store)
        for idp in idps { phone.api.add(idp.served) }
        try await resume(phone)
        control.serve(ControlHandler(phone.api))

        let path = parsed["ready-file"] ?? settings.readyFile
        let ready = ReadyFile(
            control: control.origin, pid: Int(getpid()), version: Version.current, idps: idps.map(\.served))
        try ServeOptions.announce(ready, at: path, context.output)
        await stop.wait()

        context.output.note("stopping")
        ready.remove(from: path)
        await control.shutdown()
        for idp in idps { await idp.shutdown() }
        await phone.engine.settle(within: 2000)
        phone.engine.close()
        return .done
    }

    private static func resume(_ phone: Phone) async throws(CommandFailure) {
        do {
            try await phone.engine.resumeFlows()
        } catch {
            throw CommandFailure(exit: .configuration, code: "store", message: "cannot go on where it ended: \(error)")
        }
    }
}

/// `understudy idp serve`: reference IdPs without a phone.
enum IdPServeCommand {
    static let spec = CommandSpec(
        "idp serve", "run reference IdPs only, without a phone; nothing is kept",
        options: [
            ServeOptions.idp, ServeOptions.idpPort, ServeOptions.bind,
            .one("ready-file", "FILE", standard: "STATE/idps.json", help: "where to write that they are ready"),
        ]
    ) { (parsed, context) throws(CommandFailure) in try await run(parsed, context, until: .fromSystem()) }

    /// Serves until the order to stop comes.
    static func run(
        _ parsed: ParsedArguments, _ context: CommandContext, until stop: StopSignal
    ) async throws(CommandFailure) -> ExitCode {
        let idps = try await ServeOptions.startIdPs(parsed, context.settings, store: nil, standard: HostedIdP.systems)
        let path = parsed["ready-file"] ?? context.settings.idpReadyFile
        let ready = ReadyFile(control: nil, pid: Int(getpid()), version: Version.current, idps: idps.map(\.served))
        if parsed["ready-file"] == nil { StateDirectory.make(context.settings.stateDirectory) }
        try ServeOptions.announce(ready, at: path, context.output)
        await stop.wait()
        context.output.note("stopping")
        ready.remove(from: path)
        for idp in idps { await idp.shutdown() }
        return .done
    }
}

/// What both ways to serve have in common.
enum ServeOptions {
    static let idp = OptionSpec.many(
        "idp", "SYSTEM", form: .choice(HostedIdP.systems), help: "run a reference IdP of this system")
    static let idpPort = OptionSpec.one(
        "idp-port", "N", form: .port, standard: "7421",
        help: "the first reference IdP's port; its API and further IdPs take the ports behind it; 0 for any")
    static let bind = OptionSpec.one("bind", "ADDR", standard: "127.0.0.1", help: "the address to listen on")

    /// Starts the reference IdPs that were asked for, two ports each.
    static func startIdPs(
        _ parsed: ParsedArguments, _ settings: Settings, store: Store?, standard: [String] = []
    ) async throws(CommandFailure) -> [IdPService] {
        let systems = parsed["idp"] == nil ? standard : parsed.all("idp")
        let first = parsed.number("idp-port") ?? 7421
        var idps: [IdPService] = []
        for (index, system) in systems.enumerated() {
            let port = first == 0 ? 0 : first + 2 * index
            guard port < 65535 else { throw .badValue("idp-port", "there are no two ports from \(port) on") }
            let entropy = settings.seed.map { SeedBook.entropy(seed: $0, stretch: "idp \(index + 1)") } ?? .system
            let plan = HostedIdP.Plan(
                system: system, number: index + 1, port: port, bind: parsed["bind"] ?? "127.0.0.1", entropy: entropy,
                profile: try settings.profile())
            idps.append(try await HostedIdP.start(plan, store: store))
        }
        return idps
    }

    /// Says that everything is ready: in the file, and a line for each URL.
    static func announce(_ ready: ReadyFile, at path: String, _ output: Output) throws(CommandFailure) {
        do throws(PrivateFileError) {
            try ready.write(to: path)
        } catch {
            throw CommandFailure(
                exit: .configuration, code: error.code, message: error.description, field: "ready-file")
        }
        if output.isJSON { output.document(ready.json) }
        for line in lines(ready, at: path) { output.note(line) }
    }

    /// A line for each URL.
    static func lines(_ ready: ReadyFile, at path: String) -> [String] {
        var pairs = ready.control.map { [("control API", $0)] } ?? []
        for idp in ready.idps {
            for issuer in idp.issuers { pairs.append(("\(idp.system) issuer", issuer)) }
            pairs.append(("\(idp.system) API", idp.api))
            pairs.append(("\(idp.system) management", idp.management))
        }
        return Columns.pairs(pairs + [("ready file", path)], indent: 0)
    }
}
