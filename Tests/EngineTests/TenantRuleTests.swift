import Control
import Crypto
import Device
import Encoding
import Engine
import SignIn
import Store
import Testing

/// What a tenant's rules look like from the phone: SenseCrypt description, "Before you start", "Sign up or sign in".
@Suite struct TenantRuleTests {
    /// A switch of in-app sign-in, as an administrator withdraws it.
    enum Switch: CaseIterable, Sendable {
        case tenantApp, dpop, optIn

        func withdraw(_ house: House) throws {
            let application = "/tenants/acme/applications/app_demo"
            switch self {
            case .tenantApp: try house.manage("PATCH", "/tenants/acme", ["runs_own_app": false])
            case .dpop:
                try house.manage(
                    "PATCH", application, ["require_dpop": false, "first_party_challenge_enabled": false])
            case .optIn: try house.manage("PATCH", application, ["first_party_challenge_enabled": false])
            }
        }
    }

    @Test(arguments: Switch.allCases) func `a switch withdrawn before the start ends a sign-in with notAllowed`(
        withdrawn: Switch
    ) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        try withdrawn.withdraw(house)
        let flow = try await house.signIn(ada, scans: [.match])
        #expect(flow.reason == "notAllowed")
        #expect(flow.scans.isEmpty)
    }

    @Test(arguments: Switch.allCases)
    func `a switch withdrawn while the camera waits ends the completion with notAllowed`(
        withdrawn: Switch
    ) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let waiting = try await house.signIn(ada, scans: [.hang])
        #expect(waiting.waitsForScan)
        try withdrawn.withdraw(house)
        let flow = try await house.rest(of: try await house.engine.scan(.match, for: waiting.id))
        #expect(flow.reason == "notAllowed")
        #expect(try await house.engine.session(of: ada) == nil)
    }

    @Test(arguments: Switch.allCases) func `a switch withdrawn while a proof is parked ends the retry with notAllowed`(
        withdrawn: Switch
    ) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let parked = try await house.signIn(ada, scans: [.match], faults: ["drop:completion:2"])
        #expect(parked.state.isParked)
        try withdrawn.withdraw(house)
        let flow = try await house.rest(of: try await house.engine.retry(parked.id))
        #expect(flow.reason == "notAllowed")
        #expect(try await house.engine.session(of: ada) == nil)
    }

    @Test func `a switch given back does not bring the session back`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let parked = try await house.signIn(ada, scans: [.match], faults: ["drop:completion:2"])
        try house.manage("PATCH", "/tenants/acme", ["runs_own_app": false])
        try house.manage("PATCH", "/tenants/acme", ["runs_own_app": true])
        let flow = try await house.rest(of: try await house.engine.retry(parked.id))
        #expect(flow.reason == "sessionExpired")
        #expect(try await house.signIn(ada, scans: [.match]).reason == nil)
    }

    private func user(_ house: House) throws -> (path: String, kid: String) {
        let users = try #require(try house.manage("GET", "/tenants/acme/users")["users"]?.array)
        let user = try #require(users.first)
        let kid = try #require(user["devices"]?.array?.first?["kid"]?.string)
        return ("/tenants/acme/users/\(try #require(user["id"]?.string))", kid)
    }

    @Test func `a removed device ends in notEnrolled after the same two calls as a stranger`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let (path, kid) = try user(house)
        try house.manage("DELETE", "\(path)/devices/\(kid)")
        let flow = try await house.signIn(ada, scans: [.match])
        #expect(flow.reason == "notEnrolled")
        #expect(flow.calls.suffix(2) == ["start 403 insufficient_authorization", "faceToken 403 access_denied"])
    }

    @Test(arguments: [JSON](arrayLiteral: ["enabled": false], ["applications": []]))
    func `access lost while the camera waits ends in notAllowed, before the start in notEnrolled`(
        change: JSON
    ) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let waiting = try await house.signIn(ada, scans: [.hang])
        try house.manage("PATCH", try user(house).path, change)
        let flow = try await house.rest(of: try await house.engine.scan(.match, for: waiting.id))
        #expect(flow.reason == "notAllowed")
        #expect(try await house.signIn(ada, scans: [.match]).reason == "notEnrolled")
    }

    @Test func `an imported token with a password aborts the session and says so`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        try house.manage(
            "POST", try user(house).path + "/import", ["face_token": "AAAA", "password_protected": true])
        let flow = try await house.signIn(ada, scans: [.match])
        guard case .failed(.server(let message)) = flow.state else {
            Issue.record("\(flow.state)")
            return
        }
        #expect(message.lowercased().contains("password"))
        #expect(flow.scans.isEmpty)
        await house.engine.settle(within: 5000)
        let acme = try #require(try house.manage("GET", "/state")["tenants"]?.array?.first)
        #expect(acme["sessions"]?.array?.compactMap { $0["progress"]?.string } == ["aborted"])
    }

    @Test func `the thirty-first start with one hint is rateLimited, with the time to wait`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let hint = "ada@acme.test"
        for _ in 0..<30 { #expect(try await house.signIn(ada, scans: [.cancel], hint: hint).reason == "cancelled") }
        let flow = try await house.signIn(ada, scans: [.match], hint: hint)
        guard case .failed(.rateLimited(let seconds?)) = flow.state else {
            Issue.record("\(flow.state)")
            return
        }
        #expect((3000...3600).contains(seconds))
        #expect(try house.findings().last == "start.address_limit")
        try house.manage("PATCH", "/tenants/acme/policy", ["rate_limits": "off"])
        #expect(try await house.signIn(ada, scans: [.match], hint: hint).reason == nil)
    }

    @Test func `self-signup is on where the tenant says so, and off elsewhere`() async throws {
        let house = try await House.open()
        let id = try #require(DeviceID(rawValue: "bob"))
        _ = try house.engine.createDevice(id)
        try await house.engine.requestSignUp("bob@acme.test", issuer: house.issuer, device: id)
        let mails = try #require(try house.manage("GET", "/tenants/acme/inbox")["mails"]?.array)
        #expect(mails.count == 1)
        try house.manage("PATCH", "/tenants/acme", ["self_signup": false])
        await #expect(throws: EngineError.self) {
            try await house.engine.requestSignUp("cy@acme.test", issuer: house.issuer, device: id)
        }
    }
}

