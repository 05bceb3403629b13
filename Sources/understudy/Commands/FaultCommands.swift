import Control
import Encoding

/// `understudy fault …`: what is to go wrong, armed while flows run.
enum FaultCommands {
    static let specs = [
        CommandSpec(
            "fault add", "arm a fault of the whole world",
            arguments: [
                ArgumentSpec(name: "FAULT", optional: true, repeats: true, help: "KIND:CALL or KIND:CALL:TIMES")
            ],
            options: [
                .one("do", "KIND", help: "what happens: a KIND, or JSON such as {\"status\":503,\"retry_after\":5}"),
                .one("call", "CALL", help: "at this call, or at something the phone does by itself"),
                .one("device", "D", help: "on this phone alone"), .one("install", "JKT", help: "on this install alone"),
                .one("system", "S", help: "in flows of this system alone"),
                .one("attempt", "N", form: .number(1...1000), help: "at this attempt alone"),
                .one("times", "N", form: .number(1...10_000), help: "so often; once unless given"),
                .one("probability", "P", help: "instead of a count: how likely each time, 0 to 1"),
                .one("id", "ID", help: "the name it goes by; arming one of the same name takes its place"),
            ],
            notes: [
                """
                KIND: drop, lose-reply, status-200 to status-599, reset, truncate, dribble, delay-MS, stale-nonce, \
                missing-nonce, store-full, key-refused, crash, crash-relaunch, wrong-NAME (docs/wrong-on-purpose.md). \
                Faults live as long as the daemon, so one must run; see docs/faults.md.
                """
            ], action: add),
        CommandSpec("fault list", "list the armed faults, and those that are used up", action: list),
        CommandSpec(
            "fault remove", "disarm a fault", arguments: [ArgumentSpec(name: "ID", help: "the fault's name")],
            action: remove),
        CommandSpec("fault clear", "disarm every fault", action: clear),
    ]

    private static func add(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let body: JSON
        if parsed.arguments.isEmpty {
            guard let deed = parsed["do"] else { throw .usage("fault add needs a FAULT, or --do KIND", of: parsed) }
            body = .object(try document(parsed, deed))
        } else {
            body = ["faults": .array(try words(parsed))]
        }
        let control = try await context.daemon()
        let armed = try await calling { () throws(ControlFailure) in try await control.post("/v1/faults", body) }
        context.output.result(armed, lines: (armed["armed"]?.array ?? []).map(line))
        return .done
    }

    /// The faults named by words, each narrowed down by the options.
    private static func words(_ parsed: ParsedArguments) throws(CommandFailure) -> [JSON] {
        if let said = ["do", "call", "times"].first(where: parsed.has) {
            throw .usage("fault add: a FAULT says by itself what --\(said) would", of: parsed)
        }
        let words = Words.divided(parsed.arguments)
        guard words.count == 1 || !parsed.has("id") else {
            throw .usage("fault add: --id is the name of one fault, and here are \(words.count)", of: parsed)
        }
        let narrowing = ["device", "install", "system", "attempt", "probability", "id"]
        guard narrowing.contains(where: parsed.has) else { return words.map(JSON.string) }
        return try words.map { word throws(CommandFailure) in
            let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let times = parts.count == 3 ? Int64(parts[2]) : nil
            guard parts.count == 2 || times != nil else {
                throw .usage("fault add: a FAULT is KIND:CALL or KIND:CALL:TIMES, not '\(word)'", of: parsed)
            }
            var fault = try document(parsed, parts[0])
            var on = fault["on"]?.object ?? JSONObject()
            on["call"] = .string(parts[1])
            fault["on"] = .object(on)
            fault["times"] = times.map(JSON.int)
            return .object(fault)
        }
    }

    private static func document(_ parsed: ParsedArguments, _ deed: String) throws(CommandFailure) -> JSONObject {
        var on = JSONObject()
        for name in ["call", "device", "install", "system"] { on[name] = parsed[name].map(JSON.string) }
        on["attempt"] = parsed.number("attempt").map { .int(Int64($0)) }
        let written = (try? JSON(parsing: Array(deed.utf8))).flatMap { $0.object == nil ? nil : $0 }
        var body = JSONObject([("on", .object(on)), ("do", written ?? .string(deed))])
        body["id"] = parsed["id"].map(JSON.string)
        body["times"] = parsed.number("times").map { .int(Int64($0)) }
        if let text = parsed["probability"] {
            guard let chance = Double(text), (0...1).contains(chance) else {
                throw .usage("fault add: --probability is a number from 0 to 1, not '\(text)'", of: parsed)
            }
            body["probability"] = .double(chance)
        }
        return body
    }

    private static func list(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = try await context.daemon()
        let found = try await calling { () throws(ControlFailure) in try await control.get("/v1/faults") }
        let (armed, spent) = (found["armed"]?.array ?? [], found["spent"]?.array ?? [])
        let lines = armed.map(line) + spent.map { line($0) + ", used up" }
        context.output.result(found, lines: lines.isEmpty ? ["no faults"] : lines)
        return .done
    }

    private static func remove(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (control, id) = (try await context.daemon(), parsed.arguments[0])
        _ = try await calling { () throws(ControlFailure) in
            try await control.document("DELETE", "/v1/faults/" + PercentCoding.encode(id))
        }
        context.output.result(["removed": .string(id)], lines: ["disarmed \(id)"])
        return .done
    }

    private static func clear(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = try await context.daemon()
        let cleared = try await calling { () throws(ControlFailure) in
            try await control.document("DELETE", "/v1/faults")
        }
        context.output.result(cleared, lines: ["disarmed \(cleared.shown("cleared"))"])
        return .done
    }

    private static func line(_ fault: JSON) -> String {
        let place = (fault["on"]?.object?.members ?? []).map { "\($0.name) \($0.value.shown)" }.joined(separator: ", ")
        let often = fault["times"].map { "\($0.shown) times more" } ?? "with probability \(fault.shown("probability"))"
        let whereabouts = place.isEmpty ? "anywhere" : place
        return "\(fault.shown("id")): \(fault.shown("do")) at \(whereabouts), \(often), \(fault.shown("fired")) so far"
    }
}
