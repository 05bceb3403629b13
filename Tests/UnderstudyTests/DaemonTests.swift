import Control
import Encoding
import Foundation
import Testing

@testable import understudy

/// The daemon: its ready file, its directory, its end.
struct DaemonTests {
    /// Commands that find the daemon of a directory as the program itself does.
    private func runner(_ scratch: Scratch) -> (_ arguments: String...) async -> Ran {
        { (arguments: String...) in
            let (out, err) = (Captured(), Captured())
            let program = Program(
                environment: ["HOME": scratch.path],
                makeOutput: { Output(json: $0, result: { out.add($0) }, chatter: { err.add($0) }) },
                makeConnector: { LiveConnector($0, $1) })
            let exit = await program.run(arguments + ["--state", scratch.path + "/state"])
            return Ran(exit: exit, out: out.text, err: err.text)
        }
    }

    /// Serves in this process until the order to stop is given.
    private func serve(_ scratch: Scratch, _ more: [String] = [], until stop: StopSignal) async throws -> ExitCode {
        let reader = CommandLineReader(table: Commands.table, environment: [:])
        let arguments = ["serve", "--port", "0", "--idp-port", "0", "--state", scratch.path + "/state"] + more
        guard case .run(let parsed) = try reader.read(arguments) else { return .usage }
        let settings = try Settings(parsed, environment: [:])
        let output = Output(json: false, result: { _ in true }, chatter: { _ in true })
        let context = CommandContext(
            settings: settings, output: output, connector: LiveConnector(settings, output))
        return try await ServeCommand.run(parsed, context, until: stop)
    }

    @Test func `a daemon is waited for, used, found alone, and stopped`() async throws {
        let scratch = try Scratch()
        let understudy = runner(scratch)
        let ready = scratch.path + "/state/daemon.json"
        // Made without a daemon: the daemon must find it.
        #expect(await understudy("device", "create", "before").exit == .done)

        let stop = StopSignal()
        async let served = serve(scratch, ["--idp", "sensecrypt"], until: stop)
        #expect(await understudy("wait", "--timeout", "20").exit == .done)
        let mode = try FileManager.default.attributesOfItem(atPath: ready)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let file = try #require(ReadyFile.read(at: ready))
        #expect(file.pid == Int(ProcessInfo.processInfo.processIdentifier))
        #expect(file.idps.first?.issuers.count == 3)
        let devices = try await understudy("device", "list", "--json").document()
        #expect(devices["devices"]?.array?.count == 1)
        #expect(await understudy("idp", "ticket", "--email", "a@example.com").exit == .done)
        let warned = await understudy("device", "list", "--allow-host", "x.example")
        #expect(warned.err.contains("--allow-host does nothing here"))

        let second = await #expect(throws: CommandFailure.self) {
            try await serve(scratch, until: StopSignal())
        }
        #expect(second?.exit == .unavailable)
        #expect(second?.code == "state_in_use")

