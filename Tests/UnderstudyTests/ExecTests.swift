import Control
import Encoding
import Foundation
import Testing

@testable import understudy

/// `understudy exec`, through the program itself and with real children.
@Suite(.serialized) struct ExecTests {
    /// The program, which is built beside these tests.
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "understudy").path

    private struct Ended {
        let code: Int32
        let out: String
        let err: String
    }

    /// Runs the program to its end; `during` is told of the process once it runs.
    private func run(
        _ arguments: [String], environment: [String: String] = [:], during: (Process) throws -> Void = { _ in }
    ) throws -> Ended {
        let process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("UNDERSTUDY_") }
        variables.merge(environment) { $1 }
        process.environment = variables
        let (out, err) = (Pipe(), Pipe())
        process.standardOutput = out
        process.standardError = err
        process.standardInput = FileHandle.nullDevice
        try process.run()
        try during(process)
        let printed = try out.fileHandleForReading.readToEnd() ?? Data()
        let said = try err.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Ended(
            code: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            out: String(decoding: printed, as: UTF8.self), err: String(decoding: said, as: UTF8.self))
    }

    @Test(
        arguments: [
            (["true"], 0), (["false"], 1), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], 143),
            (["sh", "-c", "kill -KILL $$"], 137), (["sh", "-c", "exit 255"], 255), (["/nonexistent/command"], 127),
            (["/etc/passwd"], 126),
        ] as [([String], Int32)])
    func `the exit code is the command's own`(command: [String], code: Int32) throws {
        let ended = try run(["exec", "--"] + command)
        #expect(ended.code == code, "\(ended.err)")
        #expect(ended.err.contains("seed "))
    }

    @Test func `the command finds everything by its environment, and a daemon that is ready`() throws {
        let script = """
            "$0" device create ada >/dev/null || exit 10
            "$0" enrol --device ada --issuer "$UNDERSTUDY_ISSUER_ACME" --ticket \
                "$("$0" idp ticket --issuer "$UNDERSTUDY_ISSUER_ACME" --email ada@example.com)" >/dev/null || exit 11
            "$0" signin --device ada --issuer "$UNDERSTUDY_ISSUER" --client app_demo --resource "$UNDERSTUDY_API" \
                >/dev/null || exit 12
            "$0" fetch --device ada "$UNDERSTUDY_API/accounts" >/dev/null || exit 13
            env | grep ^UNDERSTUDY_ | sort
            """
        let ended = try run(["exec", "--seed", "tea", "--", "sh", "-c", script, Self.program])
        #expect(ended.code == 0, "\(ended.err)")
        let names = ended.out.split(separator: "\n").map { String($0.prefix { $0 != "=" }) }
        #expect(
            names == [
                "UNDERSTUDY_API", "UNDERSTUDY_ISSUER", "UNDERSTUDY_ISSUER_ACME", "UNDERSTUDY_ISSUER_FAPI",
                "UNDERSTUDY_ISSUER_GLOBEX", "UNDERSTUDY_MANAGEMENT", "UNDERSTUDY_SEED", "UNDERSTUDY_STATE",
                "UNDERSTUDY_URL",
            ])
        #expect(ended.err.contains("seed tea"))
        #expect(!ended.err.contains("means nothing"))
        let state = try #require(ended.out.split(separator: "\n").first { $0.hasPrefix("UNDERSTUDY_STATE=") })
        #expect(!FileManager.default.fileExists(atPath: String(state.dropFirst("UNDERSTUDY_STATE=".count))))
    }

    @Test func `a directory that was named stays`() throws {
        let scratch = try Scratch()
        let state = scratch.path + "/state"
        #expect(try run(["exec", "--state", state, "--", Self.program, "device", "create", "ada"]).code == 0)
        let found = try run(["device", "list", "--json", "--state", state])
        #expect(found.out.contains("\"ada\""))
    }

    @Test func `a port that is busy is the set-up's failure, and the command is not run`() async throws {
        let scratch = try Scratch()
        let taken = try await OpenPort.listen(on: "127.0.0.1", port: 0, option: "port")
        let port = String(taken.origin.split(separator: ":").last ?? "")
        for option in ["--port", "--idp-port"] {
            let ended = try run(["exec", option, port, "--", "touch", scratch.path + "/ran"])
            #expect(ended.code == 69, "\(ended.err)")
            #expect(ended.err.contains("port \(port) is in use"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/ran"))
        await taken.shutdown()
    }

    @Test func `a directory that is none is the set-up's failure`() throws {
        let scratch = try Scratch()
        try PrivateFile.write([], to: scratch.path + "/file")
        let ended = try run(["exec", "--state", scratch.path + "/file", "--", "touch", scratch.path + "/ran"])
        #expect(ended.code == 78, "\(ended.err)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/ran"))
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `a signal is handed on, and the command decides`(number: Int32) throws {
        let scratch = try Scratch()
        let pipe = scratch.path + "/up"
        #expect(mkfifo(pipe, 0o600) == 0)
        let script = "trap 'exit 42' TERM INT; echo up > \(pipe); \(Self.aWhile)"
        let ended = try run(["exec", "--", "sh", "-c", script]) { process in
            // Returns once the command has said that it is there.
            let said = try? FileHandle(forReadingFrom: URL(filePath: pipe)).readToEnd()
            #expect(said == Data("up\n".utf8))
            kill(process.processIdentifier, number)
        }
        #expect(ended.code == 42, "\(ended.err)")
    }

    @Test func `a signal that comes before anything else is handed on as well`() throws {
        let script = "trap 'exit 42' TERM; kill -TERM $PPID; \(Self.aWhile)"
        for _ in 0..<10 { #expect(try run(["exec", "--", "sh", "-c", script]).code == 42) }
    }

    /// Half a minute of a shell that answers signals.
    private static let aWhile = "i=0; while [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done; exit 3"

    @Test func `without a command it is no command line`() throws {
        #expect(try run(["exec"]).code == 2)
    }

    @Test func `waiting in vain has a code of its own and says what there was`() throws {
        let scratch = try Scratch()
        let nobody = try run(["wait", "--timeout", "0", "--state", scratch.path + "/none"])
        #expect(nobody.code == 124)
        #expect(nobody.err.contains("no daemon has written its ready file"))
        let silent = try run(["wait", "--timeout", "0", "--control", "http://127.0.0.1:1"])
        #expect(silent.code == 124)
        #expect(silent.err.contains("nobody answers at http://127.0.0.1:1"))
    }

    @Test func `waiting tells a daemon that is not ready from nobody`() async throws {
        let port = try await OpenPort.listen(on: "127.0.0.1", port: 0, option: "port")
        let ended = try run(["wait", "--timeout", "0", "--control", port.origin])
        #expect(ended.code == 124)
        #expect(ended.err.contains("answers and is not ready yet"))
        await port.shutdown()
    }

    @Test func `a seed that was drawn repeats the run it was printed by`() throws {
        let create = [Self.program, "device", "create", "ada", "--json"]
        let first = try run(["exec", "--clock", "@1790000000", "--"] + create)
        let seed = try #require(first.err.split(separator: "\n").first { $0.hasPrefix("seed ") }?.dropFirst(5))
        let again = try run(["exec", "--clock", "@1790000000", "--seed", String(seed), "--"] + create)
        #expect(first.code == 0 && again.code == 0, "\(again.err)")
        #expect(first.out == again.out)
        let other = try run(["exec", "--clock", "@1790000000", "--seed", "another", "--"] + create)
        #expect(other.out != first.out)
    }
}
