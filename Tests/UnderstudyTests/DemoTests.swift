import Encoding
import Foundation
import Testing

@testable import understudy

/// The demo, and the transcript it leaves.
struct DemoTests {
    private func demo(_ more: String...) async -> Ran {
        let (out, err) = (Captured(), Captured())
        let program = Program(
            environment: ["HOME": "/nonexistent"],
            makeOutput: { Output(json: $0, result: { out.add($0) }, chatter: { err.add($0) }) },
            makeConnector: { LiveConnector($0, $1) })
        let exit = await program.run(["demo"] + more)
        return Ran(exit: exit, out: out.text, err: err.text)
    }

    @Test func `the demo signs in, and everything it claims was so`() async throws {
        let ran = await demo()
        #expect(ran.exit == .done)
        #expect(ran.lines.last == "signed in")
        #expect(!ran.out.contains("NOT "))
        for told in [
            "tkt and fth are the hashes of the ticket and the face token sent along", "400 use_dpop_nonce",
            "ash, cer, chl, jkt are those of the session the start opened", "awaitingFace (1 attempt left",
            "fth is the hash of the face token sent along", "the hash of code_verifier is the code_challenge",
            "cnf.jkt = jkt", "ath = hash of the access token sent along", "which is the key of this proof",
            "the one of the start",
        ] { #expect(ran.out.contains(told), "\(told)") }
    }

    @Test func `with json the demo is one document with the whole flow`() async throws {
        let ran = await demo("--json")
        let document = try ran.document()
        #expect(document["result"] == "signed_in")
        #expect(document["fetched"]?["status"] == 200)
        #expect((document["flow"]?["steps"]?.array?.count ?? 0) > 20)
        #expect(ran.err.hasSuffix("signed in\n"))
    }

    @Test func `the transcript is private, whole and in order`() async throws {
        let scratch = try Scratch()
        let path = scratch.path + "/trace.jsonl"
        #expect(await demo("--trace", path).exit == .done)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let entries = try lines.map { try JSON(parsing: Array($0.utf8)) }
        for (index, entry) in entries.enumerated() {
            #expect(entry["kind"]?.string == (index.isMultiple(of: 2) ? "request" : "response"))
            let names = entry.object?.names ?? []
            #expect(names.contains("headers") && names.contains("body_b64u"))
        }
        let paths = entries.compactMap { $0["url"]?.string }.map { FlowNarrator.path($0) }
        #expect(paths.first == "/acme/.well-known/openid-configuration")
        #expect(paths.contains("/acme/jwks.json"))
        #expect(paths.filter { $0.hasSuffix("/attempt") }.count == 2)
        #expect(paths.last == "/acme/accounts")
    }

    @Test func `a transcript that cannot be written is told of before anything runs`() async {
        let ran = await demo("--trace", "/nonexistent/trace")
        #expect(ran.exit == .configuration)
        #expect(ran.out.isEmpty)
    }

    @Test func `one seed gives the same ids and keys`() async throws {
        let first = try await demo("--json", "--seed", "tea").document()
        let second = try await demo("--json", "--seed", "tea").document()
        #expect(first["flow"]?["id"] == second["flow"]?["id"])
        #expect(first["enrolment"]?["kid"] == second["enrolment"]?["kid"])
        let other = try await demo("--json", "--seed", "coffee").document()
        #expect(first["enrolment"]?["kid"] != other["enrolment"]?["kid"])
    }
}
