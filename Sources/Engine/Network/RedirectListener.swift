import HTTP
import OAuth
import Synchronization
import Transport

/// The place a browser comes back to: one loopback port, for one redirect (RFC 8252 section 7.3).
final class RedirectListener: RequestHandler {
    private struct Contents {
        var address: String?
        var waiter: CheckedContinuation<String?, Never>?
        var isClosed = false
    }

    /// The redirect URI with the port that is listened at.
    let redirectURI: RedirectURI
    private let origin: String
    private let server: Mutex<HTTPServer?> = Mutex(nil)
    private let contents = Mutex(Contents())

    private init(_ redirectURI: RedirectURI, origin: String) {
        self.redirectURI = redirectURI
        self.origin = origin
    }

    /// Listens at a loopback redirect URI; where that has no port, at any free one.
    ///
    /// RFC 8252 section 7.3 has such a URI registered without a port. Port 80 is nobody's but the system's.
    /// Throws a sentence that says why it cannot.
    static func open(_ text: String) async throws(RedirectListenerError) -> RedirectListener {
        guard let asked = try? RedirectURI(text), let url = asked.loopback else {
            throw RedirectListenerError(why: "it is no plain http URL on loopback")
        }
        let isAnyPort = url.port == url.scheme.defaultPort
        let door = Door()
        let server: HTTPServer
        do throws(TransportError) {
            server = try await HTTPServer.start(
                ServerConfiguration(host: url.host, port: isAnyPort ? 0 : url.port, maxConnections: 16), handler: door)
        } catch {
            throw RedirectListenerError(why: "\(error)")
        }
        let origin = isAnyPort ? "\(url.origin):\(server.port)" : url.origin
        guard let actual = isAnyPort ? try? RedirectURI(origin + url.target) : asked else {
            throw RedirectListenerError(why: "it is no URL with a port")
        }
        let listener = RedirectListener(actual, origin: origin)
        listener.server.withLock { $0 = server }
        door.listener.withLock { $0 = listener }
        return listener
    }

    /// The address the browser came back to; nil when the listener was closed before.
    func address() async -> String? {
        await withCheckedContinuation { continuation in
            let known: String?? = contents.withLock { contents in
                if contents.address != nil || contents.isClosed { return .some(contents.address) }
                contents.waiter = continuation
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Answers one request: the first one to the redirect URI's path is the redirect.
    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        let address = origin + request.target
        guard request.method == "GET", redirectURI.query(of: address) != nil else {
            return reply.send(.text("There is nothing here.\n", status: 404, fields: Self.fields))
        }
        let waiter = contents.withLock { contents in
            if contents.address == nil { contents.address = address }
            defer { contents.waiter = nil }
            return contents.waiter
        }
        reply.send(.text("Understudy has the answer. You can close this page.\n", fields: Self.fields))
        waiter?.resume(returning: address)
    }

    /// Stops listening; somebody who still waits is told that nobody came.
    func close() {
        let waiter = contents.withLock { contents in
            contents.isClosed = true
            defer { contents.waiter = nil }
            return contents.waiter
        }
        waiter?.resume(returning: nil)
        let server = server.withLock { server in
            defer { server = nil }
            return server
        }
        guard let server else { return }
        Task { await server.shutdown(graceMilliseconds: 1000) }
    }

    /// The page must not be kept, nor its address told on.
    private static let fields: HTTPFields = [
        "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Connection": "close",
    ]
}

/// The server's handler until its listener knows the port, and after.
private final class Door: RequestHandler {
    let listener = Mutex<RedirectListener?>(nil)

    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        guard let listener = listener.withLock({ $0 }) else { return reply.send(HTTPResponse(status: 503)) }
        listener.handle(request, from: peer, reply: reply)
    }
}

/// Why a redirect URI cannot be listened at.
struct RedirectListenerError: Error, CustomStringConvertible {
    let why: String

    var description: String { why }
}
