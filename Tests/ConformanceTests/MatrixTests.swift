import Conformance
import Encoding
import HTTP
import ReferenceIdP
import Testing
import Transport

@Suite struct MatrixTests {
    @Test func `the reference IdP keeps every rule there is a row for`() async throws {
        let matrix = try await Conformance.run(try Bench().setup())
        for row in matrix.rows where row.verdict != .pass { Issue.record("\(row)") }
        #expect(matrix.rows.map(\.rule) == Conformance.rules.map(\.rule))
    }

    @Test func `there is a row for every rule that can be switched off, and no other`() {
        let rows = Conformance.rules.map(\.rule)
        #expect(Set(rows) == Set(RuleSwitch.allCases.map(\.rawValue)))
        #expect(Set(rows).count == rows.count)
    }

    /// Rules whose absence other rows cannot but notice, and why.
    private static let alsoFails: [RuleSwitch: (rows: Set<String>, why: String)] = [:]

    @Test(arguments: RuleSwitch.allCases)
    func `a server that leaves one rule out fails that rule's row and passes every other`(
        rule: RuleSwitch
    ) async throws {
        let bench = try Bench(seed: rule.rawValue)
        let setup = try bench.setup()
        try bench.manage("PUT", "tenants/acme/rules", ["off": [.string(rule.rawValue)]])
        let matrix = try await Conformance.run(setup)
        let expected = Set([rule.rawValue]).union(Self.alsoFails[rule]?.rows ?? [])
        let failed = matrix.rows.filter { $0.verdict == .fail }
        #expect(Set(failed.map(\.rule)) == expected, "\(failed)")
        for row in matrix.rows where row.verdict == .skipped || row.verdict == .warn { Issue.record("\(row)") }
    }
}
