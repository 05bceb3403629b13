import Encoding
import Testing

@testable import Scenario

@Suite("Expected failures")
struct ExpectedFailureTests {
    private func scenario(_ file: String, expecting result: String = "signed_in") throws -> Scenario {
        try Scenario(
            file: file,
            text: """
                { title: "t", group: "g", source: "s", users: { ada: {} }, devices: { phone: { enrolled: "ada" } },
                  steps: [ { name: "in", signin: { device: "phone" }, expect: { result: "\(result)" } } ] }
                """)
    }

    private func list(_ text: String, _ scenarios: [Scenario]) throws -> ExpectedFailures {
        try ExpectedFailures(file: "known.json5", text: text, knowing: scenarios)
    }

    private func outcome(
        _ entry: String, expecting result: String = "failed", today: String = "2026-11-30"
    ) async throws -> Report.Case.Outcome {
        let scenario = try scenario("lib/a.json5", expecting: result)
        let list = try list("[{ \(entry), reason: 'because', expires: '2026-11-30' }]", [scenario])
        return list.judged(await ScenarioSuite().play(scenario), today: today).outcome
    }

    @Test(
        "one that fails as expected is not red",
        arguments: ["scenario: 'a'", "scenario: 'lib/a', step: 1", "scenario: 'a', step: 'in'"])
    func expected(entry: String) async throws {
        guard case .expectedFailure("because", let found) = try await outcome(entry) else {
            Issue.record("not expected")
            return
        }
        #expect(found.what == "result")
    }

    @Test("one that passes is red: the entry has to go") func passes() async throws {
        guard case .failed(let found) = try await outcome("scenario: 'a'", expecting: "signed_in") else {
            Issue.record("not red")
            return
        }
        #expect(found.got == "it passes; remove the entry")
        #expect(found.expected == "a failure, as known.json5:1:2 says (because)")
    }

    @Test("one whose day is over is red, and says so") func expired() async throws {
        guard case .failed(let found) = try await outcome("scenario: 'a'", today: "2026-12-01") else {
            Issue.record("not red")
            return
        }
        #expect(found.got.hasSuffix("(expected to fail until 2026-11-30, which is over)"))
    }

    @Test("one that fails in another step is red") func elsewhere() async throws {
        guard case .failed = try await outcome("scenario: 'a', step: 2") else {
            Issue.record("not red")
            return
        }
    }

    @Test(
        "a list that is broken is refused with place and rule",
        arguments: [
            ("[{ scenario: 'b', reason: 'r', expires: '2026-12-01' }]", "1:2: there is no scenario 'b'"),
            (
                "[{ scenario: 'plian', reason: 'r', expires: '2026-12-01' }]",
                "1:2: there is no scenario 'plian'; did you mean 'plain'?"
            ),
            (
                "[{ scenario: 'twin', reason: 'r', expires: '2026-12-01' }]",
                "1:2: 'twin' may be any of x/twin.json5, y/twin.json5"
            ),
            ("[{ scenario: 'plain', expires: '2026-12-01' }]", "1:2: [0] needs 'reason': why it fails"),
            (
                "[{ scenario: 'plain', reason: 'r', expires: 'soon' }]",
                "1:45: [0].expires must be a day such as 2026-12-31, not 'soon'"
            ),
            (
                "[{ scenario: 'plain', reason: 'r', expires: '2026-02-30' }]",
                "1:2: '2026-02-30' is no day of the calendar"
            ),
            (
                "[{ scenario: 'plain', reason: 'r', expires: '2026-12-01' },\n { scenario: 'plain', reason: 'r', expires: '2026-12-01' }]",
                "2:2: 'plain' stands here twice"
            ),
            ("{}", "1:1: the file must be a list, not an object"),
        ])
    func broken(text: String, fault: String) throws {
        let scenarios = [try scenario("x/twin.json5"), try scenario("y/twin.json5"), try scenario("plain.json5")]
        let error = #expect(throws: BrokenFile.self) { try list(text, scenarios) }
        #expect(error?.description == "known.json5:" + fault)
    }

    @Test(
        "rules are judged as scenarios are", arguments: ["2026-11-29", "2026-11-30", "2026-12-01"])
    func rules(today: String) throws {
        let list = try ExpectedRules(
            file: "known.json5", text: "[{ rule: 'b.c', reason: 'because', expires: '2026-11-30' }]",
            knowing: ["a", "b.c"])
        let found = Disappointment(
            place: TextPlace(line: 1, column: 1), number: 0, step: "b.c", what: "w", expected: "e", got: "g")
        switch list.judged(.failed(found), of: "b.c", today: today) {
        case .expectedFailure("because", found): #expect(today <= "2026-11-30")
        case .failed(let noted):
            #expect(today == "2026-12-01" && noted.got == "g (expected to fail until 2026-11-30, which is over)")
        default: Issue.record("neither")
        }
        guard case .failed(let passing) = list.judged(.passed, of: "b.c", today: today),
            case .failed(found) = list.judged(.failed(found), of: "a", today: today),
            case .passed = list.judged(.passed, of: "a", today: today),
            case .skipped("why") = list.judged(.skipped("why"), of: "b.c", today: today)
        else {
            Issue.record("another outcome")
            return
        }
        #expect(passing.description.hasPrefix("b.c: the outcome should be a failure, as known.json5:1:2 says"))
    }

    @Test(
        "a list of rules that is broken is refused with place and rule",
        arguments: [
            ("[{ rule: 'a.c', reason: 'r', expires: '2026-12-01' }]", "1:2: there is no rule 'a.c'"),
            ("[{ rule: 'a', why: 'r', expires: '2026-12-01' }]", "1:2: [0] needs 'reason': why it fails"),
            ("[{ rule: 'a', reason: 'r' }]", "1:2: [0] needs 'expires': the last day on which it is expected to fail"),
            ("[{ rule: 'a', reason: 'r', expires: '2026-13-01' }]", "1:2: '2026-13-01' is no day of the calendar"),
            (
                "[{ rule: 'a', reason: 'r', expires: '2026-12-01' }, { rule: 'a', reason: 'r', expires: '2026-12-01' }]",
                "1:53: 'a' stands here twice"
            ),
            ("{}", "1:1: the file must be a list, not an object"),
        ])
    func brokenRules(text: String, fault: String) throws {
        let error = #expect(throws: BrokenFile.self) {
            try ExpectedRules(file: "known.json5", text: text, knowing: ["a", "unlike"])
        }
        #expect(error?.description.contains("known.json5:" + fault) == true, "\(error as Any)")
    }

    @Test("a twin can be told by its folder") func twins() throws {
        let scenarios = [try scenario("x/twin.json5"), try scenario("y/twin.json5")]
        #expect(throws: Never.self) {
            try list("[{ scenario: 'y/twin', reason: 'r', expires: '2026-12-01' }]", scenarios)
        }
    }
}
