import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import JOSE
import SignIn
import Synchronization
import Testing
import Transport

/// A backend in the test: mints assertions, remembers what it was asked, and has none where the test says so.
final class CountingBackend: ClientAssertionProvider {
    let kind = "test backend"
    let key: SigningKey
    private let entropy = Entropy.system
    private let clock = SystemClock()
    private let state: Mutex<(asked: [ClientAssertionRequest], given: [String], absent: Set<Int>)>

    /// `absent` are the questions, counted from 1, that have no answer.
    init(absent: Set<Int> = []) throws {
        key = .p256(try P256.PrivateKey.generate(.system))
        state = Mutex(([], [], absent))
    }

    var asked: [ClientAssertionRequest] { state.withLock { $0.asked } }
    var given: [String] { state.withLock { $0.given } }

    func clientAssertion(for request: ClientAssertionRequest) async throws(ClientAssertionError) -> String {
        let isAbsent = state.withLock { state in
            state.asked.append(request)
            return state.absent.contains(state.asked.count)
        }
        guard !isAbsent, let assertion = try? assertion(request) else {
            throw .unavailable(details: "the backend sleeps")
        }
        state.withLock { $0.given.append(assertion) }
        return assertion
    }

    private func assertion(_ request: ClientAssertionRequest) throws -> String {
        let now = clock.now().seconds
        let claims = JSONObject([
            ("iss", .string(request.clientID)), ("sub", .string(request.clientID)),
            ("aud", .string(request.audience)), ("exp", .int(now + 60)), ("jti", .string(entropy.token(16))),
        ])
        return try key.sign(header: JSONObject([("alg", "ES256")]), payload: JSON.object(claims).serialized())
    }
}

extension House {
    /// The FAPI tenant.
    var fapi: String { idp.served.origin + "/fapi" }

    /// Registers a key with the FAPI application.
    func register(_ key: SigningKey) throws {
        let set = JWKSet([JWKSet.Entry(keyID: nil, key: key.publicKey)])
        try manage("PATCH", "/tenants/fapi/applications/app_fapi", ["jwks": set.json])
    }

    /// A device with a user of the FAPI tenant.
    func confidentialPhone(_ name: String = "ada") async throws -> DeviceID {
        let id = try #require(DeviceID(rawValue: name))
        _ = try engine.createDevice(id)
        let user = try manage("POST", "/tenants/fapi/users", ["email": .string("\(name)@fapi.test"), "ticket": true])
        _ = try await engine.enrol(.ticket(try #require(user["ticket"]?.string)), issuer: fapi, device: id)
        return id
    }

    /// A sign-in with the FAPI application, until it rests.
    func confidentialSignIn(
        _ phone: DeviceID, _ source: ClientAssertionSource?, faults: [String] = []
    ) async throws -> FlowView {
        let config = SignInConfig(
            issuer: fapi, clientID: "app_fapi", resource: idp.served.api + "/fapi",
            scopes: ["openid", "email", "offline_access"], allowPlainHTTPOnLoopback: true)
        let order = SignInOrder(
            config: config, scans: [.match], faults: try faults.map { try PlannedFault(text: $0) },
            clientAssertions: source)
        return try await rest(of: try await engine.startSignIn(order, device: phone))
    }

    /// The assertions that went to an endpoint of the IdP, in order.
    func assertionsSent() throws -> [String] {
        try exchanges.all.filter {
            $0.request.url.origin == idp.served.origin && $0.request.url.path.contains("oauth2")
        }
        .compactMap { try FormFields(decoding: $0.request.body)["client_assertion"] }
    }
}
