import Encoding
import HTTP
public import OAuth
import Transport

/// Registering clients, which needs no device.
extension Engine {
    /// Registers a public client at an authorization server that offers it (RFC 7591).
    ///
    /// Throws `.unreachable`, `.hostNotAllowed`, `.refused` with the server's error, or `.badAnswer`: no metadata, no
    /// `registration_endpoint`, or an answer without a client id.
    public func registerClient(
        _ registration: ClientRegistration, issuer: String
    ) async throws(EngineError) -> RegisteredClient {
        let metadata = try await world.serverMetadata(of: issuer)
        guard let endpoint = metadata.registrationEndpoint else {
            throw .badAnswer(call: "discovery", why: "the metadata names no registration_endpoint")
        }
        let request = ClientRequest(
            url: endpoint, method: "POST",
            fields: HTTPFields([("Accept", "application/json"), ("Content-Type", "application/json")]),
            body: registration.json.serialized(), timeoutMilliseconds: world.callTimeout)
        let response = try await world.network.send(request)
        if response.status >= 400 {
            let answer = try? JSON(parsing: response.body)
            throw .refused(
                call: "registration", status: response.status,
                error: answer?["error"]?.string ?? "without an error code",
                description: answer?["error_description"]?.string)
        }
        do throws(AnswerError) {
            return try RegisteredClient(
                status: response.status, mediaType: response.fields["Content-Type"], body: response.body)
        } catch {
            throw .badAnswer(call: "registration", why: error.description)
        }
    }
}
