import Control
import Encoding

/// A tenant of a running reference IdP, and the management API that rules it.
struct ManagedTenant: Sendable {
    /// The management API.
    let api: ControlClient
    /// The tenant's id: the last segment of its issuer.
    let id: String

    /// The tenant's path in the management API.
    var path: String { "/manage/tenants/" + PercentCoding.encode(id) }

    /// The tenant of an issuer; the first of the only IdP where none is named.
    ///
    /// Throws where no reference IdP runs, or none with that issuer.
    static func find(_ issuer: String?, _ context: CommandContext) async throws(CommandFailure) -> ManagedTenant {
        let idps = try await running(context)
        let issuers = idps.flatMap(\.issuers)
        guard let chosen = issuer ?? issuers.first, !idps.isEmpty else {
            throw CommandFailure(
                exit: .unavailable, code: "no_idp", message: "the daemon runs no reference IdP",
                advice: "start one: understudy serve --idp sensecrypt")
        }
        guard let idp = idps.first(where: { $0.issuers.contains(chosen) || chosen.hasPrefix($0.origin + "/") }),
            let id = chosen.split(separator: "/").last
        else {
            throw CommandFailure(
                exit: .badInput, code: "invalid_field", message: "no reference IdP here has the issuer '\(chosen)'",
                field: "issuer", advice: "there are " + issuers.joined(separator: ", "))
        }
        return ManagedTenant(api: try context.connector.remote(idp.management), id: String(id))
    }

    /// The reference IdPs of the daemon, else those of `understudy idp serve`.
    static func running(_ context: CommandContext) async throws(CommandFailure) -> [ServedIdP] {
        let lonely = context.connector.lonelyIdPs()
        do throws(CommandFailure) {
            let daemon = try await context.daemon()
            let document = try await calling { () throws(ControlFailure) in try await daemon.get("/v1/idps") }
            return document.records("idps").compactMap(ServedIdP.init) + lonely
        } catch {
            if !lonely.isEmpty { return lonely }
            throw error
        }
    }
}

/// `understudy idp ticket`: an enrolment ticket for an address, whoever it belongs to.
enum IdPTicket {
    static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure) -> ExitCode {
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let document = try await make(for: parsed.required("email"), in: tenant)
        guard let ticket = document["ticket"]?.string else { throw .unexpectedAnswer("ticket") }
        context.output.result(document, lines: [Display.safe(ticket)])
        return .done
    }

    /// Makes a ticket; creates the user where there is none.
    static func make(for email: String, in tenant: ManagedTenant) async throws(CommandFailure) -> JSON {
        let users = tenant.path + "/users"
        do throws(ControlFailure) {
            return try await tenant.api.post(users, ["email": .string(email), "ticket": true])
        } catch {
            guard case .refused(let refusal) = error, refusal.status == 409 else { throw CommandFailure(error) }
        }
        let id = try await userID(of: email, in: tenant)
        return try await calling { () throws(ControlFailure) in try await tenant.api.post("\(users)/\(id)/tickets") }
    }

    /// The id of the user with an address, percent-encoded for a path.
    static func userID(of email: String, in tenant: ManagedTenant) async throws(CommandFailure) -> String {
        let users = tenant.path + "/users"
        let known = try await calling { () throws(ControlFailure) in try await tenant.api.get(users) }
        let user = known.records("users").first { $0["email"]?.string?.lowercased() == email.lowercased() }
        guard let id = user?["id"]?.string else { throw .unexpectedAnswer("user with that address") }
        return PercentCoding.encode(id)
    }
}
