import Device
import Encoding
import Engine
public import HTTP
public import Transport

/// Serves the control API over HTTP, to this machine alone.
public final class ControlHandler: RequestHandler {
    private let api: ControlAPI

    /// Serves an API.
    public init(_ api: ControlAPI) { self.api = api }

    /// Answers one request; the feed is answered with a stream.
    public func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        if let refusal = LoopbackRule.refusal(of: request, from: peer) { return reply.send(refusal) }
        if request.method == "GET", request.path == "/v1/events" {
            return FeedStream.begin(request, api: api, reply: reply)
        }
        Task { reply.send(await api.respond(to: request)) }
    }
}

/// Keeps web pages and other machines away from what is for this machine alone.
///
/// A page in a browser can reach loopback ports; by DNS rebinding it can even do so under a name of its own. It
/// cannot choose the `Host` header, so a `Host` that is not loopback is refused.
public enum LoopbackRule {
    /// The refusal of a request that may not be answered, or nil.
    public static func refusal(of request: HTTPRequest, from peer: Peer) -> HTTPResponse? {
        guard peer.isLoopback else {
            return ControlProblem(status: 403, code: "misdirected", detail: "only this machine may call this API")
                .response
        }
        guard hostIsLoopback(request, from: peer) else {
            return ControlProblem(
                status: 421, code: "misdirected", detail: "the Host must be a loopback name or address"
            ).response
        }
        return nil
    }

    /// Whether a request names a loopback host.
    public static func hostIsLoopback(_ request: HTTPRequest, from peer: Peer) -> Bool {
        let scheme = peer.secure ? "https" : "http"
        guard let authority = request.authority, let url = try? HTTPURL("\(scheme)://\(authority)/") else {
            return false
        }
        return url.isLoopback
    }
}

/// The journal as server-sent events.
private enum FeedStream {
    static func begin(_ request: HTTPRequest, api: ControlAPI, reply: Reply) {
        let query: QueryFields
        let after: Int
        do throws(ControlProblem) {
            query = try QueryFields(of: request, allowing: ["device", "after"])
            after = try query.number(
                "after", in: 0...Int.max, or: Int(request.fields["Last-Event-ID"] ?? "") ?? Int.max)
        } catch {
            return reply.send(error.response)
        }
        let device = query["device"]
        let feed = api.engine.feed(after: UInt64(after))
        let stream = reply.stream(
            fields: HTTPFields([("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]))
        let pump = Task {
            // A first comment tells the client that the stream is open.
            _ = stream.write(Array(": understudy\n\n".utf8))
            for await entry in feed where device == nil || device == entry.device?.rawValue {
                let event = "id: \(entry.sequence)\ndata: \(entry.json.text)\n\n"
                if !stream.write(Array(event.utf8)) { await stream.drained() }
                if stream.isClosed { break }
            }
            stream.finish()
        }
        stream.onClose { pump.cancel() }
    }
}
