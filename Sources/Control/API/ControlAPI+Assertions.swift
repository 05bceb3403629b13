import Encoding
import Engine
import HTTP
import JOSE

/// Who speaks for confidential clients on a device.
extension ControlAPI {
    /// The fields of a provider.
    static let assertionFields = ["key", "kid", "command", "url"]

    func registerClientAssertions(_ id: String, _ request: HTTPRequest) throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(of: request, allowing: Self.assertionFields + ["client_id"])
        let clientID = try fields.optionalString("client_id")
        let source = try assertions(fields)
        try controllingNow { () throws(EngineError) in
            try engine.registerClientAssertions(source, for: clientID, on: device)
        }
        return HTTPResponse(status: 204)
    }

    func clearClientAssertions(_ id: String) throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        try controllingNow { () throws(EngineError) in try engine.clearClientAssertions(on: device) }
        return HTTPResponse(status: 204)
    }

    /// The provider a flow brings, where it brings one.
    func flowAssertions(_ fields: BodyFields) throws(ControlProblem) -> ClientAssertionSource? {
        guard let provider = try fields.object("client_assertion_provider", allowing: Self.assertionFields) else {
            return nil
        }
        return try assertions(provider)
    }

    /// Reads a provider: a key, a command, or a backend's URL.
    func assertions(_ fields: BodyFields) throws(ControlProblem) -> ClientAssertionSource {
        let kid = try fields.optionalString("kid", longest: 256)
        switch (fields.json("key"), try fields.optionalString("command", longest: 4096), try url(fields)) {
        case (let key?, nil, nil): return .key(try keyFile(key, kid: kid))
        case (nil, let command?, nil) where kid == nil:
            guard mayRunCommands else {
                throw ControlProblem(
                    status: 403, code: "commands_not_allowed",
                    detail: "this daemon runs no commands for its callers; it would with --allow-assertion-commands",
                    field: "command")
            }
            return .command(command)
        case (nil, nil, let url?) where kid == nil: return .backend(url)
        default: throw .missing("key", "one of 'key' (with 'kid', if you like), 'command' and 'url'")
        }
    }

    /// A private key as a JWK or as PEM; nothing of it is repeated in a refusal.
    private func keyFile(_ key: JSON, kid: String?) throws(ControlProblem) -> SigningKeyFile {
        do throws(JOSEError) {
            let file = try SigningKeyFile(content: key.string.map { Array($0.utf8) } ?? key.serialized())
            return SigningKeyFile(key: file.key, keyID: kid ?? file.keyID)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "key: \(error.description)", field: "key",
                rule: error.code)
        }
    }

    private func url(_ fields: BodyFields) throws(ControlProblem) -> HTTPURL? {
        guard let text = try fields.optionalString("url", longest: HTTPURL.longest) else { return nil }
        do throws(HTTPURLError) {
            return try HTTPURL(text)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "url: \(error)", field: "url", rule: error.code)
        }
    }
}
