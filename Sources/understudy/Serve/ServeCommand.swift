import Control
import Crypto
import Device
import Encoding
import Engine
import Glibc
import HTTP
import ReferenceIdP
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
            ServeOptions.clock,
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
        let settings = SeedBook.seeded(context.settings)
        let daemon = try await Daemon.start(parsed, settings, until: stop)
        try ServeOptions.announce(
            daemon.ready, at: parsed["ready-file"] ?? settings.readyFile, context.output, seed: settings)
        await stop.wait()
        context.output.note("stopping")
        await daemon.end()
        return .done
    }
}

/// `understudy idp serve`: reference IdPs without a phone.
enum IdPServeCommand {
    static let spec = CommandSpec(
        "idp serve", "run reference IdPs only, without a phone; nothing is kept",
        options: [
            ServeOptions.idp, ServeOptions.idpPort, ServeOptions.bind,
            .one("ready-file", "FILE", standard: "STATE/idps.json", help: "where to write that they are ready"),
            ServeOptions.clock, TrustedRoots.option,
        ],
        notes: [
            """
            Phones whose roots are trusted attest under attestation_mode=enforce without more ado. The roots are read once, \
            when it starts; a tenant's own, set through the management API, come before them.
            """
        ]
    ) { (parsed, context) throws(CommandFailure) in try await run(parsed, context, until: .fromSystem()) }

    /// Serves until the order to stop comes.
    static func run(
        _ parsed: ParsedArguments, _ context: CommandContext, until stop: StopSignal
    ) async throws(CommandFailure) -> ExitCode {
        let settings = SeedBook.seeded(context.settings)
        let trusted = try TrustedRoots.find(parsed, settings)
        let idps = try await ServeOptions.startIdPs(
            parsed, settings, store: nil, clock: try ServeOptions.worldClock(parsed), standard: HostedIdP.systems,
            trust: { trusted.trust })
        let path = parsed["ready-file"] ?? settings.idpReadyFile
        let ready = ReadyFile(control: nil, pid: Int(getpid()), version: Version.current, idps: idps.map(\.served))
        if parsed["ready-file"] == nil { StateDirectory.make(context.settings.stateDirectory) }
        context.output.note(trusted.line)
        try ServeOptions.announce(ready, at: path, context.output, seed: settings)
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

    static let clock = OptionSpec.one(
        "clock", "CLOCK", standard: "real", help: "the world's clock: real, +90s, -2h, or @SECONDS to stand still")

    /// The clock the options ask for.
    static func worldClock(_ parsed: ParsedArguments) throws(CommandFailure) -> WorldClock {
        guard let text = parsed["clock"] else { return WorldClock() }
        do throws(DeviceTextError) {
            return WorldClock(try DeviceClock(text: text))
        } catch {
            throw .badValue("clock", "--clock: \(error)")
        }
    }

    /// Starts the reference IdPs that were asked for, two ports each; with `port`, from that one on.
    static func startIdPs(
        _ parsed: ParsedArguments, _ settings: Settings, store: Store?, clock: WorldClock, standard: [String] = [],
        port: Int = 7421,
        trust: () throws(CommandFailure) -> AttestationTrust = { AttestationTrust() }
    ) async throws(CommandFailure) -> [IdPService] {
        let systems = parsed["idp"] == nil ? standard : parsed.all("idp")
        let first = parsed.number("idp-port") ?? port
        let trust = systems.isEmpty ? AttestationTrust() : try trust()
        var idps: [IdPService] = []
        for (index, system) in systems.enumerated() {
            let port = first == 0 ? 0 : first + 2 * index
            guard port < 65535 else { throw .badValue("idp-port", "there are no two ports from \(port) on") }
            let entropy = settings.seed.map { SeedBook.entropy(seed: $0, stretch: "idp \(index + 1)") } ?? .system
            let plan = HostedIdP.Plan(
                system: system, number: index + 1, port: port, bind: parsed["bind"] ?? "127.0.0.1", entropy: entropy,
                clock: clock, profile: try settings.profile(), trust: trust)
            idps.append(try await HostedIdP.start(plan, store: store))
        }
        return idps
    }

    /// Says that everything is ready: in the file, and a line for each URL.
    static func announce(
        _ ready: ReadyFile, at path: String, _ output: Output, seed settings: Settings
    ) throws(CommandFailure) {
        do throws(PrivateFileError) {
            try ready.write(to: path)
        } catch {
            throw CommandFailure(
                exit: .configuration, code: error.code, message: error.description, field: "ready-file")
        }
        if output.isJSON { output.document(ready.json) }
        for line in lines(ready, at: path) { output.note(line) }
        output.note(SeedBook.line(settings))
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
