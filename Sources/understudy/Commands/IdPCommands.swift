import Control
import Encoding

/// `understudy idp …`: the reference identity providers, over their management API.
enum IdPCommands {
    static let specs = [
        CommandSpec("idp list", "list the reference IdPs that run", action: list),
        CommandSpec("idp tenants", "list an IdP's tenants", options: [issuer], action: tenants),
        CommandSpec("idp apps", "list a tenant's applications", options: [issuer], action: apps),
        CommandSpec("idp users", "list a tenant's users and their devices", options: [issuer], action: users),
        CommandSpec(
            "idp ticket", "make an enrolment ticket, and the user where there is none",
            options: [issuer, .one("email", "E", required: true, help: "the user's address")],
            notes: ["Prints the ticket alone, for: understudy enrol --ticket \"$(understudy idp ticket …)\""],
            action: IdPTicket.run),
        IdPKeys.spec(issuer: issuer),
        CommandSpec(
            "idp inbox", "show the mails a tenant sent",
            options: [issuer, .one("email", "E", help: "only those to this address")], action: inbox),
        CommandSpec(
            "idp findings", "show what an IdP refused, and the rule behind it", options: [issuer], action: findings),
        IdPDoctor.spec,
        CommandSpec(
            "idp clock", "show or set an IdP's clock",
            arguments: [
                ArgumentSpec(name: "CLOCK", optional: true, help: "real, +90 or -90 (seconds), or @SECONDS")
            ],
            options: [
                issuer,
                .one(
                    "advance", "SECONDS", form: .number(-9_460_800_000...9_460_800_000),
                    help: "move it, back for a negative number"),
            ], notes: ["Write -- before a clock that begins with a dash: idp clock -- -90"],
            action: clock),
        CommandSpec(
            "idp policy", "show or change a tenant's policy",
            arguments: [ArgumentSpec(name: "NAME=VALUE", optional: true, repeats: true, help: "what to change")],
            options: [issuer], action: policy),
        CommandSpec("idp reset", "put an IdP back to its seed", options: [issuer], action: reset),
        IdPServeCommand.spec,
    ]

    private static let issuer = OptionSpec.one(
        "issuer", "I", standard: "the only IdP's first issuer", help: "the issuer it is about")

    private static func list(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let idps = try await ManagedTenant.running(context)
        let rows = idps.flatMap { idp in
            idp.issuers.map { [idp.system, Display.safe($0), Display.safe(idp.api), Display.safe(idp.management)] }
        }
        context.output.result(
            ["idps": .array(idps.map(\.json))],
            lines: rows.isEmpty
                ? ["no reference IdP runs; start one: understudy serve --idp sensecrypt"]
                : Columns.table(["SYSTEM", "ISSUER", "API", "MANAGEMENT"], rows))
        return .done
    }

    private static func tenants(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let found = try await calling { () throws(ControlFailure) in try await tenant.api.get("/manage/tenants") }
        context.output.result(found, lines: DocumentLines.table(found.records("tenants"), first: ["id", "name"]))
        return .done
    }

    private static func apps(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let path = tenant.path + "/applications"
        let found = try await calling { () throws(ControlFailure) in try await tenant.api.get(path) }
        context.output.result(found, lines: DocumentLines.blocks(found.records("applications"), title: "client_id"))
        return .done
    }

    private static func users(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let path = tenant.path + "/users"
        let found = try await calling { () throws(ControlFailure) in try await tenant.api.get(path) }
        context.output.result(found, lines: DocumentLines.blocks(found.records("users"), title: "email"))
        return .done
    }

    private static func inbox(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let query = parsed["email"].map { [("address", $0)] } ?? []
        let path = tenant.path + "/inbox"
        let found = try await calling { () throws(ControlFailure) in try await tenant.api.get(path, query) }
        let mails = found.records("mails")
        context.output.result(found, lines: mails.isEmpty ? ["no mail"] : DocumentLines.blocks(mails, title: "to"))
        return .done
    }

    private static func findings(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let found = try await calling { () throws(ControlFailure) in try await tenant.api.get("/manage/findings") }
        let findings = found.records("findings")
        context.output.result(
            found, lines: findings.isEmpty ? ["nothing was refused"] : DocumentLines.blocks(findings, title: "rule"))
        return .done
    }

    private static func clock(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let body = try parsed.arguments.first.map { (text) throws(CommandFailure) in try clock(text) }
        let span = parsed.number("advance").map { JSON.object([("advance", .int(Int64($0)))]) }
        if body != nil, span != nil { throw .usage("idp clock takes a CLOCK or --advance, not both", of: parsed) }
        let method = body != nil ? "PUT" : span != nil ? "POST" : "GET"
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let found = try await calling { () throws(ControlFailure) in
            try await tenant.api.document(method, "/manage/clock", body: body ?? span)
        }
        context.output.result(found, lines: DocumentLines.pairs(found))
        return .done
    }

    /// A clock in words as the management API's document.
    static func clock(_ text: String) throws(CommandFailure) -> JSON {
        if text == "real" { return ["mode": "real"] }
        let seconds = text.last == "s" ? text.dropLast() : text[...]
        if text.hasPrefix("@"), let at = Int64(seconds.dropFirst()) { return ["mode": "frozen", "at": .int(at)] }
        if text.hasPrefix("+") || text.hasPrefix("-"), let offset = Int64(seconds) {
            return ["mode": "offset", "seconds": .int(offset)]
        }
        throw .badValue("clock", "'\(text)' is not real, +SECONDS, -SECONDS or @SECONDS")
    }

    private static func policy(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let changes = try IdPSettings.changes(parsed.arguments, parsed)
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        return try await IdPSettings.showOrChange(tenant.path + "/policy", changes, in: tenant, context)
    }

    private static func reset(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        _ = try await calling { () throws(ControlFailure) in try await tenant.api.post("/manage/reset") }
        context.output.result(["result": "reset"], lines: ["back to the seed"])
        return .done
    }
}
