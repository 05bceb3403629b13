import Control
import HTTP
import Synchronization
import Transport

/// Answers on a port that is opened, to see that it is free, before what answers there is made.
final class LateHandler: RequestHandler {
    private let handler = Mutex<(any RequestHandler)?>(nil)

    /// Names who answers from now on.
    func bind(_ handler: any RequestHandler) { self.handler.withLock { $0 = handler } }

    /// Hands the request on; until somebody is there for it, `503`.
    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        guard let handler = handler.withLock({ $0 }) else {
            return reply.send(.problem(status: 503, title: "not ready", fields: ["Retry-After": "1"]))
        }
        handler.handle(request, from: peer, reply: reply)
    }
}

/// A port that is listened on.
struct OpenPort: Sendable {
    private let server: HTTPServer
    private let handler: LateHandler
    /// The address as it is advertised, such as `http://127.0.0.1:7420`.
    let origin: String

    /// Listens.
    ///
    /// - Parameters:
    ///   - option: the option that chose the port, for the words of a failure.
    ///   - limits: how large requests may be.
    static func listen(
        on host: String, port: Int, option: String, limits: HTTPLimits = HTTPLimits()
    ) async throws(CommandFailure) -> OpenPort {
        let handler = LateHandler()
        do throws(TransportError) {
            let server = try await HTTPServer.start(
                ServerConfiguration(host: host, port: port, limits: limits), handler: handler)
            let origin = AdvertisedAddress.origin(host: server.host, port: server.port)
            return OpenPort(server: server, handler: handler, origin: origin)
        } catch {
            throw CommandFailure(error, option: option)
        }
    }

    /// Answers requests from now on.
    func serve(_ handler: any RequestHandler) { self.handler.bind(handler) }

    /// Lets requests under way be answered, and closes.
    func shutdown() async { await server.shutdown(graceMilliseconds: 2000) }
}

extension CommandFailure {
    /// The failure a port that cannot be listened on comes to.
    init(_ error: TransportError, option: String) {
        switch error {
        case .portInUse(let port):
            self.init(
                exit: .unavailable, code: "port_in_use", message: "port \(port) is in use",
                field: option, advice: "choose another with --\(option) N, or 0 for any that is free")
        case .cannotListen, .unreachable, .badConfiguration:
            self.init(exit: .configuration, code: "cannot_listen", message: error.description, field: "bind")
        default:
            self.init(exit: .internalError, code: error.code, message: error.description)
        }
    }
}
