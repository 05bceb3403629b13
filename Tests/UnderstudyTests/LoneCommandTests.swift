import Control
import Encoding
import Foundation
import Testing

@testable import understudy

/// Commands that replace the state of a directory, without a daemon.
struct LoneCommandTests {
    private let scratch: Scratch
    private var state: String { scratch.path + "/state" }

    init() throws { scratch = try Scratch() }

    /// Runs a command as the program does, which looks once for who else is in the directory.
    private func understudy(_ arguments: String...) async -> Ran {
        let (out, err) = (Captured(), Captured())
        let program = Program(
            environment: ["HOME": scratch.path],
            makeOutput: { Output(json: $0, result: { out.add($0) }, chatter: { err.add($0) }) },
            makeConnector: { LiveConnector($0, $1, looks: 1) })
        let exit = await program.run(arguments + ["--state", state])
        return Ran(exit: exit, out: out.text, err: err.text)
    }

    /// Every command that puts another state in the place of this one.
    private var replacing: [[String]] {
        [["snapshot", "restore", "before"], ["import", scratch.path + "/world.json"]]
            + ["faults", "devices", "journal", "clock", "idp", "all"].map { ["reset", "--scope", $0] }
    }

    private func run(_ arguments: [String]) async -> Ran {
        switch arguments.count {
        case 2: await understudy(arguments[0], arguments[1])
        default: await understudy(arguments[0], arguments[1], arguments[2])
        }
    }

    private func prepare() async throws {
        try #require(await understudy("device", "create", "ada").exit == .done)
        try #require(await understudy("snapshot", "take", "before").exit == .done)
        try #require(await understudy("export", scratch.path + "/world.json").exit == .done)
        try #require(await understudy("device", "create", "bob").exit == .done)
    }

    private func devices() async throws -> Int? {
        try await understudy("device", "list", "--json").document()["devices"]?.array?.count
    }

    @Test func `while another command is at work nothing is replaced, and the reason is said`() async throws {
        try await prepare()
        let other = try StateLock.forCommand(in: state)
        for arguments in replacing {
            let ran = await run(arguments)
            #expect(ran.exit == .unavailable, "\(arguments)")
            #expect(ran.err.contains("another command is at work in \(state)"), "\(ran.err)")
        }
        #expect(try await devices() == 2)
        withExtendedLifetime(other) {}
    }

    @Test func `alone each of them does its work`() async throws {
        try await prepare()
        for arguments in replacing {
            #expect(await run(arguments).exit == .done, "\(arguments)")
        }
        #expect(try await devices() == 0)
        #expect(await run(["snapshot", "restore", "before"]).exit == .done)
        #expect(try await devices() == 1)
    }

    @Test func `while one replaces the state other commands wait and then say who it is`() async throws {
        try await prepare()
        let lone = try StateLock.forLoneCommand(in: state)
        for arguments in replacing + [["device", "list"]] {
            let ran = await run(arguments)
            #expect(ran.exit == .unavailable, "\(arguments)")
            let pid = ProcessInfo.processInfo.processIdentifier
            #expect(ran.err.contains("a command (process \(pid)) is replacing the state in \(state)"), "\(ran.err)")
        }
        withExtendedLifetime(lone) {}
    }

    @Test func `a command that replaces the state has the directory alone, and is named for what it is`() throws {
        let scratch = try Scratch()
        let pid = Int(ProcessInfo.processInfo.processIdentifier)
        let takings: [(String) throws -> StateLock] = [
            { try StateLock.forCommand(in: $0) }, { try StateLock.forDaemon(in: $0) },
            { try StateLock.forLoneCommand(in: $0) },
        ]
        do {
            let lone = try StateLock.forLoneCommand(in: scratch.path)
            for take in takings {
                #expect(throws: StateLock.Failure.heldByLoneCommand(pid: pid)) { try take(scratch.path) }
            }
            withExtendedLifetime(lone) {}
        }
        do {
            let command = try StateLock.forCommand(in: scratch.path)
            #expect(throws: StateLock.Failure.heldByCommands) { try StateLock.forLoneCommand(in: scratch.path) }
            withExtendedLifetime(command) {}
        }
        do {
            let daemon = try StateLock.forDaemon(in: scratch.path)
            #expect(throws: StateLock.Failure.heldByDaemon(pid: pid)) { try StateLock.forLoneCommand(in: scratch.path) }
            withExtendedLifetime(daemon) {}
        }
        for take in takings { withExtendedLifetime(try take(scratch.path)) {} }
    }
}
