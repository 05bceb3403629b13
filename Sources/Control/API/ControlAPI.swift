import Encoding
public import Engine
public import HTTP
import Synchronization

/// The control API as a function from request to response: the daemon serves it, and a command without a daemon
/// calls it in its own process.
public final class ControlAPI: Sendable {
    let engine: Engine
    let version: String
    let startedAt: Instant
    let clock: any WallClock
    /// Whether a caller may have this process run commands of theirs.
    let mayRunCommands: Bool
    /// The snapshots that were taken.
    let shelf: SnapshotShelf
    /// Conformance runs.
    let conformance = ConformanceRuns()
    private let servedIdPs = Mutex<[ServedIdP]>([])
    private let idpHosts = Mutex<[any IdPHost]>([])
    private let stopRequested: @Sendable () -> Void

    /// Makes the API over an engine; `onStop` is called when somebody asks the daemon to end.
    ///
    /// `mayRunCommands` is for callers who are the process's own user for certain: on a socket, everybody on this
    /// machine calls.
    public init(
        engine: Engine, version: String, mayRunCommands: Bool = false, snapshots: SnapshotShelf = .inMemory(),
        onStop: @escaping @Sendable () -> Void = {}
    ) {
        self.engine = engine
        self.version = version
        clock = engine.clock
        shelf = snapshots
        self.mayRunCommands = mayRunCommands
        startedAt = SystemClock().now()
        stopRequested = onStop
    }

    /// Names a reference IdP that runs in this process.
    public func add(_ idp: ServedIdP) { servedIdPs.withLock { $0.append(idp) } }

    /// Names a reference IdP that runs in this process and is saved, put back and reset with it.
    public func add(_ host: any IdPHost) {
        add(host.served)
        idpHosts.withLock { $0.append(host) }
    }

    /// The reference IdPs that are saved, put back and reset with this process.
    var hosts: [any IdPHost] { idpHosts.withLock { $0 } }

    /// The reference IdPs of this process.
    public var idps: [ServedIdP] { servedIdPs.withLock { $0 } }

    func stop() { stopRequested() }

    /// Answers one request; never throws, and never with a body that is not JSON.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        do throws(ControlProblem) {
            return try await route(request)
        } catch {
            return error.response
        }
    }

    private func route(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let path = try segments(of: request)
        var allowed: [String] = []
        for route in Self.routes {
            guard let captured = route.match(path) else { continue }
            if route.method == request.method { return try await route.run(self, request, captured) }
            allowed.append(route.method)
        }
        guard allowed.isEmpty else {
            throw ControlProblem(
                status: 405, code: "method_not_allowed",
                detail: "\(request.path) takes \(allowed.joined(separator: ", ")), not \(request.method.prefix(16))")
        }
        throw .notFound("there is nothing at \(request.path.prefix(200))")
    }

    private func segments(of request: HTTPRequest) throws(ControlProblem) -> [String] {
        var segments: [String] = []
        for segment in request.path.split(separator: "/", omittingEmptySubsequences: true) {
            guard let decoded = try? PercentCoding.decode(segment) else {
                throw .notFound("the path holds a malformed percent escape")
            }
            segments.append(decoded)
        }
        return segments
    }
}

/// One address of the control API: a method, a path with `*` for what varies, and what answers it.
struct Route: Sendable {
    typealias Answer =
        @Sendable (ControlAPI, HTTPRequest, [String]) async throws(ControlProblem) -> HTTPResponse

    let method: String
    private let pattern: [String]
    let run: Answer

    init(_ method: String, _ path: String, _ run: @escaping Answer) {
        self.method = method
        pattern = path.split(separator: "/").map(String.init)
        self.run = run
    }

    /// What stands in the path's places that vary, or nil where this is another path.
    func match(_ path: [String]) -> [String]? {
        guard path.count == pattern.count else { return nil }
        var captured: [String] = []
        for (expected, found) in zip(pattern, path) {
            if expected == "*" { captured.append(found) } else if expected != found { return nil }
        }
        return captured
    }
}

