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
        ] {
            #expect(await stage.runner.run(arguments).exit == .badInput, "\(arguments)")
        }
    }
}
