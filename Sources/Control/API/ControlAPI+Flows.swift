import Device
import Encoding
import Engine
import HTTP
import SignIn

/// Flows, and calls with the session they leave.
extension ControlAPI {
    func startFlow(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(
            of: request,
            allowing: [
                "system", "issuer", "client_id", "scopes", "login_hint", "resource", "scans", "faults",
                "client_assertion_provider", "pki", "attestation_defect", "client_attestation",
                "client_attestation_defect",
            ] + Self.oauthFields)
        let system = try system(fields)
        let config = SignInConfig(
            issuer: try fields.string("issuer", "the tenant's issuer"),
            clientID: try fields.string("client_id", "the opted-in application"),
            resource: try fields.optionalString("resource"), scopes: try fields.strings("scopes", most: 64),
            loginHint: try fields.optionalString("login_hint", longest: 254), allowPlainHTTPOnLoopback: true,
            pki: try fields.pki())
        let order = SignInOrder(
            system, config: config, scans: try scans(fields, "scans"),
            faults: try faults(fields, among: system.calls), clientAssertions: try flowAssertions(fields),
            clientAttestation: try clientAttestation(fields), attestationDefect: try attestationDefect(fields))
        let view = try await controlling { () throws(EngineError) in
            try await engine.startSignIn(order, device: device)
        }
        return .json(view.json(after: 0, at: clock.now(), showingTokens: false), status: 201)
    }

    /// Gives the shared secret of a flow, once.
    func takeSecret(_ id: String) async throws(ControlProblem) -> HTTPResponse {
        let secret = try await controlling { () throws(EngineError) in
            try await engine.takeSecret(of: FlowID(rawValue: id))
        }
        return .json(["flow": .string(id), "shared_secret": .string(Base64URL.encode(secret))])
    }

    func faults(_ fields: BodyFields, among calls: [Call.Purpose]?) throws(ControlProblem) -> [PlannedFault] {
        var faults: [PlannedFault] = []
        for (index, entry) in try fields.list("faults", most: 64).enumerated() {
            faults.append(
                try controllingNow { () throws(EngineError) in
                    try PlannedFault(entry, named: "fault-\(index + 1)", among: calls)
                })
        }
        return faults
    }

    func listFlows(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let query = try QueryFields(of: request, allowing: ["device", "live", "limit"])
        let limit = try query.number("limit", in: 1...1000, or: 100)
        let liveOnly = try query.flag("live")
        var device: DeviceID?
        if let text = query["device"] { device = try knownID(text) }
        let owner = device
        let flows = try await controlling { () throws(EngineError) in
            try await engine.flows(of: owner, liveOnly: liveOnly, limit: limit)
        }
        let now = clock.now()
        return .json(["flows": .array(flows.map { $0.json(after: .max, at: now, showingTokens: false) })])
    }

    func showFlow(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let query = try QueryFields(of: request, allowing: ["after", "wait", "show_tokens"])
        let after = try query.number("after", in: 0...1_000_000, or: 0)
        let wait = try query.number("wait", in: 0...60, or: 0)
        let showsTokens = try query.flag("show_tokens")
        let view = try await controlling { () throws(EngineError) in
            try await engine.flow(FlowID(rawValue: id), after: after, waiting: Double(wait))
        }
        return .json(view.json(after: after, at: clock.now(), showingTokens: showsTokens))
    }

    func retry(_ id: String) async throws(ControlProblem) -> HTTPResponse {
        let view = try await controlling { () throws(EngineError) in try await engine.retry(FlowID(rawValue: id)) }
        return .json(view.json(after: 0, at: clock.now(), showingTokens: false))
    }

    func cancel(_ id: String) async throws(ControlProblem) -> HTTPResponse {
        let view = try await controlling { () throws(EngineError) in try await engine.cancel(FlowID(rawValue: id)) }
        return .json(view.json(after: 0, at: clock.now(), showingTokens: false))
    }

    func scan(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let fields = try BodyFields(of: request, allowing: ["scan"])
        let outcome = try scan(try fields.string("scan", "what the camera sees"), field: "scan")
        guard outcome != .hang else { throw .invalid("scan", "an outcome other than hang", got: "hang") }
        let view = try await controlling { () throws(EngineError) in
            try await engine.scan(outcome, for: FlowID(rawValue: id))
        }
        return .json(view.json(after: 0, at: clock.now(), showingTokens: false))
    }

    func fetch(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(
            of: request,
            allowing: ["url", "method", "headers", "body", "body_base64url", "one_shot", "binary", "faults"])
        let call = APIRequest(
            method: try method(fields), url: try url(fields), fields: try headers(fields), body: try body(fields),
            isOneShot: try fields.flag("one_shot"))
        let isBinary = try fields.flag("binary")
        let planned = try faults(fields, among: nil)
        let fetched = try await controlling { () throws(EngineError) in
            try await engine.fetch(call, device: device, faults: planned)
        }
        return .json(fetched.json(binary: isBinary))
    }

    private func method(_ fields: BodyFields) throws(ControlProblem) -> String {
        let method = try fields.optionalString("method", longest: 32) ?? "GET"
        try check(HTTPRequestHead(method: method, target: "/"), field: "method")
        return method
    }

    private func url(_ fields: BodyFields) throws(ControlProblem) -> HTTPURL {
        let text = try fields.string("url", "an absolute http or https URL", longest: HTTPURL.longest)
        do throws(HTTPURLError) {
            return try HTTPURL(text)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "url: \(error)", field: "url", rule: error.code)
        }
    }

    private func headers(_ fields: BodyFields) throws(ControlProblem) -> HTTPFields {
        let pairs = try fields.pairs("headers")
        if let (name, _) = pairs.first(where: { Self.ours.contains($0.0.lowercased()) }) {
            throw .invalid("headers", "headers the phone does not set itself", got: .string(name))
        }
        let fields = HTTPFields(pairs)
        try check(HTTPRequestHead(method: "GET", target: "/", fields: fields), field: "headers")
        return fields
    }

    /// Lets the encoder judge what it would have to refuse later.
    private func check(_ head: HTTPRequestHead, field: String) throws(ControlProblem) {
        do throws(HTTPEncodingError) {
            _ = try HTTPEncoder.head(head)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "\(field): \(error)", field: field, rule: error.code)
        }
    }

    /// Headers that are the phone's to set.
    private static let ours: Set<String> = [
        "authorization", "dpop", "host", "content-length", "transfer-encoding", "connection",
    ]

    private func body(_ fields: BodyFields) throws(ControlProblem) -> [UInt8] {
        if let text = try fields.optionalText("body") { return Array(text.utf8) }
        guard let coded = try fields.optionalText("body_base64url") else { return [] }
        guard let bytes = try? Base64URL.decode(coded) else {
            throw .invalid("body_base64url", "base64url without padding", got: .string(coded))
        }
        return bytes
    }
}
