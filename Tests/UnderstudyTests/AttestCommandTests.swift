import Control
import Encoding
import Foundation
import HTTP
import Testing

@testable import understudy

/// `attest` and `roots export` against a phone in this process.
struct AttestCommandTests {
    private func attest(_ stage: Stage, _ more: String...) async -> Ran {
        await stage.runner.run(["attest", "--device", "phone", "--json", "--challenge", "a-challenge-of-mine"] + more)
    }

    @Test func `each format is printed with what checks it`() async throws {
        let stage = try await Stage.open().enrolled()
        let roots = try await stage.runner.run("roots", "export", "--json").document()
        for (format, root) in [
            ("apple-appattest", roots["apple_fingerprint"]), ("apple-appattest-assertion", roots["apple_fingerprint"]),
            ("android-key", roots["android_fingerprint"]), ("play-integrity", nil), ("play-integrity-classic", nil),
        ] {
            let ran = await attest(stage, "--format", format)
            #expect(ran.exit == .done, "\(format): \(ran.err)")
            let made = try ran.document()
            #expect(made["evidence"]?["format"]?.string == format)
            #expect(made["evidence"]?["challenge"] == "a-challenge-of-mine")
            #expect(made["root_fingerprint"] == root)
        }
    }

    @Test func `the key stays and the counter goes up`() async throws {
        let stage = try await Stage.open().enrolled()
        let first = try await attest(stage, "--format", "apple-appattest").document()
        for counter: JSON in [1, 2, 3] {
            let made = try await attest(stage, "--format", "apple-appattest-assertion").document()
            #expect(made["counter"] == counter)
            #expect(made["key_id"] == first["key_id"])
        }
    }

    @Test func `a defect that does not apply and one that cannot be yet are refused by name`() async throws {
        let stage = try await Stage.open().enrolled()
        let odd = await attest(stage, "--format", "android-key", "--defect", "singleHash")
        #expect(odd.exit == .badInput)
        #expect(odd.out.contains("attest.defect.not_applicable"))
        #expect(odd.out.contains("android-key") && odd.out.contains("singleHash"))
        let early = await attest(stage, "--format", "play-integrity", "--defect", "replayedEvidence")
        #expect(early.exit == .failed)
        #expect(early.out.contains("attest.defect.nothing_to_replay"))
    }

    @Test func `settings are taken, and refused by their name`() async throws {
        let stage = try await Stage.open().enrolled()
        let made = try await attest(
            stage, "--format", "android-key", "--set", "provisioning=factory", "--set", "app.package=a.b", "--set",
            "boot_locked=false", "--set", "app.version=3", "--set", "device_verdicts=MEETS_BASIC_INTEGRITY"
        ).document()
        #expect(made["package"] == "a.b")
        #expect(made["evidence"]?["x5c"]?.array?.count == 4)
        let odd = await attest(stage, "--format", "android-key", "--set", "boot_state=fine")
        #expect(odd.exit == .badInput)
        #expect(odd.out.contains("boot_state"))
    }

    @Test func `files hold the bare evidence and the roots`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "understudy-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let stage = try await Stage.open().enrolled()
        let exported = await stage.runner.run("roots", "export", "--dir", folder.path)
        #expect(exported.exit == .done, "\(exported.err)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(
            names == [
                "android-root.pem", "app-attest-receipt-root.pem", "app-attest-root.pem", "attesters.json",
                "play-decryption-key.txt", "play-verification-key.txt",
            ])
        let file = folder.appending(path: "chain.pem").path
        let ran = await attest(stage, "--format", "android-key", "--out", file)
        #expect(ran.exit == .done, "\(ran.err)")
        let chain = try String(contentsOfFile: file, encoding: .utf8)
        #expect(chain.components(separatedBy: "BEGIN CERTIFICATE").count == 6)
        let root = try String(contentsOf: folder.appending(path: "android-root.pem"), encoding: .utf8)
        #expect(chain.hasSuffix(root))
    }
}
