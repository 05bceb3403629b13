import Crypto
import Device
import Encoding
import Engine
import Foundation
import Store
import Testing

/// The authorities of a state directory, and what an install remembers.
@Suite struct AttestationRootsTests {
    private func inDirectory(_ work: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "understudy-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await work(folder.path)
    }

    @Test func `roots are made once for a directory, whoever asks`() async throws {
        try await inDirectory { directory in
            let first = try Engine(store: Store(directory: directory)).attestationRoots().published
            let second = try Engine(store: Store(directory: directory)).attestationRoots().published
            #expect(first.appleRoot == second.appleRoot)
            #expect(first.androidRoot == second.androidRoot)
            #expect(first.playDecryptionKey == second.playDecryptionKey)
        }
    }

    @Test func `a seed gives new directories the same roots`() async throws {
        var fingerprints: Set<String> = []
        for _ in 0..<2 {
            try await inDirectory { directory in
                var settings = EngineSettings()
                settings.rootsEntropy = Entropy(seed: [1, 2, 3])
                let engine = Engine(store: try Store(directory: directory), settings: settings)
                fingerprints.insert(try engine.attestationRoots().published.appleFingerprint)
            }
        }
        #expect(fingerprints.count == 1)
    }

    @Test func `the App Attest key and its counter outlive the process`() async throws {
        try await inDirectory { directory in
            let id = try #require(DeviceID(rawValue: "pixel"))
            _ = try Engine(store: Store(directory: directory)).createDevice(id)
            var ids: Set<String> = []
            for counter: UInt32 in 1...3 {
                let engine = Engine(store: try Store(directory: directory))
                let made = try await engine.attest(
                    EvidenceOrder(format: .appAttestAssertion, challenge: "c"), device: id)
                #expect(made.counter == counter)
                ids.insert(try #require(made.evidence.json["key_id"]?.string))
            }
            #expect(ids.count == 1)
        }
    }
}
