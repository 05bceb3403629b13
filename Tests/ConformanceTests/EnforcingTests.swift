import Conformance
import Crypto
import Device
import Encoding
import HTTP
import JOSE
import OAuth
import ReferenceIdP
import Testing
import Transport

/// Tenants that take no start without evidence.
@Suite struct EnforcingTests {
    private static let formats: [EvidenceFormat] = [.appAttest, .androidKey, .playIntegrity, .playIntegrityClassic]
    private static let rules: [RuleSwitch] = [
        .attestationEvidence, .attestationChallenge, .attestationRoot, .attestationReplay, .attestationBinding,
        .attestationInstall,
    ]

    /// The rules that evidence of a format says nothing about.
    private func without(_ format: EvidenceFormat) -> Set<RuleSwitch> {
        switch format {
        case .appAttest, .appAttestAssertion: []
        case .androidKey, .playIntegrity, .playIntegrityClassic: [.attestationInstall]
        }
    }

    private static func enforcingBench(_ format: EvidenceFormat) throws -> Bench {
        let bench = try Bench(startFormat: format)
        try bench.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
        return bench
    }

    private func enforcing(_ bench: Bench) throws {
        try bench.manage("PATCH", "tenants/acme", ["attestation_mode": "enforce"])
    }

    @Test(arguments: formats)
    func `the reference IdP under enforce passes, and is left enforcing`(format: EvidenceFormat) async throws {
        let bench = try Bench(seed: format.rawValue, startFormat: format)
        try enforcing(bench)
        let matrix = try await Conformance.run(try bench.setup())
        let skipped = Set(without(format).map(\.rawValue))
        for row in matrix.rows where row.verdict != (skipped.contains(row.rule) ? .skipped : .pass) {
            Issue.record("\(row)")
        }
        #expect(try bench.manage("GET", "tenants/acme")["attestation_mode"] == "enforce")
    }

    @Test(arguments: [EvidenceFormat.appAttest, .androidKey])
    func `an issuer whose metadata name no challenge endpoint is judged by the challenges of its refusals`(
        format: EvidenceFormat
    ) async throws {
        let bench = try Bench(seed: "no endpoint", startFormat: format)
        let setup = try bench.setup()
        #expect(setup.metadata.challengeEndpoint == nil)
        try enforcing(bench)
        let matrix = try await Conformance.run(setup)
        let skipped = Set(without(format).map(\.rawValue))
        for row in matrix.rows where row.verdict != (skipped.contains(row.rule) ? .skipped : .pass) {
            Issue.record("\(row)")
        }
    }

    @Test func `enforcement is found out where there is no management API`() async throws {
        let bench = try Bench()
        try enforcing(bench)
        let matrix = try await Conformance.run(
            try bench.setup { setup in
                setup.management = nil
                setup.only = Set(Self.rules.map(\.rawValue))
            })
        #expect(matrix.rows.map(\.verdict) == Self.rules.map { _ in .pass }, "\(matrix.rows)")
        let challenge = matrix.rows.first { $0.rule == "attestation.challenge" }
        #expect(challenge?.reason?.contains("too old") == true)
        let root = try await Conformance.run(
            try Self.enforcingBench(.playIntegrity).setup { setup in
                setup.management = nil
                setup.only = ["attestation.chain.root"]
            })
        #expect(root.rows.map(\.verdict) == [.skipped])
    }

    @Test(arguments: ["off", "audit"])
    func `a tenant that does not enforce is not judged by what evidence it takes`(mode: String) async throws {
        let bench = try Bench()
        try bench.manage("PATCH", "tenants/acme", ["attestation_mode": .string(mode)])
        let matrix = try await Conformance.run(try bench.setup { $0.management = nil })
        #expect(matrix.count(.fail) == 0 && matrix.count(.warn) == 0)
        for row in matrix.rows where row.rule.hasPrefix("attestation.") {
            #expect(row.verdict == .skipped && row.reason?.contains("does not enforce") == true, "\(row)")
        }
    }

    @Test func `a tenant that is said to enforce and does not fails`() async throws {
        let bench = try Bench()
        let matrix = try await Conformance.run(
            try bench.setup { setup in
                setup.management = nil
                setup.enforcesAttestation = true
                setup.only = ["attestation.evidence"]
            })
        #expect(matrix.rows.map(\.verdict) == [.fail])
    }

    @Test func `a tenant of other roots is not judged by its refusals, and not at all where it enforces`() async throws
    {
        let bench = try Bench()
        let setup = try bench.setup { setup in
            setup.vouching = Vouching(
                roots: try .generate(.init(seed: Array("other roots".utf8))), startFormat: .appAttest)
            setup.only = Set(Self.rules.map(\.rawValue))
        }
        let matrix = try await Conformance.run(setup)
        for row in matrix.rows where row.rule != "attestation.evidence" {
            #expect(row.verdict == .skipped && row.reason?.contains("understudy roots export") == true, "\(row)")
        }
        #expect(try bench.manage("GET", "tenants/acme")["attestation_mode"] == "off")
        try enforcing(bench)
        await #expect(throws: ProbeFault.self) { try await Conformance.run(setup) }
    }

    @Test(arguments: formats, rules)
    func `under enforce, one rule about evidence that is left out fails its row and no other`(
        format: EvidenceFormat, rule: RuleSwitch
    ) async throws {
        guard !without(format).contains(rule) else { return }
        let bench = try Bench(seed: "\(format) \(rule)", startFormat: format)
        try enforcing(bench)
        let setup = try bench.setup { $0.only = Set(Self.rules.map(\.rawValue) + ["code.once", "start.decoy"]) }
        try bench.manage("PUT", "tenants/acme/rules", ["off": [.string(rule.rawValue)]])
        let failed = try await Conformance.run(setup).rows.filter { $0.verdict == .fail }
        #expect(failed.map(\.rule) == [rule.rawValue], "\(failed)")
    }
}