extension ControlAPI {
    /// Every address there is, in the order of the page that describes them.
    static let routes: [Route] = [
        Route("GET", "/livez") { api, _, _ in api.health() },
        Route("GET", "/readyz") { api, _, _ in api.health() },
        Route("GET", "/healthz") { api, _, _ in api.health() },
        Route("GET", "/version") { api, _, _ in api.about() },
        Route("GET", "/v1/devices") { api, request, _ throws(ControlProblem) in try api.listDevices(request) },
        Route("POST", "/v1/devices") { api, request, _ throws(ControlProblem) in try await api.createDevice(request) },
        Route("GET", "/v1/devices/*") { api, _, path throws(ControlProblem) in try await api.showDevice(path[0]) },
        Route("PATCH", "/v1/devices/*") { api, request, path throws(ControlProblem) in
            try await api.changeDevice(path[0], request)
        },
        Route("DELETE", "/v1/devices/*") { api, _, path throws(ControlProblem) in try await api.deleteDevice(path[0]) },
        Route("POST", "/v1/devices/*/life") { api, request, path throws(ControlProblem) in
            try await api.live(path[0], request)
        },
        Route("POST", "/v1/devices/*/scans") { api, request, path throws(ControlProblem) in
            try await api.addScans(path[0], request)
        },
        Route("POST", "/v1/devices/*/enrolments") { api, request, path throws(ControlProblem) in
            try await api.enrol(path[0], request)
        },
        Route("DELETE", "/v1/devices/*/enrolments") { api, request, path throws(ControlProblem) in
            try await api.forgetEnrolment(path[0], request)
        },
        Route("GET", "/v1/devices/*/session") { api, request, path throws(ControlProblem) in
            try await api.showSession(path[0], request)
        },
        Route("DELETE", "/v1/devices/*/session") { api, _, path throws(ControlProblem) in try await api.signOut(path[0])
        },
        Route("POST", "/v1/devices/*/session/refresh") { api, request, path throws(ControlProblem) in
            try await api.refreshSession(path[0], request)
        },
        Route("PUT", "/v1/devices/*/client-assertion-provider") { api, request, path throws(ControlProblem) in
            try api.registerClientAssertions(path[0], request)
        },
        Route("DELETE", "/v1/devices/*/client-assertion-provider") { api, _, path throws(ControlProblem) in
            try api.clearClientAssertions(path[0])
        },
        Route("POST", "/v1/devices/*/flows") { api, request, path throws(ControlProblem) in
            try await api.startFlow(path[0], request)
        },
        Route("POST", "/v1/devices/*/fetch") { api, request, path throws(ControlProblem) in
            try await api.fetch(path[0], request)
        },
        Route("POST", "/v1/devices/*/attest") { api, request, path throws(ControlProblem) in
            try await api.attest(path[0], request)
        },
        Route("GET", "/v1/roots") { api, _, _ throws(ControlProblem) in try api.showRoots() },
        Route("GET", "/v1/flows") { api, request, _ throws(ControlProblem) in
            try await api.listFlows(request)
        },
        Route("GET", "/v1/flows/*") { api, request, path throws(ControlProblem) in
            try await api.showFlow(path[0], request)
        },
        Route("GET", "/v1/flows/*/trace") { api, _, path throws(ControlProblem) in try await api.trace(path[0]) },
        Route("POST", "/v1/flows/*/retry") { api, _, path throws(ControlProblem) in try await api.retry(path[0]) },
        Route("POST", "/v1/flows/*/cancel") { api, _, path throws(ControlProblem) in try await api.cancel(path[0]) },
        Route("POST", "/v1/flows/*/scan") { api, request, path throws(ControlProblem) in
            try await api.scan(path[0], request)
        },
        Route("POST", "/v1/flows/*/secret") { api, _, path throws(ControlProblem) in
            try await api.takeSecret(path[0])
        },
        Route("POST", "/v1/clients") { api, request, _ throws(ControlProblem) in try await api.registerClient(request)
        },
        Route("GET", "/v1/faults") { api, _, _ in api.listFaults() },
        Route("POST", "/v1/faults") { api, request, _ throws(ControlProblem) in try api.armFaults(request) },
        Route("DELETE", "/v1/faults") { api, _, _ in api.clearFaults() },
        Route("DELETE", "/v1/faults/*") { api, _, path throws(ControlProblem) in try api.disarmFault(path[0]) },
        Route("GET", "/v1/journal") { api, request, _ throws(ControlProblem) in try api.journal(request) },
        Route("GET", "/v1/clock") { api, _, _ in api.showClock() },
        Route("POST", "/v1/clock") { api, request, _ throws(ControlProblem) in try await api.moveClock(request) },
        Route("POST", "/v1/devices/*/clock") { api, request, path throws(ControlProblem) in
            try await api.moveDeviceClock(path[0], request)
        },
        Route("POST", "/v1/reset") { api, request, _ throws(ControlProblem) in try await api.reset(request) },
        Route("GET", "/v1/snapshots") { api, _, _ throws(ControlProblem) in try api.listSnapshots() },
        Route("POST", "/v1/snapshots") { api, request, _ throws(ControlProblem) in
            try await api.takeSnapshot(request)
        },
        Route("POST", "/v1/snapshots/*/restore") { api, _, path throws(ControlProblem) in
            try await api.restoreSnapshot(path[0])
        },
        Route("DELETE", "/v1/snapshots/*") { api, _, path throws(ControlProblem) in try api.deleteSnapshot(path[0]) },
        Route("GET", "/v1/export") { api, _, _ throws(ControlProblem) in try await api.exportWorld() },
        Route("POST", "/v1/import") { api, request, _ throws(ControlProblem) in try await api.importWorld(request) },
        Route("GET", "/v1/doctor") { api, _, _ throws(ControlProblem) in try await api.examine() },
        Route("GET", "/v1/conform") { api, _, _ in api.listConformanceRules() },
        Route("POST", "/v1/conform") { api, request, _ throws(ControlProblem) in
            try await api.startConformance(request)
        },
        Route("GET", "/v1/conform/*") { api, request, path throws(ControlProblem) in
            try await api.showConformance(path[0], request)
        },
        Route("GET", "/v1/idps") { api, _, _ in api.listIdPs() },
        Route("POST", "/v1/stop") { api, _, _ in api.acceptStop() },
    ]
}
