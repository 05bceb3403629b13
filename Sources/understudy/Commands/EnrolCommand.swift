import Control
import Encoding

/// `understudy enrol`: registers a phone for a user.
enum EnrolCommand {
    static let spec = CommandSpec(
        "enrol", "register a phone for a user, with a ticket or a mailed code",
        options: [
            .one("device", "D", required: true, help: "the phone"),
            .one("issuer", "I", required: true, help: "the issuer, such as http://127.0.0.1:7421/acme"),
            .one("ticket", "T", help: "a one-time ticket: understudy idp ticket makes one"),
            .one("email", "E", help: "without a ticket: asks the issuer to mail a code to this address"),
            .one("code", "C", help: "the code that came by mail, together with --email"),
            AttestationOptions.defect,
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let (ticket, email, code) = (parsed["ticket"], parsed["email"], parsed["code"])
        guard (ticket == nil) != (email == nil) else {
            throw .usage("enrol needs either --ticket T or --email E", of: parsed)
        }
        if code != nil, email == nil { throw .usage("enrol: --code C goes with --email E", of: parsed) }
        var body = JSONObject([("issuer", .string(parsed.required("issuer")))])
        body["ticket"] = ticket.map(JSON.string)
        body["email"] = email.map(JSON.string)
        body["code"] = code.map(JSON.string)
        body["attestation_defect"] = parsed["attest-defect"].map(JSON.string)
        let path = Path.device(parsed.required("device")) + "/enrolments"
        let control = try await context.control()
        let (status, document) = try await calling { () throws(ControlFailure) in
            try await control.answer("POST", path, body: .object(body))
        }
        if status == 202 {
            let sent = document == .null ? ["result": "code_sent"] : document
            context.output.result(
                sent, lines: ["a code was mailed, if the address may register; then: enrol … --email E --code C"])
        } else {
            context.output.result(document, lines: lines(document))
        }
        return .done
    }

    private static func lines(_ enrolment: JSON) -> [String] {
        [
            "enrolled \(enrolment.shown("email")) at \(enrolment.shown("issuer"))",
            "  subject     \(enrolment.shown("subject"))", "  device key  \(enrolment.shown("kid"))",
        ]
    }
}
