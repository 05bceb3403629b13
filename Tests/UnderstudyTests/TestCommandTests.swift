import Encoding
import Foundation
import HTTP
import Testing

@testable import understudy

/// `understudy test`: exit codes and files.
@Suite("Playing scenarios from the command line")
struct TestCommandTests {
    private static let good = scenario("signed_in")
    private static let bad = scenario("failed")

    private static func scenario(_ result: String) -> String {
        """
        { title: "t", group: "g", source: "s", users: { ada: {} }, devices: { phone: { enrolled: "ada" } },
          steps: [
            { signin: { device: "phone" }, expect: { result: "\(result)" } } ] }
        """
    }

    /// Runs `understudy test` in a folder with these files.
    private func test(
        _ files: [String: String], _ more: [String] = [], environment: [String: String] = [:],
        looking: (String) throws -> Void = { _ in }
    ) async throws -> Ran {
        let folder = FileManager.default.temporaryDirectory.appending(path: "test-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, text) in files { try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8) }
        var runner = CommandRunner(connector: OneAnswer(HTTPResponse(status: 500)))
        runner.environment.merge(environment) { $1 }
        let ran = await runner.run(["test", folder] + more.map { $0.replacing("DIR", with: folder) })
        try looking(folder)
        return ran
    }

    @Test("exit 0 where all hold, with a line for each and the seed") func holds() async throws {
        let ran = try await test(["a.json5": Self.good, "b.json5": Self.good])
        #expect(ran.exit == .done)
        #expect(ran.lines.count == 3)
        #expect(ran.lines[0].hasPrefix("ok        g/a "))
        #expect(ran.lines[2] == "2 passed, 0 failed; seed 1, unless a file has its own")
    }

    @Test("exit 1 where one does not hold, with what was expected, what came and where") func fails() async throws {
        let ran = try await test(["a.json5": Self.good, "b.json5": Self.bad], ["--seed", "x"])
        #expect(ran.exit == .failed)
        for part in [
            "FAILED    g/b: t", "what:     result", "expected: \"failed\"", "got:      \"signed_in\"", "b.json5:3:54",
            "understudy test --seed 'x'", "1 passed, 1 failed; seed x",
        ] { #expect(ran.out.contains(part), "\(part) in \(ran.out)") }
    }

    @Test("exit 65 where a file is none, after the others were played; 1 where one of those fails") func broken()
        async throws
    {
        let ran = try await test(["a.json5": Self.good, "b.json5": "{ titel: 1 }"])
        #expect(ran.exit == .badInput)
        #expect(ran.err.contains("b.json5:1:3: there is no 'titel' in a scenario, did you mean 'title'"))
        #expect(ran.out.contains("1 passed, 0 failed, 1 could not be judged"))
        #expect(try await test(["a.json5": Self.bad, "b.json5": "{"]).exit == .failed)
    }

    @Test("exit 65 where there is nothing to play, 2 where nothing was named or fits") func nothing() async throws {
        #expect(try await test([:]).exit == .badInput)
        #expect(try await test(["a.json5": Self.good], ["--filter", "no such"]).exit == .usage)
        #expect(await CommandRunner(connector: OneAnswer(HTTPResponse(status: 500))).run("test").exit == .usage)
        #expect(
            await CommandRunner(connector: OneAnswer(HTTPResponse(status: 500))).run("test", "/nonexistent/x").exit
                == .badInput)
        #expect(try await test(["a.json5": Self.good], ["--client", "c"]).exit == .usage)
        #expect(try await test(["a.json5": Self.good], ["--issuer", "http://127.0.0.1:1"]).exit == .usage)
    }

    @Test(
        "exit 78 where the stage cannot be set, 69 where an issuer does not answer, 73 where a file cannot be written")
    func setUp() async throws {
        let broken = Self.good.replacing("enrolled: \"ada\"", with: "scans: ['sideways']")
        #expect(try await test(["a.json5": broken]).exit == .configuration)
        let away = try await test(
            ["a.json5": Self.good], ["--issuer", "http://127.0.0.1:1/acme", "--client", "c"])
        #expect(away.exit == .unavailable)
        #expect(try await test(["a.json5": Self.good], ["--junit", "/nonexistent/j.xml"]).exit == .cannotCreate)
        let foreign = try await test(["a.json5": Self.good], ["--issuer", "https://idp.example", "--client", "c"])
        #expect(foreign.exit == .configuration)
    }

    @Test("an issuer elsewhere is played against; what needs a reference IdP is skipped, which can be made to count")
    func staging() async throws {
        let stage = try await Stage.open()
        let made = await stage.runner.run("idp", "ticket", "--issuer", stage.issuer, "--email", "ada@example.com")
        let ticket = try #require(made.lines.first)
        let elsewhere = ["--issuer", stage.issuer, "--client", "app_demo", "--ticket", ticket]
        let needy = Self.good.replacing("source: \"s\"", with: "source: \"s\", needs: [\"reference\"]")
        let files = ["a.json5": Self.good, "b.json5": needy, "c.json5": Self.good]
        let ran = try await test(files, elsewhere)
        #expect(ran.exit == .done, "\(ran.out) \(ran.err)")
        #expect(ran.lines.last?.hasPrefix("1 passed, 0 failed, 2 skipped; seed ") == true, "\(ran.out)")
        #expect(ran.out.contains("skipped   g/b: it needs the reference IdP: the file says so"))
        #expect(ran.out.contains("skipped   g/c: it needs an enrolment ticket"))
        let again = try await test(["b.json5": needy], elsewhere + ["--fail-on-skip"])
        #expect(again.exit == .failed)
    }

    @Test("a command gives the tickets, and says whose they are; it is told who enrols, and its refusal is told")
    func ticketCommand() async throws {
        let stage = try await Stage.open()
        let made = await stage.runner.run("idp", "ticket", "--issuer", stage.issuer, "--email", "grace@example.com")
        let ticket = try #require(made.lines.first)
        let asking = """
            grep -q '"scenario":"g/a","user":"ada","email":"ada@example.com"}' &&
            printf '%s' '{"ticket":"\(ticket)","email":"grace@example.com"}'
            """
        let hinted = Self.good.replacing("device: \"phone\" }", with: "device: \"phone\", user: \"ada\" }")
        #expect(hinted != Self.good)
        let elsewhere = ["--issuer", stage.issuer, "--client", "app_demo", "--ticket-command"]
        let ran = try await test(["a.json5": hinted], elsewhere + [asking])
        #expect(ran.lines.last?.hasPrefix("1 passed") == true, "\(ran.out) \(ran.err)")
        let refused = try await test(["a.json5": hinted], elsewhere + ["echo nobody by that name >&2; exit 3"])
        #expect(refused.exit == .unavailable)
        #expect(refused.out.contains("no ticket for user 'ada': the command exited with 3: nobody by that name"))
        let both = try await test(["a.json5": hinted], elsewhere + ["true", "--ticket", "t"])
        #expect(both.exit == .usage)
    }

    @Test("what a reference IdP alone tells is not judged elsewhere, and that is said")
    func unjudged() async throws {
        let stage = try await Stage.open()
        let made = await stage.runner.run("idp", "ticket", "--issuer", stage.issuer, "--email", "ada@example.com")
        let ticket = try #require(made.lines.first)
        let elsewhere = ["--issuer", stage.issuer, "--client", "app_demo", "--ticket", ticket]
        let wanting = Self.good.replacing(
            "result: \"signed_in\"", with: "result: \"signed_in\", findings: [\"no.rule\"], stored: { generation: 77 }")
        #expect(wanting != Self.good)
        let ran = try await test(["a.json5": wanting], elsewhere)
        #expect(ran.exit == .done, "\(ran.out) \(ran.err)")
        #expect(ran.lines.last == "not judged in 1, since a reference IdP alone tells: findings, stored.generation")
        #expect(try await test(["a.json5": wanting]).exit == .failed)
    }

    @Test("a failure is red in every artefact") func artefacts() async throws {
        let ran = try await test(
            ["b.json5": Self.bad],
            [
                "--junit", "DIR/j.xml", "--har", "DIR/h.har", "--events", "DIR/e.ndjson", "--report", "DIR/r.html",
                "--json",
            ],
            environment: ["GITHUB_ACTIONS": "true"]
        ) { folder in
            var texts: [String: String] = [:]
            for name in ["j.xml", "r.html", "h.har", "e.ndjson"] {
                texts[name] = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
            }
            #expect(texts["j.xml"]?.contains("failures=\"1\"") == true)
            #expect(texts["j.xml"]?.contains("<failure message=\"signin phone: result should be") == true)
            #expect(texts["r.html"]?.contains("<details class=\"case failed\" open>") == true)
            #expect(texts["h.har"]?.contains("\"comment\": \"failed\"") == true)
            #expect(texts["e.ndjson"]?.contains("\"outcome\":\"failed\"") == true)
        }
        #expect(ran.exit == .failed)
        #expect(ran.err.contains("::error file="))
        #expect(ran.err.contains(",line=3,col=54,title=g/b::signin phone: result should be \"failed\""))
        let document = try ran.document()
        #expect(document["counts"]?["failed"] == 1)
        #expect(document["scenarios"]?.array?.first?["failure"]?["line"] == 3)
    }

    @Test("expected failures are not red; a list that names nobody is bad input") func expected() async throws {
        let list = "[{ scenario: 'b', reason: 'not yet', expires: '9999-12-31' }]"
        let ran = try await test(["b.json5": Self.bad], ["--expected-failures", "DIR/known"])
        #expect(ran.exit == .badInput)
        let known = try await test(
            ["b.json5": Self.bad, "known": list], ["--expected-failures", "DIR/known"])
        #expect(known.exit == .done, "\(known.err)")
        #expect(known.out.contains("expected  g/b: fails, not yet"))
        let passing = try await test(
            ["b.json5": Self.good, "known": list], ["--expected-failures", "DIR/known"])
        #expect(passing.exit == .failed)
    }

    @Test("the list shows groups and titles, and plays nothing") func lists() async throws {
        let ran = try await test(["a.json5": Self.bad], ["--list"])
        #expect(ran.exit == .done)
        #expect(ran.lines == ["g", "  a: t"])
        let document = try await test(["a.json5": Self.bad], ["--list", "--json"]).document()
        #expect(document["scenarios"]?.array?.first?["steps"] == 1)
    }
}
