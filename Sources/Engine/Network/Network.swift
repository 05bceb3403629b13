public import HTTP
public import Transport

/// Sees every exchange in full, tokens included: only for a person who asked for a trace.
public typealias ExchangeObserver = @Sendable (_ request: ClientRequest, _ response: HTTPResponse?) -> Void

/// The phone's way to the network: the one place where a request leaves the program.
struct Network: Sendable {
    let client: HTTPClient
    var inProcess = InProcessServers()
    let policy: HostPolicy
    let observer: ExchangeObserver?
    /// Whether the phone is offline: nothing leaves it.
    var isCut = false

    /// Sends one request and waits for its answer.
    ///
    /// Throws `.hostNotAllowed` or `.invalid` before anything is sent, `.unreachable` where no whole answer came.
    func send(_ request: ClientRequest) async throws(EngineError) -> HTTPResponse {
        if let objection = policy.objection(to: request.url) { throw objection }
        guard !isCut else { throw .unreachable(url: request.url.origin, why: "the phone is offline") }
        do throws(TransportError) {
            let answer = try await inProcess.answer(request)
            let response = if let answer { answer } else { try await client.send(request) }
            observer?(request, response)
            return response
        } catch {
            observer?(request, nil)
            throw .unreachable(url: request.url.origin, why: "\(error)")
        }
    }
}
