import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct RuleSwitchTests {
    private func off(_ world: World, _ rules: [RuleSwitch], tenant: String = "acme") throws {
        let names = JSON.array(rules.map { .string($0.rawValue) })
        #expect(world.manage("PUT", "tenants/\(tenant)/rules", ["off": names]).status == 200)
    }

    @Test func `every rule is listed with where it is stated, and is applied at first`() throws {
        let listed = try #require(try World().manage("GET", "tenants/acme/rules").json["rules"]?.array)
        #expect(listed.compactMap { $0["rule"]?.string } == RuleSwitch.allCases.map(\.rawValue))
        for rule in listed {
            #expect(rule["applied"] == true)
            #expect(rule["source"]?.string?.isEmpty == false)
            #expect(rule["wanted"]?.string?.isEmpty == false)
        }
    }

    @Test func `every rule of the proof verifier has a switch`() {
        #expect(Set(RuleSwitch.allCases.compactMap(\.proofRule)) == Set(DPoPRule.allCases))
    }

    @Test func `a name that is none is refused with the nearest, and changes nothing`() throws {
        let world = try World()
        let answer = world.manage("PUT", "tenants/acme/rules", ["off": ["dpop.typ", "dpop.htu.normalisation"]])
        #expect(answer.status == 422)
        #expect(try answer.text("detail").contains("the nearest is dpop.htu.normalization"))
        #expect(try world.manage("GET", "tenants/acme/rules").json["off"] == [])
        #expect(world.manage("PUT", "tenants/acme/rules", [:]).status == 422)
        #expect(world.manage("PUT", "tenants/nobody/rules", ["off": []]).status == 404)
    }

    @Test func `a rule that is off is not applied at its tenant, and at no other`() throws {
        let world = try World()
        try off(world, [.proofType])
        for (tenant, expected) in [("acme", 403), ("globex", 400)] {
            let phone = try Phone(world, tenant: tenant, clientID: tenant == "acme" ? "app_demo" : "app_globex")
            let reply = try phone.start(proof: .init(header: { $0["typ"] = "JWT" }))
            #expect(reply.status == expected)
        }
        try off(world, [])
        #expect(try Phone(world).start(proof: .init(header: { $0["typ"] = "JWT" })).status == 400)
    }

    @Test func `rules that are off leave a finding, and the doctor calls them an error`() throws {
        let world = try World()
        try off(world, [.codeOnce, .proofURL])
        #expect(world.brokenRules == ["rules.off"])
        let report = try world.manage("GET", "tenants/acme/doctor").json
        #expect(report["healthy"] == false)
        let diagnosis = try #require(report["diagnoses"]?.array?.first)
        #expect(diagnosis["rule"] == "rules.off")
        #expect(diagnosis["problem"]?.string?.contains("dpop.htu, code.once") == true)
        #expect(try world.manage("GET", "tenants/globex/doctor").json["healthy"] == true)
    }

    @Test func `rules stay off over a restart, and not over a reset or for a tenant made anew`() throws {
        let world = try World()
        try off(world, [.proofType])
        let again = try World(records: world.stored.all)
        #expect(try Phone(again, seed: 9).start(proof: .init(header: { $0["typ"] = "JWT" })).status == 403)
        again.manage("POST", "reset")
        #expect(try Phone(again, seed: 9).start(proof: .init(header: { $0["typ"] = "JWT" })).status == 400)
        try off(again, [.proofType], tenant: "globex")
        again.manage("DELETE", "tenants/globex")
        #expect(again.idp.tenantsWithRulesOff.isEmpty)
    }

    @Test(arguments: RuleSwitch.allCases)
    func `a plain sign-in works whichever rule is off`(rule: RuleSwitch) throws {
        let world = try World()
        try off(world, [rule])
        let phone = try Phone(world).enrol().signIn()
        #expect(try phone.call().status == 200)
        #expect(try phone.refresh().status == 200)
    }
}
