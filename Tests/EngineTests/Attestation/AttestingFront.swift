import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import ReferenceIdP
import SignIn
import Store
import Synchronization
import Testing

/// A reference IdP behind a front that names a challenge endpoint and notes what phones attest with each request.
///
/// It judges nothing: what it refuses is what a test tells it to, once each. So these tests see what the phone does, and
/// no verifier's opinion of it.
final class AttestingFront: Sendable {
    /// A request as it arrived.
    struct Arrival: Sendable {
        let path: String
        let fields: HTTPFields
        let body: [UInt8]

        var form: FormFields { (try? FormFields(decoding: body)) ?? FormFields([]) }
        /// The evidence in it, of a start or an enrolment.
        var evidence: JSON? {
            if let text = form["attestation"], let bytes = try? Base64URL.decode(text) {
                return try? JSON(parsing: bytes)
            }
            return (try? JSON(parsing: body))?["attestation"]
        }
    }

    /// A refusal that is still to come: for a request whose path ends so.
    struct Refusal: Sendable {
        let path: String
        let error: String
        var challenge: String?
    }

    private struct State {
        var arrivals: [Arrival] = []
        var refusals: [Refusal] = []
        var challenges = 0
        var namesEndpoint = true
    }

    private let state = Mutex(State())
    let idp: InProcessIdP

    init(_ idp: InProcessIdP) { self.idp = idp }

    var arrivals: [Arrival] { state.withLock { $0.arrivals } }
    /// What arrived at an address that ends so.
    func arrivals(at suffix: String) -> [Arrival] { arrivals.filter { $0.path.hasSuffix(suffix) } }
    func refuse(_ path: String, _ error: String, challenge: String? = nil) {
        state.withLock { $0.refusals.append(Refusal(path: path, error: error, challenge: challenge)) }
    }
    func hideEndpoint() { state.withLock { $0.namesEndpoint = false } }
    func forget() { state.withLock { $0.arrivals = [] } }

    /// Answers a request of a phone.
    func answer(_ request: HTTPRequest) -> HTTPResponse {
        let path = request.path
        let refusal: Refusal? = state.withLock { state in
            state.arrivals.append(Arrival(path: path, fields: request.fields, body: request.body))
            guard let place = state.refusals.firstIndex(where: { path.hasSuffix($0.path) }) else { return nil }
            return state.refusals.remove(at: place)
        }
        if let refusal { return refused(refusal) }
        if path.hasSuffix("/attestation-challenge") {
            return HTTPResponse.json(["attestation_challenge": .string("c-\(nextNumber())")])
        }
        let response = idp.idp.handle(
            request, peerIsLoopback: true, hostIsLoopback: true, peerAddress: "127.0.0.1")
        return path.contains("/.well-known/") ? named(response) : response
    }

    private func nextNumber() -> Int {
        state.withLock {
            $0.challenges += 1
            return $0.challenges
        }
    }

    private func refused(_ refusal: Refusal) -> HTTPResponse {
        var response = HTTPResponse.json(
            ["error": .string(refusal.error), "error_description": "the test says so"], status: 400)
        if let challenge = refusal.challenge {
            response.fields.append("OAuth-Client-Attestation-Challenge", challenge)
        }
        return response
    }

    /// Adds `challenge_endpoint` to a metadata document.
    private func named(_ response: HTTPResponse) -> HTTPResponse {
        guard state.withLock({ $0.namesEndpoint }), var object = (try? JSON(parsing: response.body))?.object,
            let issuer = object["issuer"]?.string
        else { return response }
        object["challenge_endpoint"] = .string(issuer + "/attestation-challenge")
        return HTTPResponse.json(.object(object))
    }
}

/// Phones, the front, and a clock that stands: no socket, no randomness that differs from run to run.
struct AttestingWorld: Sendable {
    let front: AttestingFront
    let engine: Engine
    let store: Store
    let clock: WorldClock

    /// Opens a world; `store` and `front` can be those of an earlier one, as after a restart.
    init(_ seed: String, store: Store? = nil, front: AttestingFront? = nil, clock: WorldClock? = nil) throws {
        self.clock = clock ?? WorldClock(at: Instant(seconds: 1_790_000_000))
        self.store = try store ?? Store.inMemory()
        let front =
            try front
            ?? AttestingFront(
                InProcessIdP(
                    entropy: Entropy(seed: Array("idp \(seed)".utf8)), clock: self.clock))
        self.front = front
        var settings = EngineSettings()
        settings.clock = self.clock
        settings.entropy = Entropy(seed: Array("phone \(seed) \(store == nil)".utf8))
        settings.inProcess.add(front.idp.served.origin) { front.answer($0) }
        settings.inProcess.reachesSockets = false
        engine = Engine(store: self.store, settings: settings)
    }

    /// The same state directory in another process.
    func restarted() throws -> AttestingWorld {
        try AttestingWorld("another process", store: store, front: front, clock: clock)
    }

    var issuer: String { front.idp.served.origin + "/acme" }

    func ticket(_ name: String) throws -> String {
        let response = front.idp.manage(
            "POST", "/tenants/acme/users", ["email": .string("\(name)@acme.test"), "ticket": true])
        return try #require(try JSON(parsing: response.body)["ticket"]?.string)
    }

    /// A device with an enrolled user.
    func phone(
        _ name: String, _ platform: Platform = .ios, _ settings: AttestationSettings = AttestationSettings(),
        defect: AttestationDefect? = nil
    ) async throws -> DeviceID {
        let id = try #require(DeviceID(rawValue: name))
        _ = try engine.createDevice(id, platform: platform, attestation: settings)
        _ = try await engine.enrol(
            .ticket(try ticket(name)), issuer: issuer, device: id, attestationDefect: defect)
        return id
    }

    /// Signs in and waits until the flow rests.
    @discardableResult
    func signIn(
        _ phone: DeviceID, defect: AttestationDefect? = nil, client: ClientAttestationOrder? = nil,
        faults: [String] = []
    ) async throws -> FlowView {
        let config = SignInConfig(
            issuer: issuer, clientID: "app_demo", scopes: ["openid", "offline_access"], allowPlainHTTPOnLoopback: true)
        let order = SignInOrder(
            config: config, scans: [.match], faults: try faults.map(PlannedFault.init(text:)),
            clientAttestation: client, attestationDefect: defect)
        let flow = try await engine.startSignIn(order, device: phone)
        let end = try await engine.flow(flow.id, waiting: 30, untilRest: true)
        await engine.settle(within: 5000)
        return end
    }
}