        stop.give()
        #expect(try await served == .done)
        #expect(ReadyFile.read(at: ready) == nil)
        #expect(await understudy("idp", "list").exit == .unavailable)
        #expect(await understudy("device", "show", "before").exit == .done)
    }

    @Test func `stop ends the daemon and waits for it`() async throws {
        let scratch = try Scratch()
        let understudy = runner(scratch)
        async let served = serve(scratch, until: StopSignal())
        #expect(await understudy("wait", "--timeout", "20").exit == .done)
        #expect(await understudy("stop").exit == .done)
        #expect(try await served == .done)
        #expect(await understudy("stop").exit == .unavailable)
    }

    @Test func `reference IdPs come back with what they knew`() async throws {
        let scratch = try Scratch()
        let understudy = runner(scratch)
        for round in 1...2 {
            let stop = StopSignal()
            async let served = serve(scratch, ["--idp", "sensecrypt"], until: stop)
            #expect(await understudy("wait", "--timeout", "20").exit == .done)
            if round == 1 {
                let made = await understudy("idp", "ticket", "--email", "a@example.com")
                #expect(made.exit == .done, "\(made.err)")
            }
            let users = try await understudy("idp", "users", "--json").document()
            #expect(users["users"]?.array?.count == 1)
            stop.give()
            #expect(try await served == .done)
        }
    }

    @Test func `the daemon's phones meet a tenant's new mode at the next sign-in`() async throws {
        let scratch = try Scratch()
        let understudy = runner(scratch)
        let stop = StopSignal()
        async let served = serve(scratch, ["--idp", "sensecrypt"], until: stop)
        #expect(await understudy("wait", "--timeout", "20").exit == .done)
        let ready = try #require(ReadyFile.read(at: scratch.path + "/state/daemon.json"))
        let issuer = try #require(ready.idps.first?.issuers.first)
        let ticket = await understudy("idp", "ticket", "--issuer", issuer, "--email", "a@example.com")
        #expect(await understudy("device", "create", "ada").exit == .done)
        let enrolled = await understudy(
            "enrol", "--device", "ada", "--issuer", issuer, "--ticket", try #require(ticket.lines.first))
        #expect(enrolled.exit == .done, "\(enrolled.err)")
        for (mode, sends) in [("off", false), ("audit", true), ("off", false)] {
            let set = await understudy("idp", "tenant", "--issuer", issuer, "attestation_mode=\(mode)")
            #expect(set.exit == .done, "\(set.err)")
            let signedIn = try await understudy(
                "signin", "--device", "ada", "--issuer", issuer, "--client", "app_demo", "--json"
            ).document()
            let flow = try await understudy("flow", "show", try #require(signedIn["flow"]?.string), "--json").document()
            let kinds = (flow["steps"]?.array ?? []).compactMap { $0["kind"]?.string }
            #expect(kinds.contains("call"))
            #expect(kinds.contains("evidence") == sends, "\(mode)")
        }
        stop.give()
        #expect(try await served == .done)
    }

    @Test func `a busy port is named`() async throws {
        let scratch = try Scratch()
        let taken = try await OpenPort.listen(on: "127.0.0.1", port: 0, option: "port")
        let port = try #require(taken.origin.split(separator: ":").last)
        let failure = await #expect(throws: CommandFailure.self) {
            try await serve(scratch, ["--port", String(port)], until: StopSignal())
        }
        #expect(failure?.exit == .unavailable)
        #expect(failure?.message == "port \(port) is in use")
        await taken.shutdown()
    }

    @Test func `a ready file left by a daemon that was killed does not mislead`() async throws {
        let scratch = try Scratch()
        let understudy = runner(scratch)
        StateDirectory.make(scratch.path + "/state")
        let stale = ReadyFile(control: "http://127.0.0.1:1", pid: 1, version: "0", idps: [])
        try stale.write(to: scratch.path + "/state/daemon.json")
        #expect(await understudy("device", "list").exit == .done)
        #expect(await understudy("wait", "--timeout", "0").exit == .timedOut)
        stale.remove(from: scratch.path + "/state/daemon.json")
        #expect(ReadyFile.read(at: scratch.path + "/state/daemon.json") == nil)
    }

    @Test func `a daemon named by its address is not replaced by this process`() async throws {
        let scratch = try Scratch()
        let understudy = runner(scratch)
        let silent = await understudy("device", "list", "--control", "http://127.0.0.1:1")
        #expect(silent.exit == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/state"))
        #expect(await understudy("device", "list", "--control", "no url").exit == .configuration)
    }

    @Test func `a state directory that cannot be one is a fault of the set-up`() async throws {
        let scratch = try Scratch()
        try PrivateFile.write([], to: scratch.path + "/state")
        let ran = await runner(scratch)("device", "list", "--json")
        #expect(ran.exit == .configuration)
        #expect(try ran.document()["error"]?["code"] == "store.directory")
    }

    @Test func `a certificate file that is none is a fault of the set-up`() async throws {
        let scratch = try Scratch()
        let understudy = runner(scratch)
        try PrivateFile.write(Array("hello".utf8), to: scratch.path + "/ca.pem")
        #expect(await understudy("device", "list", "--ca-file", scratch.path + "/none.pem").exit == .configuration)
        #expect(await understudy("device", "list", "--ca-file", scratch.path + "/ca.pem").exit == .configuration)
    }

    @Test func `one seed gives the same keys on fresh directories and new ones on the same`() async throws {
        var keys: [[String]] = []
        for _ in 1...2 {
            let scratch = try Scratch()
            let understudy = runner(scratch)
            var made: [String] = []
            for name in ["a", "b"] {
                let device = try await understudy("device", "create", name, "--seed", "tea", "--json").document()
                made.append(try #require(device["install_jkt"]?.string))
            }
            #expect(made[0] != made[1])
            keys.append(made)
        }
        #expect(keys[0] == keys[1])
    }
}

/// The files of a daemon.
struct DaemonFileTests {
    @Test func `a ready file reads back as it was written`() throws {
        let scratch = try Scratch()
        let idp = ServedIdP(
            system: "sensecrypt", origin: "http://127.0.0.1:2", api: "http://127.0.0.1:3",
            issuers: ["http://127.0.0.1:2/acme"])
        for control in ["http://127.0.0.1:1", nil] {
            let ready = ReadyFile(control: control, pid: 7, version: "1", idps: [idp])
            try ready.write(to: scratch.path + "/r.json")
            #expect(ReadyFile.read(at: scratch.path + "/r.json") == ready)
        }
        #expect(idp.json["management"] == "http://127.0.0.1:2/manage")
    }

    @Test(arguments: ["", "{", "[]", "{\"pid\":\"7\"}", "{\"pid\":7}", "\u{0}\u{0}"])
    func `what is no ready file is read as none`(text: String) throws {
        let scratch = try Scratch()
        try PrivateFile.write(Array(text.utf8), to: scratch.path + "/r.json")
        #expect(ReadyFile.read(at: scratch.path + "/r.json") == nil)
    }

    @Test func `a ready file of another process is left alone`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/r.json"
        try ReadyFile(control: nil, pid: 1, version: "", idps: []).write(to: path)
        ReadyFile(control: nil, pid: 2, version: "", idps: []).remove(from: path)
        #expect(ReadyFile.read(at: path)?.pid == 1)
    }

    @Test func `a daemon has its directory alone and commands share it`() throws {
        let scratch = try Scratch()
        do {
            let first = try StateLock.forCommand(in: scratch.path)
            let second = try StateLock.forCommand(in: scratch.path)
            #expect(throws: StateLock.Failure.heldByCommands) { try StateLock.forDaemon(in: scratch.path) }
            withExtendedLifetime((first, second)) {}
        }
        let daemon = try StateLock.forDaemon(in: scratch.path)
        let pid = Int(ProcessInfo.processInfo.processIdentifier)
        #expect(throws: StateLock.Failure.heldByDaemon(pid: pid)) { try StateLock.forDaemon(in: scratch.path) }
        #expect(throws: StateLock.Failure.heldByDaemon(pid: pid)) { try StateLock.forCommand(in: scratch.path) }
        withExtendedLifetime(daemon) {}
    }

    @Test func `a private file is replaced whole and only its owner reads it`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/f"
        try PrivateFile.write(Array(repeating: 1, count: 100_000), to: path)
        try PrivateFile.write([2], to: path)
        #expect(PrivateFile.read(path, limit: 10) == [2])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["f"])
        #expect(PrivateFile.read(scratch.path + "/none", limit: 10) == nil)
        try PrivateFile.write([1, 2, 3], to: path)
        #expect(PrivateFile.read(path, limit: 2) == nil)
        #expect(throws: PrivateFileError.self) { try PrivateFile.write([], to: "/nonexistent/x") }
    }
}
