import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

/// Evidence at the endpoints: the modes, the answers, and what is remembered.
@Suite struct AttestationTests {
    private func world(_ mode: String, _ samples: EvidenceSamples? = nil) throws -> World {
        let world = try World(trust: try samples?.trust() ?? AttestationTrust())
        #expect(world.manage("PATCH", "tenants/acme", ["attestation_mode": .string(mode)]).status == 200)
        return world
    }

    @Test(arguments: ["off", "audit", "enforce"]) func `the mode is stored and shown`(mode: String) throws {
        let world = try world(mode)
        #expect(try world.manage("GET", "tenants/acme").text("attestation_mode") == mode)
        #expect(try world.restarted().manage("GET", "tenants/acme").text("attestation_mode") == mode)
    }

    @Test func `off says nothing, whatever is sent, and audit leaves a finding for every flow that begins`() throws {
        let off = try world("off")
        try Phone(off).enrol().signIn()
        #expect(try Phone(off).start { $0.append(("attestation", "junk")) }.status == 403)
        #expect(off.brokenRules.isEmpty)
        let audit = try world("audit")
        try Phone(audit).enrol().signIn()
        #expect(audit.brokenRules.filter { $0 == "attestation.evidence" }.count == 2, "the enrolment and the start")
    }

    @Test func `enforce refuses a start without evidence, and one with junk, each with a fresh challenge`() throws {
        let world = try world("off")
        let phone = try Phone(world).enrol().signIn()
        world.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
        let none = try phone.start()
        #expect(none.summary == "400 attestation_required")
        #expect(none.fields["OAuth-Client-Attestation-Challenge"]?.utf8.count == 43)
        for junk in ["evidence", "e30", Base64URL.encode(Array(#"{"format":"another"}"#.utf8))] {
            let answer = try phone.start { $0.append(("attestation", junk)) }
            #expect(answer.summary == "400 attestation_failed")
            #expect(answer.fields["OAuth-Client-Attestation-Challenge"] != nil)
            #expect(world.brokenRules.last == "attestation.format")
        }
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

    @Test func `challenges are given out for 300 s, for one tenant, and named while somebody could use them`() throws {
        let world = try world("off")
        func endpoint() throws -> String? {
            try world.send("GET", "/acme/.well-known/openid-configuration").json["challenge_endpoint"]?.string
        }
        #expect(try endpoint() == nil)
        world.manage("PATCH", "tenants/acme", ["attestation_mode": "audit"])
        #expect(try endpoint() == "\(world.origin)/acme/oauth2/attestation-challenge")
        let answer = world.send("POST", "/acme/oauth2/attestation-challenge")
        #expect(answer.status == 200)
        #expect(answer.fields["Cache-Control"] == "no-store")
        #expect(answer.nonce != nil)
        let challenge = try answer.text("attestation_challenge")
        let challenges = world.server.settings.challenges
        #expect(challenges.isFresh(challenge, for: "acme", now: world.now.adding(seconds: 300)))
        #expect(!challenges.isFresh(challenge, for: "acme", now: world.now.adding(seconds: 301)))
        #expect(!challenges.isFresh(challenge, for: "acme", now: world.now.adding(seconds: -1)))
        #expect(!challenges.isFresh(challenge, for: "globex", now: world.now))
        #expect(world.send("GET", "/acme/oauth2/attestation-challenge").status == 405)
    }

    @Test func `good evidence of each format begins a flow under enforce, without a finding`() throws {
        let samples = try EvidenceSamples()
        for format in Evidence.Format.allCases where format != .appAttestAssertion {
            let world = try world("enforce", samples)
            let phone = try Phone(world)
            let answer = try phone.start(attested: format, samples)
            #expect(answer.status == 403, "\(format) \(answer.summary) \(world.brokenRules)")
            #expect(world.brokenRules.isEmpty)
            world.manage("PATCH", "tenants/acme", ["attestation_mode": "audit"])
            #expect(try Phone(world, seed: 8).start(attested: format, try EvidenceSamples(seed: 5)).status == 403)
            #expect(!world.brokenRules.isEmpty, "another's roots are a finding under audit")
        }
    }

    @Test func `an assertion counts up, by the key of its install, and no piece is good twice`() throws {
        let samples = try EvidenceSamples()
        let world = try world("enforce", samples)
        let phone = try Phone(world)
        #expect(try phone.start(attested: .appAttestAssertion, samples).summary == "400 attestation_failed")
        #expect(world.brokenRules.last == "attestation.known_key")
        #expect(try phone.start(attested: .appAttest, samples).status == 403)
        #expect(try phone.start(attested: .appAttestAssertion, samples, counter: 1).status == 403)
        #expect(try phone.start(attested: .appAttestAssertion, samples, counter: 3).status == 403)
        world.advance(seconds: 400)
        #expect(try phone.start(attested: .appAttestAssertion, samples, counter: 3).summary == "400 attestation_failed")
        #expect(world.brokenRules.last == "attestation.counter")
        let other = try Phone(world, seed: 9)
        #expect(try other.start(attested: .appAttestAssertion, samples, counter: 4).summary == "400 attestation_failed")
        #expect(world.brokenRules.last == "attestation.install")
        let after = try world.restarted()
        after.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
        #expect(try after.realm().attestedKeys.entries.values.first?.counter == 3)
    }

    @Test(arguments: Evidence.Format.allCases) func `the same piece again is a replay`(format: Evidence.Format) throws {
        let samples = try EvidenceSamples()
        let world = try world("enforce", samples)
        let phone = try Phone(world)
        if format == .appAttestAssertion { _ = try phone.start(attested: .appAttest, samples) }
        let evidence = try phone.evidence(format, samples)
        #expect(try phone.start(with: evidence).status == 403)
        #expect(try phone.start(with: evidence).summary == "400 attestation_failed")
        #expect(world.brokenRules.last == "attestation.replay")
    }

    @Test func `an old or foreign challenge is answered with a fresh one`() throws {
        let samples = try EvidenceSamples()
        let world = try world("enforce", samples)
        let phone = try Phone(world)
        let evidence = try phone.evidence(.playIntegrity, samples)
        world.advance(seconds: 301)
        let answer = try phone.start(with: evidence)
        #expect(answer.summary == "400 use_attestation_challenge")
        #expect(answer.fields["OAuth-Client-Attestation-Challenge"] != nil)
        #expect(world.brokenRules.last == "attestation.challenge")
    }

    @Test func `an enrolment is bound to its device key`() throws {
        let samples = try EvidenceSamples()
        let world = try world("enforce", samples)
        let phone = try Phone(world)
        let challenge = world.server.settings.challenges.issue(for: "acme", now: world.now)
        let binding = EvidenceBinding.enrolment(challenge: challenge, kid: phone.kid)
        let ticket = try world.newUser(phone.email).ticket
        let key = try samples.androidKey(challenge, hash: binding.clientDataHash, key: phone.dpopKey.publicKey)
        #expect(try phone.enrolment(ticket: ticket) { $0["attestation"] = key }.summary == "400 attestation_failed")
        #expect(world.brokenRules.last == "attestation.key")
        let good = try samples.androidKey(challenge, hash: binding.clientDataHash, key: phone.deviceKey.publicKey)
        #expect(try phone.enrolment(ticket: ticket) { $0["attestation"] = good }.status == 201)
    }

    @Test func `what a refused start brought is not remembered`() throws {
        let samples = try EvidenceSamples()
        let world = try world("enforce", samples)
        let phone = try Phone(world)
        let evidence = try phone.evidence(.appAttest, samples)
        #expect(try phone.start(with: evidence, scope: "another").summary == "400 invalid_scope")
        #expect(try world.realm().attestedKeys.count == 0)
        #expect(try phone.start(with: evidence).status == 403)
    }
}

extension Phone {
    /// Evidence for the next start.
    func evidence(_ format: Evidence.Format, _ samples: EvidenceSamples, counter: UInt8 = 1) throws -> JSON {
        let challenge = world.server.settings.challenges.issue(for: tenant, now: world.now)
        let hash = EvidenceBinding.start(
            challenge: challenge, clientID: clientID, codeChallenge: storedHash(verifier), jkt: jkt
        ).clientDataHash
        return switch format {
        case .appAttest: try samples.appAttest(challenge, hash: hash)
        case .appAttestAssertion: try samples.assertion(challenge, hash: hash, counter: counter)
        case .androidKey: try samples.androidKey(challenge, hash: hash, key: dpopKey.publicKey)
        case .playIntegrity: try samples.play(challenge, hash: hash)
        case .playIntegrityClassic: try samples.play(challenge, hash: hash, isClassic: true)
        }
    }

    func start(attested format: Evidence.Format, _ samples: EvidenceSamples, counter: UInt8 = 1) throws -> HTTPResponse
    {
        try start(with: try evidence(format, samples, counter: counter))
    }

    func start(with evidence: JSON, scope: String = "openid") throws -> HTTPResponse {
        try start(scope: scope) { $0.append(("attestation", Base64URL.encode(evidence.serialized()))) }
    }
}
