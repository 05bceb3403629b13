import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

/// The attestation modes, as long as no evidence can be verified.
@Suite struct AttestationTests {
    private func world(_ mode: String) throws -> World {
        let world = try World()
        #expect(world.manage("PATCH", "tenants/acme", ["attestation_mode": .string(mode)]).status == 200)
        return world
    }

    @Test(arguments: ["off", "audit", "enforce"]) func `the mode is stored and shown`(mode: String) throws {
        let world = try world(mode)
        #expect(try world.manage("GET", "tenants/acme").text("attestation_mode") == mode)
        #expect(try world.restarted().manage("GET", "tenants/acme").text("attestation_mode") == mode)
    }

    @Test func `off says nothing and audit leaves a finding for every flow that begins`() throws {
        let off = try world("off")
        try Phone(off).enrol().signIn()
        #expect(off.brokenRules.isEmpty)
        let audit = try world("audit")
        try Phone(audit).enrol().signIn()
        #expect(audit.brokenRules.filter { $0 == "attestation.evidence" }.count == 2, "the enrolment and the start")
    }

    @Test func `enforce refuses a start without evidence, and one with evidence nobody can verify`() throws {
        let world = try world("off")
        let phone = try Phone(world).enrol().signIn()
        world.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
        #expect(try phone.start().summary == "400 attestation_required")
        #expect(try phone.start { $0.append(("attestation", "evidence")) }.summary == "400 attestation_required")
        #expect(try phone.refresh().status == 200, "a mode is about flows that begin")
        let ticket = try world.newUser("bob@acme.example").ticket
        #expect(
            try Phone(world, email: "bob@acme.example").enrolment(ticket: ticket).summary == "400 attestation_required")
    }

    @Test func `a start without evidence cannot lock an address out under enforce`() throws {
        let world = try world("enforce")
        let phone = try Phone(world)
        for _ in 0..<40 { #expect(try phone.start(hint: phone.email).summary == "400 attestation_required") }
        world.manage("PATCH", "tenants/acme", ["attestation_mode": "audit"])
        #expect(try phone.start(hint: phone.email).status == 403)
    }

    @Test func `a session that is under way goes on when enforce is turned on`() throws {
        let world = try world("off")
        let phone = try Phone(world).enrol().beginAndFetch()
        world.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
        #expect(try phone.complete().status == 200)
        #expect(try phone.redeem().status == 200)
    }
}
