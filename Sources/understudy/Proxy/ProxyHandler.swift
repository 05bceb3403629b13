import Control
import Encoding
import HTTP
import Transport

/// Forwards what arrives to an API, through the control API and with the phone's session.
final class ProxyHandler: RequestHandler {
    private let forwarding: Forwarding
    private let path: String
    private let control: ControlClient

    /// Forwards with the session of a device.
    init(_ forwarding: Forwarding, device: String, control: ControlClient) {
        self.forwarding = forwarding
        self.control = control
        path = Path.device(device) + "/fetch"
    }

    /// Answers one request.
    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        if let refusal = forwarding.refusal(of: request, from: peer) { return reply.send(refusal) }
        Task { reply.send(await answer(request)) }
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let order: JSON
        do throws(HTTPURLError) {
            order = try forwarding.order(for: request)
        } catch {
            return Forwarding.problem(400, "not_forwarded", error.description)
        }
        do throws(ControlFailure) {
            let document = try await control.post(path, order)
            guard let fetched = try? FetchedDocument(document) else {
                return Forwarding.problem(502, "unexpected_answer", "the daemon is of another version")
            }
            return forwarding.answer(fetched, to: request.method)
        } catch {
            return forwarding.answer(error)
        }
    }
}
