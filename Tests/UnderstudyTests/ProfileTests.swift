import Encoding
import Foundation
import HTTP
import Testing

@testable import understudy

/// `--profile`: a file with the names of the wire.
@Suite struct ProfileTests {
    private func run(_ arguments: [String]) async -> Ran {
        let (out, err) = (Captured(), Captured())
        let program = Program(
            environment: ["HOME": "/nonexistent"],
            makeOutput: { Output(json: $0, result: { out.add($0) }, chatter: { err.add($0) }) },
            makeConnector: { LiveConnector($0, $1) })
        let exit = await program.run(arguments)
        return Ran(exit: exit, out: out.text, err: err.text)
    }

    /// The built-in profile with another name for everything it names.
    private static let otherNames = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/profiles/other-names.json5").standardizedFileURL.path

    /// Runs a command with the profile that was printed, changed so.
    private func run(
        _ arguments: [String], in scratch: Scratch, _ change: (String) throws -> String
    ) async throws -> Ran {
        let printed = await run(["profile"])
        #expect(printed.exit == .done)
        let file = scratch.path + "/staging.json5"
        try change(printed.out).write(toFile: file, atomically: true, encoding: .utf8)
        return await run(arguments + ["--profile", file])
    }

    @Test func `a whole sign-in goes by the names of a profile in which each is another`() async throws {
        let trace = "/trace.jsonl"
        let scratch = try Scratch()
        let ran = await run(["demo", "--trace", scratch.path + trace, "--profile", Self.otherNames])
        #expect(ran.exit == .done, "\(ran.err)")
        #expect(ran.lines.last == "signed in")
        #expect(!ran.out.contains("NOT "))
        for told in [
            "ceremony_claims_ticket_hash and ceremony_claims_face_token_hash are the hashes of the ticket and the face",
            "members_challenge_form_ceremony_proof in the body", "ceremony_claims_act ",
            "ceremony_claims_face_token_hash is the hash of the face token sent along",
            "are those of the session the start opened",
        ] { #expect(ran.out.contains(told), "\(told)") }
        // The face token is a secret under any name.
        let answer = try #require(
            ran.out.split(separator: "\n").first { $0.contains("members_face_token_answer_face") })
        #expect(answer.count < 200, "\(answer)")
        let wire = try String(contentsOfFile: scratch.path + trace, encoding: .utf8)
        #expect(wire.contains("\"kind\""))
    }

    @Test func `scenarios are played under it, and reports hide secrets by its names`() async throws {
        let scratch = try Scratch()
        let scenario = scratch.path + "/plain.json5"
        let archive = scratch.path + "/run.har"
        try """
        { title: "t", group: "g", source: "s", users: { ada: {} }, devices: { phone: { enrolled: "ada" } },
          steps: [ { signin: { device: "phone", scans: ["mismatch", "match"] }, expect: { result: "signed_in" } } ] }
        """.write(toFile: scenario, atomically: true, encoding: .utf8)
        let ran = await run(["test", scenario, "--har", archive, "--profile", Self.otherNames])
        #expect(ran.exit == .done, "\(ran.out)\(ran.err)")
        let text = try String(contentsOfFile: archive, encoding: .utf8)
        let entries = try JSON(parsing: Array(text.utf8))["log"]?["entries"]?.array ?? []
        let fetch = entries.first { $0["request"]?["url"]?.string?.hasSuffix("/face-token") == true }
        let body = try JSON(parsing: Array(try #require(fetch?["response"]?["content"]?["text"]?.string).utf8))
        #expect(body["members_face_token_answer_face_token"]?.string?.hasPrefix("REDACTED-") == true)
        let completion = entries.first {
            $0["request"]?["postData"]?["text"]?.string?.contains("members_challenge_form_ceremony_proof") == true
        }
        let form = try FormFields(
            decoding: Array(try #require(completion?["request"]?["postData"]?["text"]?.string).utf8))
        #expect(form["members_challenge_form_face_token"]?.hasPrefix("REDACTED-") == true)
        #expect(form["members_challenge_form_ceremony_proof"]?.hasPrefix("REDACTED-") == true)
    }

    @Test func `two equal names in one object are refused, with the rule and the name`() async throws {
        let scratch = try Scratch()
        let ran = try await run(["demo"], in: scratch) {
            $0.replacing("challenge: \"chl\"", with: "challenge: \"cer\"")
        }
        #expect(ran.exit == .badInput)
        #expect(
            ran.err.contains(
                "ceremony.claims: no two names of one object are the same, and ceremony and challenge are both \"cer\""),
            "\(ran.err)")
    }
}
