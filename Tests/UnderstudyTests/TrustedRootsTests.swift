import Control
import Encoding
import Foundation
import JOSE
import ReferenceIdP
import Testing

@testable import understudy

/// Whom `idp serve` trusts about calling apps.
struct TrustedRootsTests {
    private let scratch: Scratch
    private var state: String { scratch.path + "/state" }

    init() throws { scratch = try Scratch() }

    /// A command of the phone's side, as the program runs it.
    private func understudy(_ arguments: [String], state: String? = nil) async -> Ran {
        let (out, err) = (Captured(), Captured())
        let program = Program(
            environment: ["HOME": scratch.path],
            makeOutput: { Output(json: $0, result: { out.add($0) }, chatter: { err.add($0) }) },
            makeConnector: { LiveConnector($0, $1) })
        let exit = await program.run(arguments + ["--state", state ?? self.state])
        return Ran(exit: exit, out: out.text, err: err.text)
    }

    private func parsed(_ paths: [String], state: String) throws -> (ParsedArguments, Settings) {
        let reader = CommandLineReader(table: Commands.table, environment: [:])
        let options = paths.flatMap { ["--attestation-roots", $0] }
        let line = ["idp", "serve", "--idp-port", "0", "--state", state] + options
        guard case .run(let parsed) = try reader.read(line) else { throw CommandFailure.badValue("test", "no command") }
        return (parsed, try Settings(parsed, environment: [:]))
    }

    private func find(_ paths: [String], state: String = "/nowhere/at/all") throws -> TrustedRoots.Found {
        let (arguments, settings) = try parsed(paths, state: state)
        return try TrustedRoots.find(arguments, settings)
    }

    /// Exports the roots of the state directory in every form there is.
    private func exported() async throws -> (folder: String, document: String) {
        let (folder, document) = (scratch.path + "/roots", scratch.path + "/roots.json")
        try #require(await understudy(["roots", "export", "--dir", folder]).exit == .done)
        let printed = await understudy(["roots", "export", "--json"])
        try PrivateFile.write(Array(printed.out.utf8), to: document)
        return (folder, document)
    }

    @Test func `every form in which roots come gives the same trust`() async throws {
        let (folder, document) = try await exported()
        let whole = try find([document]).trust
        #expect(whole.appleRoots.count == 1 && whole.androidRoots.count == 1)
        #expect(whole.playDecryptionKey != nil && whole.playVerificationKey != nil)
        #expect(whole.attesters.entries.count == 1)
        #expect(try find([folder]).trust == whole)
        #expect(try find([state]).trust == whole)
        #expect(try find([state, folder, document]).trust == whole)
        #expect(try find([], state: state).trust == whole)
        #expect(try find([], state: state).line.contains(state))
        let apple = try find([folder + "/app-attest-root.pem"]).trust
        #expect(apple.appleRoots == whole.appleRoots && apple.playDecryptionKey == nil)
        #expect(try find([folder + "/attesters.json"]).trust.attesters == whole.attesters)
    }

    @Test func `without roots nobody is trusted, and nothing is made`() async throws {
        #expect(try find([]) == TrustedRoots.Found())
        #expect(!FileManager.default.fileExists(atPath: "/nowhere"))
        #expect(await understudy(["device", "create", "ada"]).exit == .done)
        #expect(try find([], state: state).trust == AttestationTrust())
        let asked = #expect(throws: CommandFailure.self) { try find([state]) }
        #expect(asked?.exit == .badInput)
        #expect(asked?.message.contains("roots export") == true)
    }

    @Test func `what holds no roots is refused by its name`() async throws {
        let (folder, document) = try await exported()
        let other = scratch.path + "/other"
        try #require(await understudy(["roots", "export", "--json"], state: other).exit == .done)
        for (name, text) in [
            ("empty", ""), ("words", "hello"), ("object", "{}"), ("number", #"{"apple_root": 7}"#),
            ("broken", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            ("key", #"{"play_decryption_key": "AAAA"}"#),
        ] {
            try PrivateFile.write(Array(text.utf8), to: scratch.path + "/" + name)
            let failure = #expect(throws: CommandFailure.self, "\(name)") { try find([scratch.path + "/" + name]) }
            #expect(failure?.exit == .badInput)
            #expect(failure?.field == "attestation-roots")
            #expect(failure?.message.contains(scratch.path + "/" + name) == true)
        }
        for paths in [["/nowhere"], [scratch.path], [folder + "/play-decryption-key.txt"], [document, other]] {
            let failure = #expect(throws: CommandFailure.self, "\(paths)") { try find(paths) }
            #expect(failure?.exit == .badInput)
        }
    }

    @Test(arguments: ["ios", "android"])
    func `a phone of another state directory attests where its roots are trusted`(platform: String) async throws {
        let (folder, _) = try await exported()
        let idps = scratch.path + "/idps"
        let (arguments, settings) = try parsed([folder], state: idps)
        let (lines, said) = AsyncStream.makeStream(of: String.self)
        let output = Output(
            json: false, result: { _ in true },
            chatter: { bytes in
                said.yield(String(decoding: bytes, as: UTF8.self))
                return true
            })
        let context = CommandContext(
            settings: settings, output: output, connector: LiveConnector(settings, output))
        let stop = StopSignal()
        let served = Task {
            defer { said.finish() }
            return try await IdPServeCommand.run(arguments, context, until: stop)
        }
        for await line in lines where line.contains("ready file") { break }
        let ready = ReadyFile.read(at: settings.idpReadyFile)
        let issuer = try #require(ready?.idps.first?.issuers.first)
        let enforced = await understudy(
            ["idp", "tenant", "attestation_mode=enforce", "--issuer", issuer], state: idps)
        #expect(enforced.exit == .done, "\(enforced.err)")
        let ticket = await understudy(["idp", "ticket", "--issuer", issuer, "--email", "a@example.com"], state: idps)
        _ = await understudy(["device", "create", "ada", "--platform", platform])
        let enrolled = await understudy(
            ["enrol", "--device", "ada", "--issuer", issuer, "--ticket", try #require(ticket.lines.first)])
        #expect(enrolled.exit == .done, "\(enrolled.err)")
        let signIn = ["signin", "--device", "ada", "--issuer", issuer, "--client", "app_demo"]
        #expect(await understudy(signIn).exit == .done)
        let refused = await understudy(signIn + ["--attest-defect", "wrongAppId"])
        #expect(refused.exit == .failed)
        #expect((refused.out + refused.err).contains("attestationFailed"))
        stop.give()
        #expect(try await served.value == .done)
    }
}
