import Encoding
import Testing

@testable import understudy

/// `understudy fault add`: what is armed is what was said, and nothing said is left out.
struct FaultCommandTests {
    @Test func `a fault in a word is narrowed down by the options beside it`() async throws {
        let stage = try await Stage.open()
        let added = await stage.runner.run(
            "fault", "add", "drop:start:2", "--device", "ada", "--attempt", "1", "--id", "mine", "--json")
        let fault = try #require(try added.document()["armed"]?.array?.first, "\(added.err)")
        #expect(fault["id"] == "mine")
        #expect(fault["on"]?["device"] == "ada")
        #expect(fault["on"]?["attempt"] == 1)
        #expect(fault["on"]?["call"] == "start")
        #expect(fault["times"] == 2)
        let chance = await stage.runner.run("fault", "add", "drop:token", "--probability", "0.5", "--json")
        let dice = try #require(try chance.document()["armed"]?.array?.first, "\(chance.err)")
        #expect(dice["probability"] == .double(0.5))
        #expect(dice["times"] == nil)
    }

    @Test(
        arguments: [
            (["drop:start:2", "--probability", "0.5"], ExitCode.badInput),
            (["drop:start", "--do", "reset"], .usage), (["drop:start", "--call", "token"], .usage),
            (["drop:start", "--times", "3"], .usage), (["drop:start,drop:token", "--id", "one"], .usage),
            (["drop", "--device", "ada"], .usage), (["drop:start:many", "--device", "ada"], .usage),
        ] as [([String], ExitCode)])
    func `what contradicts the word is refused, and nothing is armed`(words: [String], exit: ExitCode) async throws {
        let stage = try await Stage.open()
        #expect(await stage.runner.run(["fault", "add"] + words).exit == exit)
        #expect(try await stage.runner.run("fault", "list", "--json").document()["armed"] == .array([]))
    }
}
