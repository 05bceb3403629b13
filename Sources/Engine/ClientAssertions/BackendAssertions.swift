import Encoding
import HTTP
import Transport

/// Asks an HTTP backend: the request goes out as JSON, and a 200 brings `{"client_assertion": …}` or the bare text.
struct BackendAssertions: ClientAssertionProvider {
    let kind = "backend"
    private let url: HTTPURL
    private let network: Network
    private let timeoutMilliseconds: Int

    /// Nobody observes these exchanges: what comes back is a credential, and no part of the sign-in's protocol.
    init(_ url: HTTPURL, network: Network, timeoutMilliseconds: Int) {
        self.url = url
        self.network = Network(
            client: network.client, inProcess: network.inProcess, policy: network.policy, observer: nil)
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    func clientAssertion(for request: ClientAssertionRequest) async throws(ClientAssertionError) -> String {
        try await answer(to: request.json, member: "client_assertion")
    }

    /// What the backend answers to a request, bare or as a member of a JSON object.
    func answer(to request: JSON, member: String) async throws(ClientAssertionError) -> String {
        let response = try await ask(request)
        guard response.status == 200 else {
            throw .unavailable(details: "the backend answered \(response.status)")
        }
        guard response.mediaType?.isJSON ?? false else {
            return try GivenAssertion(response.body, from: "the backend").compact
        }
        guard let text = (try? JSON(parsing: response.body))?[member]?.string else {
            throw .unavailable(details: "the backend's JSON has no \(member)")
        }
        return try GivenAssertion(Array(text.utf8), from: "the backend").compact
    }

    private func ask(_ request: JSON) async throws(ClientAssertionError) -> HTTPResponse {
        let fields = HTTPFields([("Accept", "application/json, text/plain"), ("Content-Type", "application/json")])
        let question = ClientRequest(
            url: url, method: "POST", fields: fields, body: request.serialized(),
            timeoutMilliseconds: timeoutMilliseconds)
        do throws(EngineError) {
            return try await network.send(question)
        } catch {
            throw .unavailable(details: "\(error)")
        }
    }
}
