import Conformance
import Encoding
import ReferenceIdP
import Testing

@Suite struct OtherNamesTests {
    @Test func `a server that names everything otherwise is judged by its profile, and keeps every rule`() async throws
    {
        let bench = try Bench(profile: try OtherNames.profile())
        let matrix = try await Conformance.run(try bench.setup())
        for row in matrix.rows where row.verdict != .pass { Issue.record("\(row)") }
        #expect(matrix.rows.map(\.rule) == Conformance.rules.map(\.rule))
    }

    @Test(arguments: [
        RuleSwitch.ceremonyAct, .ceremonySession, .ceremonyID, .ceremonyChallenge, .ceremonyProofKey, .attemptNumber,
        .attemptRepeat, .attemptBudget, .enrollAct, .enrollTicketHash, .enrollFaceToken, .enrollPlatform,
        .completionFaceToken, .completionGeneration, .completionRepeat, .sessionLive,
    ])
    func `a rule about a name that is left out is noticed under any name`(rule: RuleSwitch) async throws {
        let bench = try Bench(profile: try OtherNames.profile())
        let setup = try bench.setup { $0.only = [rule.rawValue] }
        try bench.manage("PUT", "tenants/acme/rules", ["off": [.string(rule.rawValue)]])
        #expect(try await Conformance.run(setup).rows.map(\.verdict) == [.fail])
    }
}
