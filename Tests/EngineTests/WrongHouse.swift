import Device
import Encoding
import Engine
import HTTP
import SignIn
import Testing
import Transport

/// A house where every wrong can be done: a user with two phones, another user, a second client, and a session that
/// was refreshed.
struct WrongHouse: Sendable {
    let house: House
    let ada: DeviceID

    static func open() async throws -> WrongHouse {
        let house = try await House.open()
        try house.manage(
            "PATCH", "/tenants/acme/policy",
            ["nonce_on_start": true, "nonce_at_resource": true, "rate_limits": "off"])
        let resource = JSON.array([.string(house.api)])
        try house.manage(
            "POST", "/tenants/acme/applications",
            [
                "client_id": "app_second", "name": "Second", "token_endpoint_auth_method": "none",
                "require_dpop": true, "first_party_challenge_enabled": true,
                "redirect_uris": ["https://app.second.test/back"],
                "scopes": ["openid", "email", "offline_access"], "resources": resource,
            ])
        let user = try house.manage("POST", "/tenants/acme/users", ["email": "ada@acme.test", "ticket": true])
        let id = try #require(user["id"]?.string)
        let ada = try await house.phone("ada", ticket: try #require(user["ticket"]?.string))
        let ticket = try house.manage("POST", "/tenants/acme/users/\(id)/tickets")
        _ = try await house.phone("ada-tablet", ticket: try #require(ticket["ticket"]?.string), faceOf: ada)
        _ = try await house.phone("bob")
        return WrongHouse(house: house, ada: ada)
    }

    /// Signs in, refreshes and calls the API, so that there is a session, a spent token, and nonces of both servers.
    func settle() async throws {
        #expect(try await house.signIn(ada, scans: [.match]).reason == nil)
        _ = try await house.engine.refreshSession(of: ada)
        #expect(try await house.engine.fetch(call, device: ada).response.status == 200)
    }

    var call: APIRequest {
        get throws { APIRequest(url: try HTTPURL(house.api + "/accounts")) }
    }

    /// Leaves a code of another client that nobody has redeemed; the flow it belongs to is parked.
    func parkOtherClient() async throws -> FlowView {
        let bob = try #require(DeviceID(rawValue: "bob"))
        let parked = try await house.signIn(
            bob, scans: [.match], faults: ["drop:token:3"], client: "app_second")
        #expect(parked.state.isParked)
        return parked
    }

    /// What came of a wrong: the answer to the wrong call, and the flow it happened in, if in one.
    struct Outcome {
        var status: Int?
        var error: String?
        var flow: FlowView?
        /// Why it could not be done.
        var unavailable: String?
    }

    /// Does a wrong at a call, and looks at its answer on the wire.
    func run(_ wrong: WrongOnPurpose, at place: WrongOnPurpose.Place) async throws -> Outcome {
        let before = house.exchanges.all.count
        let fault = "wrong-\(wrong.rawValue):\(place.rawValue)"
        var outcome = Outcome()
        switch place {
        case .refresh:
            let planned = try PlannedFault(text: fault, among: [.refresh])
            _ = try? await house.engine.refreshSession(of: ada, faults: [planned])
        case .api:
            do {
                _ = try await house.engine.fetch(
                    try call, device: ada,
                    faults: [try PlannedFault(text: "wrong-\(wrong.rawValue):fetch", among: nil)])
            } catch EngineError.invalid(_, let rule, _) {
                outcome.unavailable = rule
            }
        case .attempt: outcome.flow = try await house.signIn(ada, scans: [.mismatch, .match], faults: [fault])
        case .abort: outcome.flow = try await house.signIn(ada, scans: [.cancel], faults: [fault])
        default: outcome.flow = try await house.signIn(ada, scans: [.match], faults: [fault])
        }
        await house.engine.settle(within: 5000)
        let seen = house.exchanges.all[before...].filter { place.isCalled(by: $0) }
        guard let exchange = seen.dropFirst(wrong.goesOutTwice ? 1 : 0).first, let response = exchange.response else {
            return outcome
        }
        outcome.status = response.status
        outcome.error = (try? JSON(parsing: response.body))?["error"]?.string
        return outcome
    }
}

extension WrongOnPurpose {
    var goesOutTwice: Bool { [.replayedProof, .codeTwice, .replayedCeremony].contains(self) }
}

extension WrongOnPurpose.Place {
    func isCalled(by exchange: Exchanges.Exchange) -> Bool {
        let path = exchange.request.url.path
        let form = try? FormFields(decoding: exchange.request.body)
        return switch self {
        case .start: path.hasSuffix("/oauth2/challenge") && form?["auth_session"] == nil
        case .completion: path.hasSuffix("/oauth2/challenge") && form?["auth_session"] != nil
        case .token: path.hasSuffix("/oauth2/token") && form?["grant_type"] == "authorization_code"
        case .refresh: path.hasSuffix("/oauth2/token") && form?["grant_type"] == "refresh_token"
        case .faceToken: path.hasSuffix("/face-token")
        case .attempt: path.hasSuffix("/attempt")
        case .abort: path.hasSuffix("/abort")
        case .api: path.hasSuffix("/accounts")
        }
    }
}
