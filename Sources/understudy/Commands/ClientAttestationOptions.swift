import Encoding
import Engine

/// The options by which a sign-in's client authenticates by attestation.
enum ClientAttestationOptions {
    static let specs: [OptionSpec] = [
        .one(
            "client-attestation", "MODE", form: .choice(ClientAttestationOrder.Mode.allCases.map(\.rawValue)),
            help: "the client authenticates by an attestation of the test roots, or of the attester named"),
        .one("attester-key", "FILE", help: "the attester's private key (PEM, DER or JWK)"),
        .one("attester-kid", "KID", help: "the kid that key goes by; its own or its thumbprint when none"),
        .one("attester-command", "COMMAND", help: "a command that reads the request as JSON and prints an attestation"),
        .one("attester-url", "URL", help: "a backend that answers the request with {\"client_attestation\": …}"),
        .one(
            "client-attestation-defect", "X", form: .choice(ClientAttestationDefect.allCases.map(\.rawValue)),
            help: "what is wrong on purpose with the attestation or its proof"),
    ]

    /// Adds what was named to the document of a flow.
    static func add(to body: inout JSONObject, _ parsed: ParsedArguments) throws(CommandFailure) {
        guard let mode = parsed["client-attestation"] else {
            let lone = specs.dropFirst().first { parsed.has($0.name) }
            if let lone { throw .badValue(lone.name, "--\(lone.name) goes with --client-attestation") }
            return
        }
        var order = JSONObject([("mode", .string(mode))])
        order["attester"] = try attester(parsed)
        body["client_attestation"] = .object(order)
        body["client_attestation_defect"] = parsed["client-attestation-defect"].map(JSON.string)
    }

    private static func attester(_ parsed: ParsedArguments) throws(CommandFailure) -> JSON? {
        let named = ["attester-key", "attester-command", "attester-url"].filter(parsed.has)
        guard let name = named.first else {
            guard !parsed.has("attester-kid") else {
                throw .badValue("attester-kid", "--attester-kid goes with --attester-key")
            }
            return nil
        }
        guard named.count == 1 else {
            throw .badValue(named[1], "--\(named[1]) and --\(name) cannot both be given")
        }
        let value = parsed.required(name)
        switch name {
        case "attester-command": return ["command": .string(value)]
        case "attester-url": return ["url": .string(value)]
        default:
            var document = JSONObject([("key", .string(try KeyFile.text(value, option: name)))])
            document["kid"] = parsed["attester-kid"].map(JSON.string)
            return .object(document)
        }
    }
}
