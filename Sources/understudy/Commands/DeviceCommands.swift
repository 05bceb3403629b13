import Control
import Device
import Encoding

/// `understudy device …`: the virtual phones.
enum DeviceCommands {
    static let specs = [
        CommandSpec(
            "device create", "create a virtual phone",
            arguments: [device],
            options: [
                deviceOption,
                .one("platform", "P", form: .choice(["ios", "android"]), standard: "ios", help: "what it poses as"),
                .one("clock", "CLOCK", standard: "real", help: "real, +90s, -2h, or @SECONDS to stand still"),
                .many("scan", "OUTCOME", help: "what the camera sees next, by commas or again"),
                .one("default-scan", "OUTCOME", standard: "match", help: "what it sees when nothing is queued"),
                .one("face-of", "OTHER", help: "held by the same person as this other phone"),
                .many(
                    "attest", "NAME=VALUE", help: "what it says of itself in evidence, such as boot_state=unverified"),
            ], notes: [outcomes, AttestationOptions.note], action: create),
        CommandSpec(
            "device list", "list the virtual phones",
            options: [
                .one("limit", "N", form: .number(1...1000), help: "at most so many"),
                .one("after", "D", help: "only those behind this one"),
            ], action: list),
        CommandSpec(
            "device show", "show a phone: its clock, camera, enrolments and session", arguments: [device],
            options: [deviceOption], action: show),
        CommandSpec(
            "device scans", "queue what the camera sees next",
            arguments: [device, ArgumentSpec(name: "OUTCOME", optional: true, repeats: true, help: "what it sees")],
            options: [
                deviceOption, .flag("replace", help: "in place of what is queued"),
                .one("default-scan", "OUTCOME", help: "what it sees when nothing is queued"),
            ], notes: [outcomes], action: scans),
        CommandSpec(
            "device clock", "set a phone's clock",
            arguments: [device, ArgumentSpec(name: "CLOCK", optional: true, help: "real, +90s, -2h, or @SECONDS")],
            options: [deviceOption], notes: ["Write -- before a clock that begins with a dash: device clock D -- -2h"],
            action: clock),
        CommandSpec(
            "device attestation", "show or change what a phone says of itself in evidence about its app",
            arguments: [device, ArgumentSpec(name: "NAME=VALUE", optional: true, repeats: true, help: "a setting")],
            options: [deviceOption, .flag("genuine", help: "everything as a genuine phone has it, then the settings")],
            notes: ["such as: device attestation D boot_state=unverified app.version=7", AttestationOptions.note],
            action: attestation),
        CommandSpec(
            "device life", "have something happen to a phone: new face, reinstall, backup, lockout, no network",
            arguments: [device, ArgumentSpec(name: "EVENT", optional: true, help: "what happens")],
            options: [deviceOption, .one("as", "NEW", help: "the id of the phone that restore or clone makes")],
            notes: [events], action: live),
        CommandSpec(
            "device delete", "wipe a phone: keys, enrolments, session and sign-ins", arguments: [device],
            options: [deviceOption], action: delete),
    ]

    private static let device = ArgumentSpec(name: "DEVICE", optional: true, help: "the phone's id")
    private static let deviceOption = OptionSpec.one("device", "D", help: "the phone's id, another way to say it")
    private static let events = """
        events: enrolment-change, reinstall, restore, clone, lockout, unlock, kill, relaunch, offline, online
        """
    private static let outcomes = """
        outcomes: match, mismatch, livenessFailed:REASON, badCapture:noFace|multipleFaces|blurred|tooFar|timeout, \
        cancel, hang, lockout, notEnrolled, unsupported
        """

    private static func create(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var body = JSONObject()
        if let id = parsed["device"] ?? parsed.arguments.first { body["id"] = .string(id) }
        body["platform"] = parsed["platform"].map(JSON.string)
        body["clock"] = parsed["clock"].map(JSON.string)
        body["default_scan"] = parsed["default-scan"].map(JSON.string)
        body["face_of"] = parsed["face-of"].map(JSON.string)
        if parsed["scan"] != nil { body["scans"] = .array(Words.divided(parsed.all("scan")).map(JSON.string)) }
        body["attestation"] = try AttestationOptions.settings(parsed.all("attest"), option: "attest")
        let control = try await context.control()
        let made = try await calling { () throws(ControlFailure) in
            try await control.post("/v1/devices", .object(body))
        }
        context.output.result(made, lines: ["created \(made.shown("id"))"] + DeviceLines.lines(made))
        return .done
    }

    private static func list(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let query = ["limit", "after"].compactMap { name in parsed[name].map { (name, $0) } }
        let control = try await context.control()
        let found = try await calling { () throws(ControlFailure) in try await control.get("/v1/devices", query) }
        context.output.result(found, lines: DeviceLines.table(found))
        return .done
    }

