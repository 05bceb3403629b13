import Control
import Encoding
import JOSE

/// `understudy idp keys`: registers the public half of a confidential client's key with a reference IdP.
enum IdPKeys {
    static func spec(issuer: OptionSpec) -> CommandSpec {
        CommandSpec(
            "idp keys", "make an application private_key_jwt, and register the public half of its key",
            options: [
                issuer, .one("client", "C", required: true, help: "the application's client_id"),
                .one("key", "FILE", required: true, help: "the private key (PEM, DER or JWK); it stays here"),
                .one(
                    "kid", "KID", standard: "the JWK's own, or the thumbprint", help: "the name it is registered under"),
            ],
            notes: ["It takes the place of keys registered before."], action: run)
    }

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let file = try KeyFile.key(parsed.required("key"), option: "key")
        let key = file.key.publicKey
        let entry = JWKSet.Entry(
            keyID: parsed["kid"] ?? file.keyID ?? key.thumbprint, key: key, algorithm: file.key.algorithm)
        let body: JSON = ["token_endpoint_auth_method": "private_key_jwt", "jwks": JWKSet([entry]).json]
        let tenant = try await ManagedTenant.find(parsed["issuer"], context)
        let path = tenant.path + "/applications/" + PercentCoding.encode(parsed.required("client"))
        let application = try await calling { () throws(ControlFailure) in
            try await tenant.api.document("PATCH", path, body: body)
        }
        context.output.result(
            application, lines: ["registered \(file.key.algorithm.rawValue) key \(Display.safe(entry.keyID ?? ""))"])
        return .done
    }
}
