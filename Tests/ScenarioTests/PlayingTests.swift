import Encoding
import Testing

@testable import Scenario

@Suite("Playing scenarios")
struct PlayingTests {
    private func play(_ step: String, devices: String = "{ phone: { enrolled: \"ada\" } }") async throws
        -> ScenarioResult
    {
        let text = """
            { title: "t", group: "g", source: "s", users: { ada: {} }, devices: \(devices),
              steps: [
                \(step) ] }
            """
        return await ScenarioSuite().play(try Scenario(file: "plain.json5", text: text))
    }

    private func disappointment(_ step: String) async throws -> Disappointment? {
        let result = try await play(step)
        guard case .failed(let disappointment) = result.outcome else {
            Issue.record("\(result.outcome)")
            return nil
        }
        return disappointment
    }

    @Test("a scenario whose expectations hold passes") func passes() async throws {
        let result = try await play(#"{ signin: { device: "phone" }, expect: { result: "signed_in" } }"#)
        guard case .passed = result.outcome else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(result.steps.map(\.title) == ["signin phone"])
        #expect(!result.journal.isEmpty)
        #expect(!result.exchanges.isEmpty)
    }

    @Test(
        "an expectation that does not hold is a failure that says what, where, what was wanted and what came",
        arguments: [
            (#"{ result: "failed" }"#, "result", #""failed""#, #""signed_in" (signed_in)"#),
            (#"{ state: "failed" }"#, "state", #""failed""#, #""signedIn" (signed_in)"#),
            (#"{ result: "signed_in", reason: "network" }"#, "reason", #""network""#, "null (signed_in)"),
            (#"{ message: "no" }"#, "message", "a text with 'no'", "nothing"),
            (#"{ status: 500 }"#, "status", "500", "200 (signed_in)"),
            (#"{ error: "no" }"#, "error", #""no""#, "null (signed_in)"),
            ("{ calls: { start: 1, faceToken: 1, completion: 1, token: 2 } }", "calls.token", "2", "1"),
            ("{ calls: { start: 1, faceToken: 1, completion: 1 } }", "calls.token", "0, as it is not listed", "1"),
            ("{ answers: { token: [400] } }", "answers.token", "[400]", "[200]"),
            (#"{ errors: { token: ["no"] } }"#, "errors.token", #"["no"]"#, "[null]"),
            (#"{ requests: { "/token": 2 } }"#, "requests./token", "2", "1"),
            ("{ scans: 2 }", "scans", "2", "1"),
            (#"{ faults: ["drop:start"] }"#, "faults", #"["drop:start"]"#, "[]"),
            (#"{ findings: ["no.rule"] }"#, "findings", #""no.rule""#, "[]"),
            ("{ same_proof: true }", "same_proof", "true", "false"),
            ("{ stored: { session: false } }", "stored.session", "false", "true"),
            ("{ stored: { can_refresh: true } }", "stored.can_refresh", "true", "false"),
            ("{ stored: { enrolments: 2 } }", "stored.enrolments", "2", "1"),
            ("{ stored: { generation: 1 } }", "stored.generation", "1", "2"),
            ("{ body: { device: \"other\" } }", "body.device", #""other""#, #""phone""#),
            ("{ accepted: true }", "what is wrong on purpose", "accepted, as the file says", "refused (signed_in)"),
        ])
    func fails(expect: String, what: String, expected: String, got: String) async throws {
        let found = try await disappointment(#"{ signin: { device: "phone" }, expect: \#(expect) }"#)
        #expect(found?.what == what)
        #expect(found?.expected == expected)
        #expect(found?.got == got)
        #expect(found?.place.line == 3)
        #expect(found?.number == 1)
    }

    @Test("the journal is compared in order, and only what is named") func journal() async throws {
        let good = #"{ signin: { device: "phone" }, expect: { journal: [{ call: "start" }, { kind: "scan" }] } }"#
        guard case .passed = try await play(good).outcome else {
            Issue.record("in order")
            return
        }
        let bad = #"{ signin: { device: "phone" }, expect: { journal: [{ kind: "scan" }, { call: "start" }] } }"#
        #expect(try await disappointment(bad)?.what == "journal")
    }

    @Test("a step that expects nothing must go well") func trouble() async throws {
        let found = try await disappointment(#"{ signin: { device: "phone", scans: ["cancel"] } }"#)
        #expect(found?.what == "the outcome")
        #expect(found?.got.hasPrefix("failed: cancelled") == true)
    }

    @Test("a fault that never takes place is a failure") func idleFault() async throws {
        let found = try await disappointment(
            #"{ signin: { device: "phone", faults: ["drop:attempt"] }, expect: { result: "signed_in" } }"#)
        #expect(found?.what == "faults that took place")
    }

    @Test("what is wrong on purpose and is accepted is a failure, unless the file says so") func accepted() async throws
    {
        let text = """
            { title: "t", group: "g", source: "s", users: { ada: {} }, devices: { phone: { enrolled: "ada" } },
              idp: { rules_off: ["dpop.typ"] },
              steps: [ { signin: { device: "phone", faults: ["wrong-typ-jwt:token"] }, expect: { result: "signed_in" } } ] }
            """
        let loose = await ScenarioSuite().play(try Scenario(file: "a.json5", text: text))
        guard case .failed(let found) = loose.outcome else {
            Issue.record("\(loose.outcome)")
            return
        }
        #expect(found.got == "accepted by the server: wrong-typ-jwt:token")
        let said = text.replacing(#"result: "signed_in""#, with: #"result: "signed_in", accepted: true"#)
        let allowed = await ScenarioSuite().play(try Scenario(file: "a.json5", text: said))
        guard case .passed = allowed.outcome else {
            Issue.record("\(allowed.outcome)")
            return
        }
        let strict = await ScenarioSuite().play(
            try Scenario(file: "a.json5", text: said.replacing(#"["dpop.typ"]"#, with: "[]")))
        guard case .failed = strict.outcome else {
            Issue.record("\(strict.outcome)")
            return
        }
    }

    @Test("nothing is played behind a failure") func stops() async throws {
        let result = try await play(
            #"{ signin: { device: "phone" }, expect: { result: "failed" } }, { signout: { device: "phone" } }"#)
        #expect(result.steps.count == 1)
        #expect(result.steps.first?.holds == false)
    }

    @Test("a set-up that fails is no failure of the scenario") func setUp() async throws {
        let result = try await play(
            #"{ signin: { device: "phone" } }"#, devices: "{ phone: { scans: [\"sideways\"] } }")
        guard case .error(let reason) = result.outcome else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(reason.contains("sideways"))
    }

    @Test("steps at once are judged each for itself") func atOnce() async throws {
        let devices = #"{ phone: { enrolled: "ada" }, tablet: { enrolled: "ada", default_scan: "mismatch" } }"#
        let result = try await play(
            """
            { parallel: [
              { signin: { device: "phone" }, expect: { result: "signed_in", scans: 1, calls: { start: 1, faceToken: 1, completion: 1, token: 1 } } },
              { signin: { device: "tablet" }, expect: { reason: "faceMismatch", scans: 3 } } ] }
            """, devices: devices)
        guard case .passed = result.outcome else {
            Issue.record("\(result.outcome)")
            return
        }
        let other = try await play(
            """
            { parallel: [ { signin: { device: "phone" }, expect: { result: "failed" } },
                          { signin: { device: "tablet" }, expect: { reason: "faceMismatch" } } ] }
            """, devices: devices)
        guard case .failed(let found) = other.outcome else {
            Issue.record("\(other.outcome)")
            return
        }
        #expect(found.step == "signin phone")
    }

    @Test("one seed gives the same journal every time, another seed another") func seeds() async throws {
        let text = """
            { title: "t", group: "g", source: "s", users: { ada: {} }, devices: { phone: { enrolled: "ada" } },
              steps: [ { signin: { device: "phone", scopes: ["openid", "offline_access"], resource: true } },
                       { fetch: { device: "phone" } }, { refresh: { device: "phone" } } ] }
            """
        let scenario = try Scenario(file: "plain.json5", text: text)
        var suite = ScenarioSuite()
        let first = await suite.play(scenario)
        let again = await suite.play(scenario)
        suite.seed = "2"
        let other = await suite.play(scenario)
        let journals = [first, again, other].map { $0.journal.map(\.text) }
        #expect(!journals[0].isEmpty)
        #expect(journals[0] == journals[1])
        #expect(journals[0] != journals[2])
    }

    @Test("results come in the order of the scenarios, however many are played at once") func order() async throws {
        let text = """
            { title: "t", group: "g", source: "s", users: { ada: {} }, devices: { phone: { enrolled: "ada" } },
              steps: [ { signin: { device: "phone" } } ] }
            """
        let scenarios = try (1...6).map { try Scenario(file: "s\($0).json5", text: text) }
        var suite = ScenarioSuite()
        suite.jobs = 3
        let results = await suite.play(scenarios)
        #expect(results.map(\.scenario.name) == scenarios.map(\.name))
    }
}
