import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

/// The switches of in-app sign-in, taken away and given back between any two calls.
@Suite struct WithdrawalTests {
    /// A switch as an administrator turns it, off and on again.
    enum Switch: String, CaseIterable, Sendable {
        case tenantApp, optIn, dpop, redirectURI

        func set(_ isOn: Bool, in world: World) {
            let application = "tenants/acme/applications/app_demo"
            let response =
                switch self {
                case .tenantApp: world.manage("PATCH", "tenants/acme", ["runs_own_app": .bool(isOn)])
                case .optIn: world.manage("PATCH", application, ["first_party_challenge_enabled": .bool(isOn)])
                // These two can only be withdrawn together with the opt-in: a save that breaks a rule is refused.
                case .dpop:
                    world.manage(
                        "PATCH", application,
                        ["require_dpop": .bool(isOn), "first_party_challenge_enabled": .bool(isOn)])
                case .redirectURI:
                    world.manage(
                        "PATCH", application,
                        [
                            "redirect_uris": isOn ? ["https://acme.example/app"] : [],
                            "first_party_challenge_enabled": .bool(isOn),
                        ])
                }
            #expect(response.status == 200, "\(self) \(isOn)")
        }
    }

    /// A call of a sign-in, and how far the sign-in must be for it.
    enum Step: String, CaseIterable, Sendable {
        case faceToken, mismatch, abort, completion, repeatedCompletion, token

        func reach(_ phone: Phone) throws {
            switch self {
            case .faceToken: try phone.begin()
            case .mismatch, .abort, .completion: try phone.beginAndFetch()
            case .repeatedCompletion, .token: try phone.beginAndFetch()
            }
        }

        /// The answer of a session that is dead.
        var deadAnswer: String { self == .token ? "400 invalid_grant" : "400 invalid_session" }
    }

    private func perform(_ step: Step, _ phone: Phone, _ proof: String) throws -> HTTPResponse {
        switch step {
        case .faceToken: try phone.fetchFaceToken()
        case .mismatch: try phone.mismatch()
        case .abort: try phone.abort()
        case .completion, .repeatedCompletion: try phone.complete(proof)
        case .token: try phone.redeem()
        }
    }

    @Test(arguments: Step.allCases, Switch.allCases)
    func `a switch withdrawn stops a session for good, even when it is granted again`(
        step: Step, withdrawn: Switch
    ) throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        try step.reach(phone)
        let proof = try phone.ceremonyProof()
        if step == .repeatedCompletion || step == .token {
            #expect(try phone.complete(proof).status == 200)
        }
        withdrawn.set(false, in: world)
        #expect(try perform(step, phone, proof).summary == "400 unauthorized_client")
        #expect(try phone.start().summary == "400 unauthorized_client")
        withdrawn.set(true, in: world)
        #expect(try perform(step, phone, proof).summary == step.deadAnswer)
        #expect(try world.realm().grants.count == 0)
        #expect(try phone.signIn().call().status == 200, "a new session is another matter")
    }

    @Test(arguments: Step.allCases)
    func `a session nobody asked about while the switch was off is dead all the same`(step: Step) throws {
        let world = try World()
        let phone = try Phone(world).enrol()
        try step.reach(phone)
        let proof = try phone.ceremonyProof()
        if step == .repeatedCompletion || step == .token {
            #expect(try phone.complete(proof).status == 200)
        }
        Switch.tenantApp.set(false, in: world)
        Switch.tenantApp.set(true, in: world)
        #expect(try perform(step, phone, proof).summary == step.deadAnswer)
    }

    @Test(arguments: Switch.allCases) func `what was granted waits out a withdrawal`(withdrawn: Switch) throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        withdrawn.set(false, in: world)
        #expect(try phone.refresh().summary == "400 unauthorized_client")
        withdrawn.set(true, in: world)
        #expect(try phone.refresh().status == 200)
    }

    @Test func `an application deleted and made again does not inherit sessions`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        let application = try world.manage("GET", "tenants/acme/applications/app_demo").json
        world.manage("DELETE", "tenants/acme/applications/app_demo")
        #expect(world.manage("POST", "tenants/acme/applications", application).status == 201)
        #expect(try phone.complete().summary == "400 invalid_session")
    }

    @Test func `a change that withdraws nothing leaves sessions alone`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        world.manage("PATCH", "tenants/acme/applications/app_demo", ["name": "Renamed"])
        world.manage("PATCH", "tenants/acme", ["self_signup": false, "name": "Renamed"])
        #expect(try phone.complete().status == 200)
        #expect(try phone.redeem().status == 200)
    }

    @Test func `a withdrawal is told from a grant that came after it by a restarted IdP too`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().beginAndFetch()
        Switch.optIn.set(false, in: world)
        Switch.optIn.set(true, in: world)
        let after = try world.restarted()
        #expect(try phone.moved(to: after).complete().summary == "400 invalid_session")
    }

    /// Access lost: the user disabled, or no longer allowed the application.
    @Test(arguments: Step.allCases, [JSON](arrayLiteral: ["enabled": false], ["applications": []]))
    func `access lost is noticed at every call`(step: Step, change: JSON) throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket)
        try step.reach(phone)
        let proof = try phone.ceremonyProof()
        if step == .repeatedCompletion || step == .token {
            #expect(try phone.complete(proof).status == 200)
        }
        #expect(world.manage("PATCH", "tenants/acme/users/\(id)", change).status == 200)
        let expected = step == .token ? "400 invalid_grant" : "403 access_denied"
        #expect(try perform(step, phone, proof).summary == expected)
        #expect(try world.realm().grants.count == 0)
    }

    @Test(arguments: Step.allCases) func `a removed device is refused at every call`(step: Step) throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@acme.example")
        let phone = try Phone(world).enrol(ticket: ticket)
        try step.reach(phone)
        let proof = try phone.ceremonyProof()
        guard step != .token else { return }
        if step == .repeatedCompletion { #expect(try phone.complete(proof).status == 200) }
        #expect(world.manage("DELETE", "tenants/acme/users/\(id)/devices/\(phone.kid)").status == 204)
        #expect(try perform(step, phone, proof).summary == "403 access_denied")
        #expect(try phone.start().status == 403, "the start does not tell")
        let fetch = try phone.fetchFaceToken()
        #expect(fetch.summary == "403 access_denied")
        #expect(try fetch.text("error_description") == "this ceremony cannot continue")
    }
}