    private static func show(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (id, _) = try subject(parsed, extra: 0)
        let control = try await context.control()
        let found = try await calling { () throws(ControlFailure) in try await control.get(Path.device(id)) }
        context.output.result(found, lines: DeviceLines.lines(found))
        return .done
    }

    private static func scans(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (id, rest) = try subject(parsed, extra: .max)
        let scans = JSON.array(Words.divided(rest).map(JSON.string))
        let standard = parsed["default-scan"]
        guard !rest.isEmpty || standard != nil || parsed.has("replace") else {
            throw .usage("device scans needs an OUTCOME", of: parsed)
        }
        let control = try await context.control()
        let changed = try await calling { () throws(ControlFailure) in
            guard standard != nil || parsed.has("replace") else {
                return try await control.post(Path.device(id) + "/scans", ["scans": scans])
            }
            var body = JSONObject()
            body["default_scan"] = standard.map(JSON.string)
            if parsed.has("replace") { body["scans"] = scans }
            let changed = try await control.document("PATCH", Path.device(id), body: .object(body))
            guard !parsed.has("replace"), !rest.isEmpty else { return changed }
            return try await control.post(Path.device(id) + "/scans", ["scans": scans])
        }
        context.output.result(changed, lines: DeviceLines.lines(changed))
        return .done
    }

    private static func clock(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (id, rest) = try subject(parsed, extra: 1)
        guard let clock = rest.first else { throw .usage("device clock needs a CLOCK", of: parsed) }
        let control = try await context.control()
        let changed = try await calling { () throws(ControlFailure) in
            try await control.document("PATCH", Path.device(id), body: ["clock": .string(clock)])
        }
        context.output.result(changed, lines: DeviceLines.lines(changed))
        return .done
    }

    private static func attestation(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (id, rest) = try subject(parsed, extra: .max)
        let changes = try AttestationOptions.settings(rest, option: "attestation")
        let control = try await context.control()
        let device = try await calling { () throws(ControlFailure) in
            if parsed.has("genuine") {
                let genuine = AttestationSettings().json
                _ = try await control.document("PATCH", Path.device(id), body: ["attestation": genuine])
            }
            guard let changes else { return try await control.get(Path.device(id)) }
            return try await control.document("PATCH", Path.device(id), body: ["attestation": changes])
        }
        let settings = device["attestation"] ?? .null
        context.output.result(
            settings, lines: Columns.pairs(AttestationOptions.shown(settings, all: true), indent: 0))
        return .done
    }

    private static func live(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (id, rest) = try subject(parsed, extra: 1)
        guard let event = rest.first else { throw .usage("device life needs an EVENT", of: parsed) }
        var body = JSONObject([("event", .string(event))])
        body["as"] = parsed["as"].map(JSON.string)
        let control = try await context.control()
        let report = try await calling { () throws(ControlFailure) in
            try await control.post(Path.device(id) + "/life", .object(body))
        }
        let shown = report["as"] ?? report["device"] ?? .null
        context.output.result(report, lines: ["\(id): \(event)"] + DeviceLines.lines(shown))
        return .done
    }

    private static func delete(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (id, _) = try subject(parsed, extra: 0)
        let control = try await context.control()
        _ = try await calling { () throws(ControlFailure) in try await control.document("DELETE", Path.device(id)) }
        context.output.result(["deleted": .string(id)], lines: ["deleted \(id)"])
        return .done
    }

    /// The phone a command is about: `--device`, else the first argument; and the arguments left.
    private static func subject(_ parsed: ParsedArguments, extra: Int) throws(CommandFailure) -> (String, [String]) {
        var rest = parsed.arguments
        guard let id = parsed["device"] ?? rest.first else {
            throw .usage("\(parsed.command.name) needs a DEVICE", of: parsed)
        }
        if parsed["device"] == nil { rest.removeFirst() }
        if rest.count > extra {
            throw .usage("\(parsed.command.name): unexpected argument '\(rest[extra])'", of: parsed)
        }
        return (id, rest)
    }
}

extension CommandFailure {
    /// A command line whose fault only the command itself can see.
    static func usage(_ message: String, of parsed: ParsedArguments) -> CommandFailure {
        CommandFailure(exit: .usage, code: "usage", message: message, advice: parsed.command.usage)
    }
}

/// Paths of the control API.
enum Path {
    /// A device.
    static func device(_ id: String) -> String { "/v1/devices/" + PercentCoding.encode(id) }
    /// A flow.
    static func flow(_ id: String) -> String { "/v1/flows/" + PercentCoding.encode(id) }
}

/// Lists given on the command line.
enum Words {
    /// Values divided at commas as well: `--scan mismatch,match` is `--scan mismatch --scan match`.
    static func divided(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }
}
