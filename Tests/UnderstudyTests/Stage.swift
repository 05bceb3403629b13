import Control
import Crypto
import Encoding
import Engine
import Foundation
import HTTP
import Synchronization
import Testing
import Transport

@testable import understudy

/// What a command printed and how it ended.
struct Ran {
    let exit: ExitCode
    let out: String
    let err: String

    var lines: [String] { out.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast() }

    /// The one document on stdout.
    func document() throws -> JSON {
        #expect(lines.count == 1, "not one document: \(out)")
        return try JSON(parsing: Array(out.utf8))
    }
}

/// Runs command lines in this process against a connector of the test's own.
struct CommandRunner {
    let connector: any Connector
    var environment = ["HOME": "/nonexistent"]

    func run(_ arguments: String...) async -> Ran { await run(arguments) }

    func run(_ arguments: [String]) async -> Ran {
        let (out, err) = (Captured(), Captured())
        let connector = connector
        let program = Program(
            environment: environment,
            makeOutput: { Output(json: $0, result: { out.add($0) }, chatter: { err.add($0) }) },
            makeConnector: { _, _ in connector })
        let exit = await program.run(arguments)
        return Ran(exit: exit, out: out.text, err: err.text)
    }
}

/// What was written to one place.
final class Captured: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func add(_ more: [UInt8]) -> Bool {
        bytes.withLock { $0 += more }
        return true
    }
}

/// A phone and a reference IdP in this process, on ports of loopback, with nothing kept.
final class Stage: Connector {
    let idp: IdPService
    private let phone: Phone
    private let client = HTTPClient(ClientConfiguration(proxy: .none))

    var issuer: String { idp.served.issuers.first ?? "" }
    var api: String { idp.served.api + "/acme" }
    var runner: CommandRunner { CommandRunner(connector: self) }

    static func open() async throws -> Stage {
        let phone = try Phone.inMemory(EngineSettings())
        var plan = HostedIdP.Plan()
        plan.trust = try phone.attestationTrust()
        return Stage(idp: try await HostedIdP.start(plan, store: nil), phone: phone)
    }

    private init(idp: IdPService, phone: Phone) {
        self.idp = idp
        self.phone = phone
        phone.api.add(idp.served)
    }

    /// A phone named `phone`, enrolled for `ada@example.com`.
    func enrolled() async throws -> Stage {
        #expect(await runner.run("device", "create", "phone").exit == .done)
        let ticket = await runner.run("idp", "ticket", "--issuer", issuer, "--email", "ada@example.com")
        let enrolled = await runner.run(
            "enrol", "--device", "phone", "--issuer", issuer, "--ticket", try #require(ticket.lines.first))
        #expect(enrolled.exit == .done, "\(enrolled)")
        return self
    }

    func signIn(_ more: String...) async -> Ran {
        await runner.run(
            ["signin", "--device", "phone", "--issuer", issuer, "--client", "app_demo", "--resource", api] + more)
    }

    func control() async throws(CommandFailure) -> ControlClient { ControlClient(phone) }
    func loneControl() async throws(CommandFailure) -> ControlClient { ControlClient(phone) }
    func daemon() async throws(CommandFailure) -> ControlClient { ControlClient(phone) }
    func remote(_ url: String) throws(CommandFailure) -> ControlClient {
        do throws(ControlPortError) {
            return ControlClient(try RemoteControl(url: url, client: client))
        } catch {
            throw CommandFailure(ControlFailure.noAnswer(error))
        }
    }
    func finish() async { await phone.engine.settle(within: 5000) }
    func lonelyIdPs() -> [ServedIdP] { [] }
}

/// A control API that gives one answer to everything.
struct OneAnswer: Connector, ControlPort {
    let answer: Result<HTTPResponse, ControlPortError>

    init(_ response: HTTPResponse) { answer = .success(response) }
    init(_ error: ControlPortError) { answer = .failure(error) }

    func call(_ request: HTTPRequest) async throws(ControlPortError) -> HTTPResponse { try answer.get() }
    func control() async throws(CommandFailure) -> ControlClient { ControlClient(self) }
    func loneControl() async throws(CommandFailure) -> ControlClient { ControlClient(self) }
    func daemon() async throws(CommandFailure) -> ControlClient { ControlClient(self) }
    func remote(_ url: String) throws(CommandFailure) -> ControlClient { ControlClient(self) }
    func finish() async {}
    func lonelyIdPs() -> [ServedIdP] { [] }
}

/// A directory that is gone when the test has ended.
final class Scratch: Sendable {
    let path = NSTemporaryDirectory() + "understudy-test-" + Entropy.system.token(9)

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
