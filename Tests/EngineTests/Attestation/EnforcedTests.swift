import Control
import Device
import Encoding
import Engine
import ReferenceIdP
import SignIn
import Store
import Testing

/// Phones and a reference IdP that looks at what they attest, with every check on.
@Suite struct EnforcedTests {
    /// A house whose IdP trusts those who vouch for its phones; `acme` has the mode, the client authenticates so.
    private func house(_ mode: String, authentication: String? = nil) async throws -> House {
        let store = try Store.inMemory()
        var configuration = IdPService.Configuration()
        configuration.attestationTrust = try AttestationTrust(Engine(store: store).attestationRoots().published)
        let house = try await House.open(store: store, idp: try await IdPService.start(configuration))
        try house.manage("PATCH", "/tenants/acme", ["attestation_mode": .string(mode)])
        if let authentication {
            try house.manage(
                "PATCH", "/tenants/acme/applications/app_demo", ["token_endpoint_auth_method": .string(authentication)])
        }
        return house
    }

    private func phone(
        _ name: String, _ platform: Platform, in house: House, defect: AttestationDefect? = nil
    ) async throws -> DeviceID {
        let user = try house.manage(
            "POST", "/tenants/acme/users", ["email": .string("\(name)@acme.test"), "ticket": true])
        let id = try #require(DeviceID(rawValue: name))
        _ = try house.engine.createDevice(id, platform: platform)
        _ = try await house.engine.enrol(
            .ticket(try #require(user["ticket"]?.string)), issuer: house.issuer, device: id,
            attestationDefect: defect)
        return id
    }

    private func signIn(
        _ phone: DeviceID, in house: House, defect: AttestationDefect? = nil, client: ClientAttestationOrder? = nil
    ) async throws -> FlowView {
        let config = SignInConfig(
            issuer: house.issuer, clientID: "app_demo", resource: house.api, scopes: ["openid", "offline_access"],
            allowPlainHTTPOnLoopback: true)
        let order = SignInOrder(
            config: config, scans: [.match], clientAttestation: client, attestationDefect: defect)
        return try await house.rest(of: try await house.engine.startSignIn(order, device: phone))
    }

    @Test(arguments: Platform.allCases)
    func `a genuine phone enrols and signs in, again and again, in every mode`(platform: Platform) async throws {
        for mode in ["off", "audit", "enforce"] {
            let house = try await house(mode)
            let phone = try await phone("ada", platform, in: house)
            for _ in 0..<3 { #expect(try await signIn(phone, in: house).reason == nil, "\(mode)") }
            #expect(try house.findings().filter { $0.hasPrefix("attestation.") }.isEmpty, "\(mode)")
        }
    }

    @Test func `a lost answer to a start is no end of signing in under enforce`() async throws {
        for platform in Platform.allCases {
            let house = try await house("enforce")
            let phone = try await phone("ada", platform, in: house)
            #expect(try await house.signIn(phone, faults: ["lose-reply:start"]).reason == nil)
            #expect(try await house.signIn(phone).reason == nil)
        }
    }

    @Test(arguments: Platform.allCases)
    func `every defect of a start is refused under enforce, noted under audit, and heals`(platform: Platform)
        async throws
    {
        let house = try await house("enforce")
        let phone = try await phone("ada", platform, in: house)
        _ = try await signIn(phone, in: house)
        for defect in AttestationDefect.allCases where defect != .none {
            let flow: FlowView
            do { flow = try await signIn(phone, in: house, defect: defect) } catch EngineError.invalid { continue }
            #expect(flow.reason == "attestationFailed", "\(defect): \(flow.calls)")
            // An iPhone whose assertion was refused attests anew.
            #expect(try await signIn(phone, in: house).reason == nil, "after \(defect)")
        }
        try house.manage("PATCH", "/tenants/acme", ["attestation_mode": "audit"])
        let before = try house.findings().count
        #expect(try await signIn(phone, in: house, defect: .wrongChallenge).reason == nil)
        #expect(try house.findings().count > before)
    }

    @Test(arguments: Platform.allCases)
    func `a defect of an enrolment is refused under enforce, and the next enrolment is good`(platform: Platform)
        async throws
    {
        let house = try await house("enforce")
        var number = 0
        for defect in [AttestationDefect.wrongChallenge, .wrongRoot, .expiredLeaf, .truncated, .staleChallenge] {
            number += 1
            let name = "phone\(number)"
            let thrown = await #expect(throws: EngineError.self) {
                _ = try await phone(name, platform, in: house, defect: defect)
            }
            #expect(thrown?.code == "attestation_refused", "\(defect)")
        }
        _ = try await phone("good", platform, in: house)
    }

    @Test func `an app that sends nothing is refused under enforce and noted under audit`() async throws {
        let house = try await house("audit")
        let phone = try await phone("ada", .ios, in: house)
        _ = try await house.engine.updateDevice(phone) { $0.attestation.sending = .never }
        #expect(try await signIn(phone, in: house).reason == nil)
        #expect(try house.findings().contains("attestation.evidence"))
        try house.manage("PATCH", "/tenants/acme", ["attestation_mode": "enforce"])
        #expect(try await signIn(phone, in: house).reason == "attestationFailed")
    }

    private static let modes: [(ClientAttestationOrder.Mode, String)] = [
        (.normal, "attest_jwt_client_auth"), (.combined, "attest_jwt_client_auth_dpop"),
    ]

    @Test(arguments: modes)
    func `an attested client signs in, calls its API, refreshes and signs out`(
        mode: ClientAttestationOrder.Mode, authentication: String
    ) async throws {
        let house = try await house("off", authentication: authentication)
        let phone = try await phone("ada", .ios, in: house)
        #expect(try await signIn(phone, in: house).reason != nil)
        #expect(try await signIn(phone, in: house, client: ClientAttestationOrder(mode: mode)).reason == nil)
        let first = try #require(try await house.engine.session(of: phone)).session
        _ = try await house.engine.refreshSession(of: phone)
        let second = try #require(try await house.engine.session(of: phone)).session
        #expect(first.accessToken != second.accessToken)
        try await house.engine.signOut(phone)
        await house.engine.settle(within: 5000)
        let state = try house.manage("GET", "/findings")
        #expect(state["findings"]?.array?.contains { $0["endpoint"]?.string == "revocation" } != true)
    }

    @Test(arguments: modes)
    func `every wrong of an attested client is refused`(
        mode: ClientAttestationOrder.Mode, authentication: String
    ) async throws {
        let house = try await house("off", authentication: authentication)
        let phone = try await phone("ada", .android, in: house)
        for defect in ClientAttestationDefect.allCases where defect != .none && defect.applies(to: mode) {
            let flow = try await signIn(
                phone, in: house, client: ClientAttestationOrder(mode: mode, defect: defect))
            #expect(["attestationFailed", "notAllowed"].contains(flow.reason), "\(defect): \(flow.calls)")
            #expect(
                try await signIn(phone, in: house, client: ClientAttestationOrder(mode: mode)).reason == nil,
                "after \(defect)")
        }
    }

    @Test func `a refresh by another instance's key is refused`() async throws {
        let house = try await house("off", authentication: "attest_jwt_client_auth")
        let (ada, bob) = (
            try await phone("ada", .ios, in: house), try await phone("bob", .ios, in: house)
        )
        for phone in [ada, bob] {
            #expect(try await signIn(phone, in: house, client: ClientAttestationOrder()).reason == nil)
        }
        // Bob's phone gets hold of Ada's session, as it stands in her store, and presents it as the instance it is.
        let session = try #require(try house.store.read { try $0.session(of: ada) })
        let bobs = try #require(try house.store.read { try $0.session(of: bob) })
        var stolen = session
        stolen.createdAt = bobs.createdAt
        let loot = stolen
        _ = try house.store.write { try $0.replaceSession(of: bob, with: loot) }
        let thrown = await #expect(throws: EngineError.self) {
            _ = try await house.engine.refreshSession(of: bob)
        }
        #expect(thrown != nil)
        // Ada's own phone still can: nothing of hers was used up by the attempt.
        #expect(try house.findings().contains { !$0.isEmpty })
    }
}
