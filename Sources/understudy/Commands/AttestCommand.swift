import Control
import Device
import Encoding

/// `understudy attest`: one piece of a phone's evidence, without any sign-in.
enum AttestCommand {
    static let spec = CommandSpec(
        "attest", "have a phone make one piece of attestation evidence, for a verifier of your own",
        options: [
            .one("device", "D", required: true, help: "the phone"),
            .one("format", "F", form: .choice(formats), required: true, help: "the kind of evidence"),
            .one("challenge", "C", required: true, help: "the server's challenge, as it gave it"),
            .one(
                "kind", "KIND", form: .choice(["raw", "start", "enrolment"]), standard: "raw",
                help: "bound to the challenge alone, or to a request of section 14 of the wire"),
            .one("client", "ID", help: "with --kind start: the client_id"),
            .one("code-challenge", "TEXT", help: "with --kind start: the PKCE challenge"),
            .one("kid", "KID", help: "with --kind enrolment: whose device key; the install's key without it"),
            .one(
                "defect", "X", form: .choice(AttestationDefect.allCases.map(\.rawValue)), help: "what is wrong with it"),
            .many(
                "set", "NAME=VALUE", help: "a setting of phone or app, such as boot_state=unverified or app.package=a.b"
            ),
            .one("stale-challenge", "C", help: "with --defect staleChallenge: one of an earlier day"),
            .one("out", "FILE", help: "write the bare evidence there: CBOR, PEM certificates, or the token"),
        ],
        notes: [
            """
            With --kind raw, App Attest's clientDataHash is SHA-256 of the challenge's bytes, Android's \
            attestationChallenge is those bytes, and Play Integrity's nonce or requestHash is the challenge as given.
            """,
            "What checks it: understudy roots export.",
        ], action: run)

    private static let formats = EvidenceFormat.allCases.map(\.rawValue)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var body = JSONObject([
            ("format", .string(parsed.required("format"))), ("challenge", .string(parsed.required("challenge"))),
        ])
        let members = [
            ("kind", "kind"), ("client", "client_id"), ("code-challenge", "code_challenge"), ("kid", "kid"),
            ("defect", "defect"), ("stale-challenge", "stale_challenge"),
        ]
        for (option, member) in members { body[member] = parsed[option].map(JSON.string) }
        body["settings"] = try AttestationOptions.settings(parsed.all("set"), option: "set")
        let path = Path.device(parsed.required("device")) + "/attest"
        let control = try await context.control()
        let made = try await calling { () throws(ControlFailure) in try await control.post(path, .object(body)) }
        guard let file = parsed["out"] else {
            context.output.result(made, lines: [made.prettyText])
            return .done
        }
        let bytes = try bare(made)
        do throws(PrivateFileError) {
            try PrivateFile.write(bytes, to: file)
        } catch {
            throw .badValue("out", error.description)
        }
        let shown = ["format", "defect", "key_id", "counter", "app_id", "package", "root_fingerprint"].compactMap {
            name in
            made[name].map { (name, $0.shown) }
        }
        context.output.result(
            made, lines: ["\(bytes.count) bytes written to \(file)"] + Columns.pairs(shown, indent: 0))
        return .done
    }

    private static func bare(_ made: JSON) throws(CommandFailure) -> [UInt8] {
        guard let evidence = made["evidence"] else { throw .unexpectedAnswer("evidence") }
        if let coded = (evidence["attestation"] ?? evidence["assertion"])?.string,
            let bytes = try? Base64URL.decode(coded)
        {
            return bytes
        }
        if let chain = evidence["x5c"]?.array {
            let blocks = chain.compactMap(\.string).map { Lines.pem($0) }
            return Array(blocks.joined().utf8)
        }
        if let token = evidence["token"]?.string { return Array(token.utf8) }
        throw .unexpectedAnswer("evidence")
    }

    private enum Lines {
        /// Base64 of DER, readable or not, as a PEM certificate.
        static func pem(_ base64: String) -> String {
            var (lines, rest) = (["-----BEGIN CERTIFICATE-----"], base64[...])
            while !rest.isEmpty {
                lines.append(String(rest.prefix(64)))
                rest = rest.dropFirst(64)
            }
            return (lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
        }
    }
}
