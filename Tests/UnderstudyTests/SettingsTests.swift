import Testing

@testable import understudy

/// What global options and environment come to.
struct SettingsTests {
    private func settings(_ line: String, _ environment: [String: String]) throws -> Settings {
        let reader = CommandLineReader(table: Commands.table, environment: environment)
        guard case .run(let parsed) = try reader.read(line.split(separator: " ").map(String.init)) else {
            throw UsageError(message: "help", usage: "")
        }
        return try Settings(parsed, environment: environment)
    }

    @Test func `the state directory follows flag, environment, XDG and home, in this order`() throws {
        let all = ["UNDERSTUDY_STATE": "/u", "XDG_STATE_HOME": "/x", "HOME": "/h"]
        #expect(try settings("version --state /f", all).stateDirectory == "/f")
        #expect(try settings("version", all).stateDirectory == "/u")
        #expect(try settings("version", ["XDG_STATE_HOME": "/x", "HOME": "/h"]).stateDirectory == "/x/understudy")
        #expect(try settings("version", ["HOME": "/h"]).stateDirectory == "/h/.local/state/understudy")
        // A relative XDG directory is to be ignored (XDG base directory specification).
        #expect(
            try settings("version", ["XDG_STATE_HOME": "x", "HOME": "/h"]).stateDirectory
                == "/h/.local/state/understudy")
    }

    @Test func `no home at all is a fault of the set-up`() throws {
        let failure = #expect(throws: CommandFailure.self) { try settings("version", [:]) }
        #expect(failure?.exit == .configuration)
    }

    @Test(
        arguments: [
            ("idp.example:443:10.0.0.7", "idp.example:443", "10.0.0.7:443"),
            ("IdP.example:443:10.0.0.7:8443", "idp.example:443", "10.0.0.7:8443"),
            ("idp.example:443:[::1]:8443", "idp.example:443", "[::1]:8443"),
            ("[::2]:80:[::1]", "[::2]:80", "[::1]:80"),
        ])
    func `a resolve rule names a place and an address`(text: String, place: String, address: String) throws {
        let rule = try #require(NetworkSettings.resolveRule(text))
        #expect(rule.place == place)
        #expect(rule.address == address)
    }

    @Test(arguments: ["", "a", "a:1", "a:b:c", "a:0:c", "a:1:", "a:1:b:0", "a:1:b:2:3", "a:70000:b", "[a:1:b"])
    func `what is no resolve rule is a bad value`(text: String) throws {
        #expect(NetworkSettings.resolveRule(text) == nil)
        guard !text.isEmpty else { return }
        let failure = #expect(throws: CommandFailure.self) { try settings("version --resolve \(text)", ["HOME": "/h"]) }
        #expect(failure?.exit == .badInput)
        #expect(failure?.field == "resolve")
    }
}
