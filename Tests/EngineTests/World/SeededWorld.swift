import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import SignIn
import Store
import Testing

/// A world that repeats: phones and a reference IdP in this process, one seed, one clock that stands, no sockets.
struct SeededWorld: Sendable {
    /// The instant the clock stands at: 2020-10-10, long past for every real clock.
    static let beginning = Instant(seconds: 1_602_288_000)

    let idp: InProcessIdP
    let engine: Engine
    let clock: WorldClock
    let store: Store

    init(_ seed: String, inProcessOnly: Bool = true) throws {
        clock = WorldClock(at: Self.beginning)
        idp = try InProcessIdP(entropy: Entropy(seed: Array("idp \(seed)".utf8)), clock: clock)
        store = try Store.inMemory()
        var settings = EngineSettings()
        settings.clock = clock
        settings.entropy = Entropy(seed: Array("phone \(seed)".utf8))
        idp.join(&settings.inProcess)
        settings.inProcess.reachesSockets = !inProcessOnly
        engine = Engine(store: store, settings: settings)
    }

    var issuer: String { idp.served.origin + "/acme" }
    var api: String { idp.served.api + "/acme" }

    @discardableResult
    func manage(_ method: String, _ path: String, _ body: JSON? = nil) throws -> JSON {
        let response = idp.manage(method, path, body)
        try #require(response.status < 300, "\(method) \(path): \(response.status)")
        return response.body.isEmpty ? .null : try JSON(parsing: response.body)
    }

    /// A device with an enrolled user.
    func phone(_ name: String) async throws -> DeviceID {
        let user = try manage("POST", "/tenants/acme/users", ["email": .string("\(name)@acme.test"), "ticket": true])
        let id = try #require(DeviceID(rawValue: name))
        _ = try engine.createDevice(id)
        _ = try await engine.enrol(.ticket(try #require(user["ticket"]?.string)), issuer: issuer, device: id)
        return id
    }

    /// Signs in and waits until the flow rests.
    @discardableResult
    func signIn(
        _ phone: DeviceID, scans: [ScanOutcome] = [.match], pki: SignInPKIRequest? = nil
    ) async throws -> FlowView {
        let config = SignInConfig(
            issuer: issuer, clientID: "app_demo", resource: api, scopes: ["openid", "email", "offline_access"],
            allowPlainHTTPOnLoopback: true, pki: pki)
        let flow = try await engine.startSignIn(SignInOrder(config: config, scans: scans), device: phone)
        let end = try await engine.flow(flow.id, waiting: 30, untilRest: true)
        await engine.settle(within: 5000)
        return end
    }

    /// Calls the API.
    func fetch(_ phone: DeviceID) async throws -> Fetched {
        try await engine.fetch(APIRequest(url: try HTTPURL(api + "/accounts")), device: phone)
    }

    /// The whole journal as the control API shows it.
    var journal: [JSON] { engine.journal(after: 0).entries.map(\.json) }

    /// What the journal says of one device, without the places in the journal of all.
    func journal(of phone: DeviceID) -> [String] {
        journal.filter { $0["device"]?.string == phone.rawValue }.map { entry in
            var members = entry.object ?? JSONObject()
            members["sequence"] = nil
            return JSON.object(members).text
        }
    }

    /// The IdP's findings, as its management API shows them.
    func findings() throws -> String { try manage("GET", "/findings").text }
}
