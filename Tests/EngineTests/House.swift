import Control
import Crypto
import Device
import Encoding
import Engine
import Foundation
import HTTP
import Profiles
import ReferenceIdP
import SignIn
import Store
import Synchronization
import Testing
import Transport

/// A reference IdP on loopback and an engine that talks to it: what most tests here need, made in one place.
struct House: Sendable {
    let idp: IdPService
    let engine: Engine
    let store: Store
    let exchanges: Exchanges

    /// Opens a house; `store` and `idp` can be those of an earlier one, as after a restart.
    ///
    /// The profile is the phones'; an IdP that is made here has it too.
    static func open(
        store: Store? = nil, idp: IdPService? = nil, clock: any WallClock = SystemClock(),
        profile: SenseCryptProfile = .builtIn
    ) async throws -> House {
        let exchanges = Exchanges()
        let store = try store ?? Store.inMemory()
        var settings = EngineSettings()
        settings.clock = clock
        settings.observer = { exchanges.note($0, $1) }
        settings.profile = profile
        var configuration = IdPService.Configuration()
        configuration.profile = profile
        let service = if let idp { idp } else { try await IdPService.start(configuration) }
        return House(
            idp: service, engine: Engine(store: store, settings: settings), store: store, exchanges: exchanges)
    }

    /// The tenant `acme`.
    var issuer: String { idp.served.origin + "/acme" }

    /// The API of `acme`.
    var api: String { idp.served.api + "/acme" }

    /// Calls the IdP's management API.
    @discardableResult
    func manage(_ method: String, _ path: String, _ body: JSON? = nil) throws -> JSON {
        let request = HTTPRequest(
            method: method, target: "/manage" + path,
            fields: ["Content-Type": "application/json", "Host": "127.0.0.1"], body: body?.serialized() ?? [])
        let response = idp.idp.handle(request, peerIsLoopback: true, hostIsLoopback: true)
        try #require(response.status < 300, "\(method) \(path): \(response.status)")
        return response.body.isEmpty ? .null : try JSON(parsing: response.body)
    }

    /// The rules the IdP has refused something by, oldest first.
    func findings() throws -> [String] {
        try manage("GET", "/findings")["findings"]?.array?.compactMap { $0["rule"]?.string } ?? []
    }

    /// A device with an enrolled user.
    func phone(_ name: String = "ada") async throws -> DeviceID {
        let user = try manage("POST", "/tenants/acme/users", ["email": .string("\(name)@acme.test"), "ticket": true])
        return try await phone(name, ticket: try #require(user["ticket"]?.string))
    }

    /// A device enrolled with a ticket, held by the same person as another where one is named.
    func phone(_ name: String, ticket: String, faceOf other: DeviceID? = nil) async throws -> DeviceID {
        let id = try #require(DeviceID(rawValue: name))
        _ = try engine.createDevice(id, faceOf: other)
        _ = try await engine.enrol(.ticket(ticket), issuer: issuer, device: id)
        return id
    }

    /// Starts a sign-in and waits until it ends, parks, or waits for a scan.
    func signIn(
        _ phone: DeviceID, scans: [ScanOutcome] = [], faults: [String] = [], hint: String? = nil,
        scopes: [String] = ["openid", "email", "offline_access"], resource: String? = nil, issuer: String? = nil,
        client: String = "app_demo", pki: SignInPKIRequest? = nil
    ) async throws -> FlowView {
        let config = SignInConfig(
            issuer: issuer ?? self.issuer, clientID: client, resource: resource ?? api, scopes: scopes,
            loginHint: hint, allowPlainHTTPOnLoopback: true, pki: pki)
        let order = SignInOrder(config: config, scans: scans, faults: try faults.map(PlannedFault.init(text:)))
        return try await rest(of: try await engine.startSignIn(order, device: phone))
    }

    /// Waits until a flow ends, parks, or waits for a scan.
    func rest(of flow: FlowView) async throws -> FlowView {
        var view = flow
        while !view.rests, !view.waitsForScan {
            view = try await engine.flow(flow.id, after: view.steps.count, waiting: 30)
        }
        return view
    }
}

/// Every exchange of an engine, as it was on the wire.
final class Exchanges: Sendable {
    struct Exchange: Sendable {
        let request: ClientRequest
        let response: HTTPResponse?
    }

    private let seen = Mutex<[Exchange]>([])

    func note(_ request: ClientRequest, _ response: HTTPResponse?) {
        seen.withLock { $0.append(Exchange(request: request, response: response)) }
    }

    var all: [Exchange] { seen.withLock { $0 } }

    /// The forms posted to an address that ends so.
    func forms(to suffix: String) throws -> [FormFields] {
        try all.filter { $0.request.url.path.hasSuffix(suffix) }.map { try FormFields(decoding: $0.request.body) }
    }
}

extension FlowView {
    /// The calls in order, each with its status or `lost`.
    var calls: [String] {
        stepDocuments(after: 0).compactMap { step in
            guard let call = step["call"]?.string, step["kind"]?.string == "call" else { return nil }
            guard let status = step["status"]?.int else { return "\(call) lost" }
            return "\(call) \(status)" + (step["error"]?.string.map { " \($0)" } ?? "")
        }
    }

    /// What the camera saw, in order.
    var scans: [String] {
        stepDocuments(after: 0).compactMap { $0["kind"]?.string == "scan" ? $0["outcome"]?.string : nil }
    }

    /// The generations the face token was sealed as.
    var generations: [Int64] { stepDocuments(after: 0).compactMap { $0["generation"]?.int } }

    /// The reason of a failed flow.
    var reason: String? {
        if case .failed(let failure) = state { failure.reason } else { nil }
    }
}

/// A folder that is gone after the test.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "understudy-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    /// The files in it that hold these bytes as they are, in base64url, or in hexadecimal.
    func files(holding secret: [UInt8]) throws -> [String] {
        let forms = [secret, Array(Base64URL.encode(secret).utf8), Array(Hex.encode(secret).utf8)].map { Data($0) }
        return try FileManager.default.contentsOfDirectory(atPath: path).filter { name in
            guard let bytes = FileManager.default.contents(atPath: path + "/" + name) else { return false }
            return forms.contains { bytes.range(of: $0) != nil }
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
