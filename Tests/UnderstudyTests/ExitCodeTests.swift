import Control
import Encoding
import HTTP
import Testing

@testable import understudy

/// What refusals and silence come to.
struct ExitCodeTests {
    @Test(
        arguments: [
            (404, "no_device", ExitCode.failed), (404, "not_found", .failed), (409, "already_exists", .failed),
            (409, "not_parked", .failed), (409, "already_ended", .failed), (502, "idp_refused", .failed),
            (502, "bad_answer", .failed), (422, "invalid_field", .badInput), (422, "missing_field", .badInput),
            (422, "unknown_field", .badInput), (400, "malformed_json", .badInput), (413, "too_large", .badInput),
            (502, "unreachable", .unavailable), (403, "host_not_allowed", .configuration),
            (421, "misdirected", .configuration), (500, "internal", .internalError), (500, "storage", .internalError),
            (405, "method_not_allowed", .internalError),
        ])
    func `a refusal has an exit code by its kind`(status: Int, code: String, exit: ExitCode) async throws {
        let answer = HTTPResponse.problem(
            status: status, title: code, detail: "the detail", type: "urn:understudy:error:\(code)",
            extra: [("code", .string(code)), ("field", "f"), ("rule", "r")])
        let ran = await CommandRunner(connector: OneAnswer(answer)).run("device", "list", "--json")
        #expect(ran.exit == exit)
        let error: JSON = ["code": .string(code), "message": "the detail", "field": "f", "rule": "r"]
        #expect(try ran.document() == ["error": error])
        #expect(ran.err == "understudy: the detail (field f)\n")
    }

    @Test func `silence is unavailable and says how to start a daemon`() async throws {
        let silent = OneAnswer(ControlPortError.unreachable(url: "http://127.0.0.1:7420", reason: "refused"))
        let ran = await CommandRunner(connector: silent).run("device", "list")
        #expect(ran.exit == .unavailable)
        #expect(ran.out.isEmpty)
        #expect(
            ran.err
                == "understudy: no daemon answers at http://127.0.0.1:7420: refused\nstart one: understudy serve\n")
    }

    @Test(arguments: ["<html>", "{\"devices\":", "\u{0}"])
    func `another program's answer is named as such`(body: String) async throws {
        let stranger = OneAnswer(HTTPResponse.text(body))
        let ran = await CommandRunner(connector: stranger).run("device", "list", "--json")
        #expect(ran.exit == .unavailable)
        #expect(try ran.document()["error"]?["code"] == "not_the_control_api")
    }

    @Test(arguments: ["device list", "flow list", "session show --device d", "device show d", "events --once"])
    func `a document of another shape crashes nothing`(line: String) async {
        for body in ["{}", "[]", "null", "7", #"{"devices":7,"flows":{},"entries":"x","session":[]}"#] {
            let odd = OneAnswer(HTTPResponse.content(Array(body.utf8), type: "application/json"))
            _ = await CommandRunner(connector: odd).run(line.split(separator: " ").map(String.init))
        }
    }

    @Test func `a sign-in without a flow id in the answer is a fault of ours, named`() async throws {
        let odd = OneAnswer(HTTPResponse.json([:]))
        let ran = await CommandRunner(connector: odd).run(
            "signin", "--device", "d", "--issuer", "i", "--client", "c", "--json")
        #expect(ran.exit == .internalError)
        #expect(try ran.document()["error"]?["code"] == "unexpected_answer")
    }

    @Test func `usage faults are documents too`() async throws {
        let ran = await CommandRunner(connector: OneAnswer(.json([:]))).run("signin", "--json")
        #expect(ran.exit == .usage)
        #expect(try ran.document()["error"]?["code"] == "usage")
        #expect(ran.err.hasPrefix("understudy: signin needs --device D\nusage: understudy signin "))
    }

    @Test func `a misspelled variable is told of`() async {
        var runner = CommandRunner(connector: OneAnswer(.json([:])))
        runner.environment["UNDERSTUDY_STAET"] = "/x"
        let ran = await runner.run("version")
        #expect(ran.exit == .done)
        #expect(ran.err == "understudy: UNDERSTUDY_STAET means nothing; did you mean UNDERSTUDY_STATE?\n")
    }

    @Test func `a reader that has gone away is not an error`() async {
        let output = Output(json: false, result: { _ in false }, chatter: { _ in true })
        output.say("lost")
        #expect(output.isClosed)
        output.say("never written")
    }
}
