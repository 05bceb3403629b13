import Control
import Encoding

/// `understudy idp tenant|app|user …`: one thing's settings, shown or changed.
enum IdPSettings {
    static let specs = [
        CommandSpec(
            "idp tenant", "show or change a tenant's settings", arguments: [setting], options: [issuer],
            notes: ["such as: idp tenant pki_enabled=true"], action: tenant),
        CommandSpec(
            "idp app", "show or change an application's settings",
            arguments: [ArgumentSpec(name: "CLIENT", help: "the application's client_id"), setting], options: [issuer],
            notes: ["such as: idp app app_demo pki_tenant_scope=true"], action: app),
        CommandSpec(
            "idp user", "show or change a user's settings",
            arguments: [ArgumentSpec(name: "EMAIL", help: "the user's address"), setting], options: [issuer],
            notes: ["such as: idp user ada@example.test shared_face_token=true"], action: user),
    ]

    private static let setting = ArgumentSpec(
        name: "NAME=VALUE", optional: true, repeats: true, help: "what to change; a value is JSON, or else text")
    private static let issuer = OptionSpec.one(
        "issuer", "I", standard: "the only IdP's first issuer", help: "the issuer it is about")

    private static func tenant(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let changes = try changes(parsed.arguments, parsed)
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        return try await showOrChange(tenant.path, changes, in: tenant, context)
    }

    private static func app(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let changes = try changes(Array(parsed.arguments.dropFirst()), parsed)
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let path = tenant.path + "/applications/" + PercentCoding.encode(parsed.arguments[0])
        return try await showOrChange(path, changes, in: tenant, context)
    }

    private static func user(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let changes = try changes(Array(parsed.arguments.dropFirst()), parsed)
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let id = try await IdPTicket.userID(of: parsed.arguments[0], in: tenant)
        return try await showOrChange(tenant.path + "/users/" + id, changes, in: tenant, context)
    }

    /// Reads `NAME=VALUE` arguments; nil where there are none.
    static func changes(_ arguments: [String], _ parsed: ParsedArguments) throws(CommandFailure) -> JSON? {
        var changes = JSONObject()
        for text in arguments {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw .usage("'\(text)' is not NAME=VALUE", of: parsed) }
            changes[parts[0]] = (try? JSON(parsing: Array(parts[1].utf8))) ?? .string(parts[1])
        }
        return changes.count > 0 ? .object(changes) : nil
    }

    /// Shows what is at a path of the management API, changed first where there is something to change.
    static func showOrChange(
        _ path: String, _ changes: JSON?, in tenant: ManagedTenant, _ context: CommandContext
    ) async throws(CommandFailure) -> ExitCode {
        let found = try await calling { () throws(ControlFailure) in
            try await tenant.api.document(changes == nil ? "GET" : "PATCH", path, body: changes)
        }
        context.output.result(found, lines: DocumentLines.pairs(found))
        return .done
    }
}
