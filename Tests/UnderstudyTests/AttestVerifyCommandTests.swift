import Encoding
import Foundation
import Testing

@testable import understudy

/// `attest verify` on what `attest` made.
struct AttestVerifyCommandTests {
    /// A folder of this test's own with the roots of a stage in it.
    private func folder(_ stage: Stage) async throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "verify-\(UUID().uuidString)")
        #expect(await stage.runner.run("roots", "export", "--dir", folder.path).exit == .done)
        return folder
    }

    private func piece(_ stage: Stage, _ format: String, defect: String, in folder: URL) async throws -> String {
        let file = folder.appending(path: "evidence").path
        let made = await stage.runner.run(
            "attest", "--device", "phone", "--challenge", "a-challenge-of-mine", "--format", format, "--defect", defect,
            "--out", file)
        try #require(made.exit == .done, "\(made.err)")
        return file
    }

    private func verify(_ stage: Stage, _ format: String, _ file: String, in folder: URL) async -> Ran {
        await stage.runner.run(
            "attest", "verify", file, "--json", "--format", format, "--challenge", "a-challenge-of-mine",
            "--roots", folder.appending(path: "app-attest-root.pem").path,
            "--roots", folder.appending(path: "android-root.pem").path,
            "--play-decryption-key", "@" + folder.appending(path: "play-decryption-key.txt").path,
            "--play-verification-key", "@" + folder.appending(path: "play-verification-key.txt").path,
            "--app-id", "UNDERSTUDY.test.understudy.app", "--app-id", "test.understudy.app",
            "--certificate-digest", String(repeating: "5a", count: 32), "--environment", "production")
    }

    @Test(arguments: ["apple-appattest", "android-key", "play-integrity", "play-integrity-classic"])
    func `genuine evidence has no fault, and another's app is one, by name`(format: String) async throws {
        let stage = try await Stage.open().enrolled()
        let folder = try await folder(stage)
        defer { try? FileManager.default.removeItem(at: folder) }
        let good = try await piece(stage, format, defect: "none", in: folder)
        let ran = await verify(stage, format, good, in: folder)
        #expect(ran.exit == .done, "\(ran.out)")
        #expect(try ran.document()["holds"] == true)
        let wrong = try await piece(stage, format, defect: "wrongAppId", in: folder)
        let refused = await verify(stage, format, wrong, in: folder)
        #expect(refused.exit == .failed)
        let faults = try refused.document()["fields"]?.array?.filter { $0["verdict"] == "fault" } ?? []
        let rule = try #require(faults.first?["rule"]?.string)
        #expect(["attestation.app_id", "attestation.package", "attestation.request_package"].contains(rule))
    }

    /// One piece of the phone's evidence in a file of its own.
    private func made(_ stage: Stage, _ format: String, _ name: String, in folder: URL, _ more: String...)
        async throws -> String
    {
        let file = folder.appending(path: name).path
        let ran = await stage.runner.run(
            ["attest", "--device", "phone", "--format", format, "--challenge", name, "--out", file] + more)
        try #require(ran.exit == .done, "\(ran.err)")
        return file
    }

    /// What `attest verify` finds wrong: the rules in the order of the fields.
    private func faults(
        _ stage: Stage, _ format: String, _ file: String, in folder: URL, _ more: String...
    ) async throws -> [String] {
        let keys = ["decryption", "verification"].flatMap { name in
            ["--play-\(name)-key", "@" + folder.appending(path: "play-\(name)-key.txt").path]
        }
        let roots = ["app-attest-root.pem", "android-root.pem"].flatMap { name in
            ["--roots", folder.appending(path: name).path]
        }
        let ran = await stage.runner.run(
            ["attest", "verify", file, "--json", "--format", format] + keys + roots + more)
        let fields = try ran.document()["fields"]?.array ?? []
        let faults = fields.filter { $0["verdict"] == "fault" }.compactMap { $0["rule"]?.string }
        #expect(ran.exit == (faults.isEmpty ? .done : .failed))
        return faults
    }

    @Test(arguments: [
        "apple-appattest", "apple-appattest-assertion", "android-key", "play-integrity", "play-integrity-classic",
    ])
    func `a replay and a stale challenge are seen by what came before`(format: String) async throws {
        let stage = try await Stage.open().enrolled()
        let folder = try await folder(stage)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try await made(stage, "apple-appattest", "the-attested-key-1", in: folder)
        let first = try await made(stage, format, "an-early-challenge", in: folder)
        let again = try await made(
            stage, format, "a-second-challenge", in: folder, "--defect", "replayedEvidence")
        let replay = try await faults(stage, format, again, in: folder, "--after", first, "--after", key)
        #expect(replay.first == "attestation.replay")
        let blind = try await faults(stage, format, again, in: folder)
        #expect(blind.isEmpty)
        let stale = try await made(
            stage, format, "a-third-challenge-", in: folder, "--defect", "staleChallenge", "--stale-challenge",
            "an-early-challenge")
        let found = try await faults(
            stage, format, stale, in: folder, "--after", first, "--after", key, "--challenge", "a-third-challenge-",
            "--stale-challenge", "an-early-challenge")
        // Android's is a replay besides: key and challenge are all that makes a chain this chain.
        #expect(found.first == "attestation.challenge")
        #expect(!found.contains("attestation.nonce") && !found.contains("attestation.signature"))
    }

    @Test func `an assertion that does not count on is seen by the earlier ones`() async throws {
        let stage = try await Stage.open().enrolled()
        let folder = try await folder(stage)
        defer { try? FileManager.default.removeItem(at: folder) }
        let assertion = "apple-appattest-assertion"
        let key = try await made(stage, "apple-appattest", "attested", in: folder)
        let first = try await made(stage, assertion, "first", in: folder)
        let second = try await made(stage, assertion, "second", in: folder)
        let back = try await made(stage, assertion, "back", in: folder, "--defect", "counterRollback")
        let good = try await faults(
            stage, assertion, second, in: folder, "--challenge", "second", "--after", key, "--after", first)
        #expect(good.isEmpty)
        let rolled = try await faults(
            stage, assertion, back, in: folder, "--challenge", "back", "--after", second, "--after", first, "--after",
            key)
        #expect(rolled == ["attestation.counter"])
        let text = await stage.runner.run(
            "attest", "verify", back, "--format", assertion, "--challenge", "back", "--after", key, "--after", second)
        #expect(text.out.contains("attestation.counter: expected a counter above 2"))
    }

    @Test func `what is no evidence, and what is missing, is bad input by name`() async throws {
        let stage = try await Stage.open()
        let folder = try await folder(stage)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "attesters.json").path
        for arguments in [
            ["attest", "verify", "/nowhere", "--format", "android-key"],
            ["attest", "verify", file, "--format", "android-key"],
            [
                "attest", "verify", folder.appending(path: "android-root.pem").path, "--format", "android-key",
                "--challenge", "c", "--kind", "start",
            ],
            ["attest", "verify", "/nowhere", "--format", "android-key", "--after", file],
            [
                "attest", "verify", folder.appending(path: "android-root.pem").path, "--format", "android-key",
                "--after", file,
            ],
            [
                "attest", "verify", folder.appending(path: "android-root.pem").path, "--format", "android-key",
                "--challenge", "c", "--stale-challenge", "c",
            ],
        ] {
            #expect(await stage.runner.run(arguments).exit == .badInput, "\(arguments)")
        }
    }
}
