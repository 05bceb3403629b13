import Control
import Encoding

/// The world as a whole: its clock, going back, and taking it along.
enum WorldCommands {
    static let specs = [
        CommandSpec(
            "clock", "show or move the clock of the whole world: phones and reference IdPs",
            arguments: [
                ArgumentSpec(name: "CLOCK", optional: true, help: "real, +90s, -2h, or @SECONDS to stand still")
            ],
            options: [
                .one("advance", "SPAN", help: "move it: 90s, -2h, 1500ms"),
                .flag("freeze", help: "stop it where it is"),
                .one("device", "D", help: "this phone's own clock, which stands on the world's"),
            ],
            notes: ["A frozen clock stands until it is moved; delays that are due happen before the command ends."],
            action: clock),
        CommandSpec(
            "reset", "put part of the world back, or all of it",
            options: [
                .one(
                    "scope", "SCOPE", form: .choice(["faults", "devices", "journal", "clock", "idp", "all"]),
                    required: true, help: "faults, devices, journal, clock, idp or all")
            ], action: reset),
        CommandSpec(
            "snapshot take", "keep the whole world under a name", arguments: [name], action: takeSnapshot),
        CommandSpec("snapshot list", "list the snapshots there are", action: listSnapshots),
        CommandSpec(
            "snapshot restore", "put the world back to how it was", arguments: [name], action: restoreSnapshot),
        CommandSpec("snapshot delete", "delete a snapshot", arguments: [name], action: deleteSnapshot),
        CommandSpec(
            "export", "write the whole world to a file: secret, since every private key is in it",
            arguments: [file], action: exportWorld),
        CommandSpec(
            "import", "put an exported world in the place of this one", arguments: [file], action: importWorld),
    ]

    private static let name = ArgumentSpec(name: "NAME", help: "the snapshot's name")
    private static let file = ArgumentSpec(name: "FILE", help: "the exported world")

    private static func clock(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var body = JSONObject()
        body["set"] = parsed.arguments.first.map(JSON.string)
        body["advance"] = parsed["advance"].map(JSON.string)
        if parsed.has("freeze") { body["freeze"] = true }
        let path = parsed["device"].map { Path.device($0) + "/clock" } ?? "/v1/clock"
        let move = body
        guard move.count > 0 || parsed["device"] == nil else {
            throw .usage("clock --device needs a CLOCK, --advance or --freeze", of: parsed)
        }
        // Only a daemon has a clock that outlives the command; a phone's own is kept in the store.
        let control = parsed["device"] == nil ? try await context.daemon() : try await context.control()
        let found = try await calling { () throws(ControlFailure) in
            move.count == 0 ? try await control.get(path) : try await control.post(path, .object(move))
        }
        context.output.result(
            found, lines: parsed["device"] == nil ? DocumentLines.pairs(found) : DeviceLines.lines(found))
        return .done
    }

    private static func reset(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let scope = parsed.required("scope")
        let control = try await context.loneControl()
        let found = try await calling { () throws(ControlFailure) in
            try await control.post("/v1/reset", ["scope": .string(scope)])
        }
        context.output.result(found, lines: ["reset \(scope)"] + DocumentLines.pairs(found["cleared"] ?? .null))
        return .done
    }

    private static func takeSnapshot(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let name = parsed.arguments[0]
        let control = try await context.control()
        let found = try await calling { () throws(ControlFailure) in
            try await control.post("/v1/snapshots", ["name": .string(name)])
        }
        context.output.result(
            found, lines: ["kept \(found.shown("name"))"] + DocumentLines.pairs(found["rows"] ?? .null))
        return .done
    }

    private static func listSnapshots(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = try await context.control()
        let found = try await calling { () throws(ControlFailure) in try await control.get("/v1/snapshots") }
        let snapshots = found.records("snapshots")
        context.output.result(
            found,
            lines: snapshots.isEmpty ? ["no snapshots"] : DocumentLines.table(snapshots, first: ["name", "bytes"]))
        return .done
    }

    private static func restoreSnapshot(_ parsed: ParsedArguments, _ context: CommandContext)
        async throws(CommandFailure) -> ExitCode
    {
        let path = "/v1/snapshots/" + PercentCoding.encode(parsed.arguments[0]) + "/restore"
        let control = try await context.loneControl()
        let found = try await calling { () throws(ControlFailure) in try await control.post(path) }
        context.output.result(
            found, lines: ["restored \(found.shown("name"))"] + DocumentLines.pairs(found["rows"] ?? .null))
        return .done
    }

    private static func deleteSnapshot(_ parsed: ParsedArguments, _ context: CommandContext)
        async throws(CommandFailure) -> ExitCode
    {
        let name = parsed.arguments[0]
        let control = try await context.control()
        _ = try await calling { () throws(ControlFailure) in
            try await control.document("DELETE", "/v1/snapshots/" + PercentCoding.encode(name))
        }
        context.output.result(["deleted": .string(name)], lines: ["deleted \(name)"])
        return .done
    }

    private static func exportWorld(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let file = parsed.arguments[0]
        let control = try await context.control()
        let world = try await calling { () throws(ControlFailure) in try await control.get("/v1/export") }
        do throws(PrivateFileError) {
            try PrivateFile.write(world.serialized() + [UInt8(ascii: "\n")], to: file)
        } catch {
            throw CommandFailure(exit: .configuration, code: error.code, message: error.description)
        }
        context.output.note("understudy: \(file) holds every private key and token; only you can read it")
        context.output.result(["exported": .string(file)], lines: ["exported to \(file)"])
        return .done
    }

    private static func importWorld(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let file = parsed.arguments[0]
        guard let bytes = PrivateFile.read(file, limit: largest) else {
            throw CommandFailure(
                exit: .badInput, code: "file", message: "cannot read \(file), or it is over \(largest >> 20) MiB",
                field: "FILE")
        }
        guard let world = try? JSON(parsing: bytes) else {
            throw CommandFailure(exit: .badInput, code: "malformed_json", message: "\(file) is no JSON", field: "FILE")
        }
        let control = try await context.loneControl()
        let found = try await calling { () throws(ControlFailure) in try await control.post("/v1/import", world) }
        context.output.result(found, lines: ["imported \(file)"] + DocumentLines.pairs(found["rows"] ?? .null))
        return .done
    }

    private static let largest = 1 << 30
}
