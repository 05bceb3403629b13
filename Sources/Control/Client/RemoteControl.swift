internal import Encoding
public import HTTP
public import Transport

/// A daemon's control API, over HTTP.
public struct RemoteControl: ControlPort {
    /// The longest a daemon holds an answer back and then some: a fetch that refreshes and repeats makes six calls of
    /// up to 30 s each.
    private static let timeoutMilliseconds = 200_000

    private let base: HTTPURL
    private let client: HTTPClient

    /// Where the daemon answers, such as `http://127.0.0.1:7420`.
    public var url: String { base.origin }

    /// Makes a port to an address; nothing is sent yet.
    ///
    /// Throws ``ControlPortError`` `badAddress` where the text is no http or https URL.
    public init(url: String, client: HTTPClient) throws(ControlPortError) {
        do throws(HTTPURLError) {
            base = try HTTPURL(url)
        } catch {
            throw .badAddress(url, reason: error.description)
        }
        self.client = client
    }

    /// Sends one request to the daemon.
    public func call(_ request: HTTPRequest) async throws(ControlPortError) -> HTTPResponse {
        try await call(request, timeoutMilliseconds: Self.timeoutMilliseconds)
    }

    /// Whether a daemon answers there: `GET /livez` gives 200 within two seconds.
    public func isAlive() async -> Bool { await answers("/livez") }

    /// Whether a daemon is ready there: `GET /readyz` gives 200 within two seconds.
    public func isReady() async -> Bool { await answers("/readyz") }

    private func answers(_ target: String) async -> Bool {
        do throws(ControlPortError) {
            let request = HTTPRequest(method: "GET", target: target)
            return try await call(request, timeoutMilliseconds: 2000).status == 200
        } catch {
            return false
        }
    }

    private func call(_ request: HTTPRequest, timeoutMilliseconds: Int) async throws(ControlPortError) -> HTTPResponse {
        let url: HTTPURL
        do throws(HTTPURLError) {
            url = try base.replacing(target: request.target)
        } catch {
            throw .badAddress(base.origin + request.target, reason: error.description)
        }
        let exchange = ClientRequest(
            url: url, method: request.method, fields: request.fields, body: request.body,
            timeoutMilliseconds: timeoutMilliseconds)
        do throws(TransportError) {
            return try await client.send(exchange)
        } catch {
            throw .unreachable(url: base.origin, reason: error.description)
        }
    }
}
