import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

@Suite struct DoctorTests {
    private func rules(_ world: World, _ path: String = "tenants/acme/doctor") throws -> [String] {
        try diagnoses(world, path).map { "\($0["severity"]?.string ?? "") \($0["rule"]?.string ?? "")" }
    }

    private func diagnoses(_ world: World, _ path: String = "tenants/acme/doctor") throws -> [JSON] {
        let found = try #require(try world.manage("GET", path).json["diagnoses"]?.array)
        for diagnosis in found {
            #expect(diagnosis["problem"]?.string?.isEmpty == false)
            #expect(diagnosis["remedy"]?.string?.isEmpty == false)
        }
        return found
    }

    @Test func `the seed works, and is not fit for production`() throws {
        let world = try World()
        #expect(try rules(world) == ["warning tenant.attestation", "notice tenant.nobody_enrolled"])
        #expect(
            try rules(world, "tenants/globex/doctor") == ["warning tenant.attestation", "warning tenant.no_way_in"])
        let whole = try world.manage("GET", "doctor").json
        #expect(whole["healthy"] == true)
        #expect(whole["left_out"] == 0)
        let tenants = Set(try #require(whole["diagnoses"]?.array).compactMap { $0["tenant"]?.string })
        #expect(tenants.isSuperset(of: ["acme", "globex"]))
    }

    @Test func `every mode short of enforce is a warning`() throws {
        let world = try World()
        for (mode, expected) in [("off", true), ("audit", true), ("enforce", false)] {
            world.manage("PATCH", "tenants/acme", ["attestation_mode": .string(mode)])
            #expect(try rules(world).contains("warning tenant.attestation") == expected)
        }
    }

    @Test func `a tenant that looks at evidence needs apps and anchors, and test roots are worth a notice`() throws {
        let world = try World()
        world.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
        #expect(try rules(world).first == "error tenant.attestation_anchors")
        world.manage("PATCH", "tenants/acme", ["attestation_mode": "audit"])
        #expect(try rules(world).contains("warning tenant.attestation_anchors"))
        world.manage("PATCH", "tenants/acme", ["attestation": ["ios_app_ids": [], "android_apps": []]])
        #expect(try rules(world).contains("warning tenant.attestation_app"))
        let trusting = try World(trust: try EvidenceSamples().trust())
        #expect(try !rules(trusting).contains("notice tenant.attestation_test_roots"), "nobody looks at evidence")
        trusting.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
        #expect(try rules(trusting).contains("notice tenant.attestation_test_roots"))
    }

    @Test(arguments: FirstPartyRule.allCases.filter { $0 != .optIn })
    func `an opted-in application whose switches do not hold is an error`(rule: FirstPartyRule) throws {
        let world = try World()
        world.tamper { $0.withdraw(rule) }
        let found = try #require(try diagnoses(world).first)
        #expect(found["severity"] == "error")
        #expect(found["rule"] == .string("application.\(rule.rawValue)"))
        #expect(found["client_id"] == "app_demo")
    }

    /// One change, and what the doctor says of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let path: String
        let change: JSON
    }

    static let cases = [
        Case(
            testDescription: "notice tenant.opt_in", path: "tenants/acme/applications/app_demo",
            change: ["first_party_challenge_enabled": false]),
        Case(
            testDescription: "warning application.access_token_lifetime", path: "tenants/acme/applications/app_demo",
            change: ["access_token_lifetime": 30]),
        Case(
            testDescription: "warning application.access_token_lifetime", path: "tenants/acme/applications/app_demo",
            change: ["access_token_lifetime": 7200]),
        Case(
            testDescription: "warning application.scopes", path: "tenants/acme/applications/app_demo",
            change: ["scopes": ["email"]]),
        Case(
            testDescription: "warning policy.session_lifetime", path: "tenants/acme/policy",
            change: ["session_lifetime": 59]),
        Case(
            testDescription: "warning policy.code_lifetime", path: "tenants/acme/policy",
            change: ["session_lifetime": 100, "code_lifetime": 101]),
        Case(
            testDescription: "warning policy.max_replacements", path: "tenants/acme/policy",
            change: ["max_replacements": 0]),
        Case(
            testDescription: "notice policy.rate_limits", path: "tenants/acme/policy", change: ["rate_limits": "off"]),
    ]

    @Test(arguments: cases) func `each mistake is found, and only after it was made`(_ mistake: Case) throws {
        let world = try World()
        #expect(try !rules(world).contains(mistake.testDescription))
        #expect(world.manage("PATCH", mistake.path, mistake.change).status == 200)
        #expect(try rules(world).contains(mistake.testDescription))
    }

    @Test func `a ticket is a way in, an enrolled device ends the matter, a protected token is another`() throws {
        let world = try World()
        let (id, ticket) = try world.newUser("ada@globex.example", tenant: "globex")
        let path = "tenants/globex/doctor"
        #expect(try rules(world, path).last == "notice tenant.nobody_enrolled")
        let phone = try Phone(world, tenant: "globex", clientID: "app_globex", email: "ada@globex.example")
        try phone.enrol(ticket: ticket)
        #expect(try rules(world, path) == ["warning tenant.attestation"])
        world.manage(
            "POST", "tenants/globex/users/\(id)/import", ["face_token": "AAAA", "password_protected": true])
        #expect(try rules(world, path).last == "warning tenant.password_protected")
    }

    @Test func `an outdated ticket is no way in`() throws {
        let world = try World()
        _ = try world.newUser("ada@globex.example", tenant: "globex")
        world.advance(seconds: 86_401)
        #expect(try rules(world, "tenants/globex/doctor").last == "warning tenant.no_way_in")
    }

    @Test func `a clock that stands still is a warning`() throws {
        let world = try World()
        world.manage("PUT", "clock", ["mode": "frozen", "at": 1_800_000_000])
        #expect(try rules(world).contains("warning idp.clock"))
    }

    @Test func `a listing is bounded and says what it left out`() throws {
        let world = try World(profile: try .builtIn(limits: ["page": 3]))
        for index in 0..<5 { world.manage("POST", "tenants", ["id": .string("t\(index)")]) }
        let report = try world.manage("GET", "doctor").json
        #expect(report["diagnoses"]?.array?.count == 3)
        #expect((report["left_out"]?.int ?? 0) >= 6)
    }

    @Test func `there is no doctor for a tenant that is not there`() throws {
        #expect(try World().manage("GET", "tenants/nobody/doctor").status == 404)
    }
}