/// Phone and IdP both started again on one state directory and the same ports.
@Suite struct RestartedHouseTests {
    /// An IdP on a store, on ports of an earlier one where there was one.
    private func idp(_ store: Store, like earlier: IdPService? = nil) async throws -> IdPService {
        var configuration = IdPService.Configuration()
        configuration.store = store
        if let earlier {
            configuration.port = try port(earlier.served.origin)
            configuration.apiPort = try port(earlier.served.api)
        }
        return try await IdPService.start(configuration)
    }

    private func port(_ origin: String) throws -> Int {
        try #require(origin.split(separator: ":").last.flatMap { Int($0) })
    }

    @Test(arguments: ["drop:completion:2", "lose-reply:completion:2", "status-503:completion"])
    func `a parked flow is completed when both come back`(fault: String) async throws {
        let folder = try TemporaryFolder()
        let before = try Store(directory: folder.path)
        let first = try await House.open(store: before, idp: try await idp(before))
        let ada = try await first.phone()
        let parked = try await first.signIn(ada, scans: [.match], faults: [fault])
        #expect(parked.state.isParked)
        await first.idp.shutdown()

        let after = try Store(directory: folder.path)
        let second = try await House.open(store: after, idp: try await idp(after, like: first.idp))
        #expect(second.issuer == first.issuer)
        let done = try await second.rest(of: try await second.engine.retry(parked.id))
        #expect(done.reason == nil)
        #expect(done.scans == ["match"])
        #expect(try await second.engine.session(of: ada) != nil)
        await second.idp.shutdown()
    }
}
