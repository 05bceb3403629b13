import Crypto
import Encoding
import JOSE
import Testing

@testable import ReferenceIdP

/// The verifier alone: good samples hold, and each thing made wrong breaks the rule that is named for it.
@Suite struct EvidenceVerifierTests {
    private let hash = SHA256.hash(Array("client data".utf8))

    private func rules(
        _ json: JSON, _ samples: EvidenceSamples, policy: AttestationPolicy = .seeded, thumbprint: String? = nil,
        attestedKey: [UInt8]? = nil
    ) throws -> [String] {
        let expected = EvidenceExpectations(
            policy: policy, trust: try samples.trust(), binding: EvidenceBinding(clientDataHash: hash),
            attestedKey: attestedKey, now: samples.now)
        let (explanation, _) = EvidenceVerifier.examine(try Evidence(json), expected)
        #expect(!explanation.fields.isEmpty)
        return explanation.faults.map { String($0.rule.dropFirst("attestation.".count)) }
    }

    /// A wrong App Attest object and the rule it breaks first.
    struct AppAttestCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let edit: @Sendable (inout EvidenceSamples.AppAttestEdit, EvidenceSamples) throws -> Void

        init(
            _ rule: String,
            _ edit: @escaping @Sendable (inout EvidenceSamples.AppAttestEdit, EvidenceSamples) throws -> Void
        ) {
            testDescription = rule
            self.edit = edit
        }
    }

    @Test(arguments: [
        AppAttestCase("chain.root") { edit, samples in edit.root = samples.androidRoot },
        AppAttestCase("chain.ca") { edit, _ in edit.caIsAuthority = false },
        AppAttestCase("chain.validity") { edit, _ in edit.leafEnd = -10 },
        AppAttestCase("app_id") { edit, _ in edit.appID = "UNDERSTUDY.another" },
        AppAttestCase("environment") { edit, _ in edit.aaguid = Array("appattestdevelop".utf8) },
        AppAttestCase("environment") { edit, _ in edit.aaguid = [UInt8](repeating: 0, count: 16) },
        AppAttestCase("flags") { edit, _ in edit.flags = 0xC0 },
        AppAttestCase("counter") { edit, _ in edit.counter = 1 },
        AppAttestCase("auth_data") { edit, _ in edit.trailing = [0, 0] },
        AppAttestCase("extensions") { edit, _ in edit.trailing = [0] },
        AppAttestCase("cbor") { edit, _ in edit.behind = [0] },
        AppAttestCase("cbor") { edit, _ in edit.order = ["attStmt", "fmt", "authData"] },
        AppAttestCase("fmt") { edit, _ in edit.format = "apple" },
        AppAttestCase("receipt") { edit, _ in edit.receipt = [] },
        AppAttestCase("key") { edit, samples in edit.leafKey = samples.appleRoot },
        AppAttestCase("nonce") { edit, _ in edit.nonceHead = [0x30, 0x24, 0xA2, 0x22, 0x04, 0x20] },
    ])
    func `an App Attest object with one thing wrong breaks its rule`(item: AppAttestCase) throws {
        let samples = try EvidenceSamples()
        var edit = EvidenceSamples.AppAttestEdit()
        try item.edit(&edit, samples)
        #expect(try rules(samples.appAttest("c", hash: hash, edit), samples).first == item.testDescription)
    }

    @Test func `a good App Attest object holds, in the three shapes of its map`() throws {
        let samples = try EvidenceSamples()
        let map: CBOR = .map([
            ("apple_bundle_version_01", .text("1")), ("apple_validation_category_01", .bytes([1, 0, 0, 0])),
        ])
        for (flags, extensions) in [(UInt8(0x40), nil), (0x40, map), (0xC0, map)] {
            let edit = EvidenceSamples.AppAttestEdit(flags: flags, extensions: extensions)
            #expect(try rules(samples.appAttest("c", hash: hash, edit), samples) == [])
        }
        let other = try samples.appAttest("c", hash: SHA256.hash(Array("other".utf8)))
        #expect(try rules(other, samples) == ["nonce"])
        var policy = AttestationPolicy.seeded
        policy.environment = .any
        let development = EvidenceSamples.AppAttestEdit(aaguid: Array("appattestdevelop".utf8))
        #expect(try rules(samples.appAttest("c", hash: hash, development), samples, policy: policy) == [])
    }

    @Test func `an assertion is a signature of the attested key over the nonce as a message`() throws {
        let samples = try EvidenceSamples()
        let point = samples.attestKey.publicKey.x963
        #expect(try rules(samples.assertion("c", hash: hash, counter: 1), samples, attestedKey: point) == [])
        let single = try samples.assertion("c", hash: hash, counter: 1, isSingle: true)
        #expect(try rules(single, samples, attestedKey: point) == ["signature"])
        let other = try samples.assertion("c", hash: hash, counter: 1, signer: samples.appleRoot)
        #expect(try rules(other, samples, attestedKey: point) == ["signature"])
        let foreign = try samples.assertion("c", hash: hash, counter: 1, appID: "UNDERSTUDY.another")
        #expect(try rules(foreign, samples, attestedKey: point) == ["app_id"])
        #expect(try rules(samples.assertion("c", hash: hash, counter: 0), samples, attestedKey: point) == ["counter"])
    }

    /// A wrong Android chain and the rule it breaks first.
    struct AndroidCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let edit: @Sendable (inout EvidenceSamples.AndroidEdit, EvidenceSamples) -> Void

        init(_ rule: String, _ edit: @escaping @Sendable (inout EvidenceSamples.AndroidEdit, EvidenceSamples) -> Void) {
            testDescription = rule
            self.edit = edit
        }
    }

    @Test(arguments: [
        AndroidCase("chain.root") { edit, samples in edit.root = samples.appleRoot },
        AndroidCase("chain.ca") { edit, _ in edit.caIsAuthority = false },
        AndroidCase("chain.length") { edit, _ in edit.length = 2 },
        AndroidCase("chain.root") { edit, _ in edit.length = 3 },
        AndroidCase("chain.extension") { edit, _ in edit.extensionOnIssuer = true },
        AndroidCase("version") { edit, _ in edit.version = 4 },
        AndroidCase("level") { edit, _ in edit.level = 0 },
        AndroidCase("level") { edit, _ in edit.mintLevel = 2 },
        AndroidCase("purpose") { edit, _ in edit.purpose = [2, 0] },
        AndroidCase("origin") { edit, _ in edit.origin = 2 },
        AndroidCase("boot.locked") { edit, _ in edit.locked = false },
        AndroidCase("boot.state") { edit, _ in edit.bootState = 2 },
        AndroidCase("package") { edit, _ in edit.package = "test.another" },
        AndroidCase("certificate_digest") { edit, _ in edit.digest = [UInt8](repeating: 1, count: 32) },
        AndroidCase("patch") { edit, _ in edit.patch = 202_401 },
        AndroidCase("key_description") { edit, _ in edit.unknownTag = 799 },
    ])
    func `an Android chain with one thing wrong breaks its rule`(item: AndroidCase) throws {
        let samples = try EvidenceSamples()
        var edit = EvidenceSamples.AndroidEdit()
        item.edit(&edit, samples)
        var policy = AttestationPolicy.seeded
        policy.minimumPatch = 202_501
        let chain = try samples.androidKey("c", hash: hash, key: samples.attestKey.publicKey, edit)
        #expect(try rules(chain, samples, policy: policy).first == item.testDescription)
    }

    @Test func `a good Android chain holds, at each level and version that is enough`() throws {
        let samples = try EvidenceSamples()
        for level in [Int64(1), 2] {
            for version in [Int64(100), 200, 300, 400] {
                let edit = EvidenceSamples.AndroidEdit(level: level, version: version)
                let chain = try samples.androidKey("c", hash: hash, key: samples.attestKey.publicKey, edit)
                #expect(try rules(chain, samples) == [])
            }
        }
        let other = try samples.androidKey("c", hash: [1], key: samples.attestKey.publicKey)
        #expect(try rules(other, samples) == ["nonce"])
    }

    /// A wrong Play token and the rule it breaks first.
    struct PlayCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let edit: @Sendable (inout EvidenceSamples.PlayEdit, EvidenceSamples) -> Void

        init(_ rule: String, _ edit: @escaping @Sendable (inout EvidenceSamples.PlayEdit, EvidenceSamples) -> Void) {
            testDescription = rule
            self.edit = edit
        }
    }

    @Test(arguments: [
        PlayCase("token.encryption") { edit, _ in edit.key = [UInt8](repeating: 9, count: 32) },
        PlayCase("token.signature") { edit, samples in edit.signer = samples.appleRoot },
        PlayCase("token.header") { edit, _ in edit.header = JSONObject([("alg", "ES256"), ("kid", "x")]) },
        PlayCase("request_package") { edit, _ in edit.requestPackage = "test.another" },
        PlayCase("timestamp") { edit, _ in edit.age = 301 },
        PlayCase("timestamp") { edit, _ in edit.age = -62 },
        PlayCase("app_verdict") { edit, _ in edit.appVerdict = "UNRECOGNIZED_VERSION" },
        PlayCase("package") { edit, _ in edit.package = "test.another" },
        PlayCase("certificate_digest") { edit, _ in edit.digest = [1] },
        PlayCase("device_verdict") { edit, _ in edit.deviceVerdicts = [] },
        PlayCase("licence") { edit, _ in edit.licence = "UNLICENSED" },
    ])
    func `a Play token with one thing wrong breaks its rule`(item: PlayCase) throws {
        let samples = try EvidenceSamples()
        var edit = EvidenceSamples.PlayEdit()
        item.edit(&edit, samples)
        var policy = AttestationPolicy.seeded
        policy.playLicensed = true
        for isClassic in [true, false] {
            let token = try samples.play("c", hash: hash, isClassic: isClassic, edit)
            #expect(try rules(token, samples, policy: policy).first == item.testDescription)
        }
    }

    @Test func `a good Play token holds, and is bound by nonce or hash and not by both names`() throws {
        let samples = try EvidenceSamples()
        for isClassic in [true, false] {
            #expect(try rules(samples.play("c", hash: hash, isClassic: isClassic), samples) == [])
            #expect(try rules(samples.play("c", hash: [7], isClassic: isClassic), samples) == ["nonce"])
        }
        var object = try #require(try samples.play("c", hash: hash, isClassic: true).object)
        object["format"] = "play-integrity"
        #expect(try rules(.object(object), samples) == ["nonce"])
    }

    @Test func `every cut and every flipped byte of evidence is a fault or the same evidence`() throws {
        let samples = try EvidenceSamples()
        let good = try #require(try samples.appAttest("c", hash: hash)["attestation"]?.string)
        let bytes = try Base64URL.decode(good)
        for length in stride(from: 0, to: bytes.count, by: 37) {
            #expect(!(try verdict(Array(bytes.prefix(length)), samples)))
        }
        // The receipt is not looked into, and the leaf's serial number is nobody's business.
        for index in stride(from: 0, to: bytes.count, by: 11) {
            var flipped = bytes
            flipped[index] ^= 1
            #expect(!(try verdict(flipped, samples)) || isReceipt(index, bytes), "byte \(index)")
        }
    }

    private func verdict(_ bytes: [UInt8], _ samples: EvidenceSamples) throws -> Bool {
        let json: JSON = [
            "format": "apple-appattest", "challenge": "c",
            "key_id": .string(EvidenceSamples.keyID(samples.attestKey.publicKey)),
            "attestation": .string(Base64URL.encode(bytes)),
        ]
        return bytes.isEmpty ? false : try rules(json, samples).isEmpty
    }

    private func isReceipt(_ index: Int, _ bytes: [UInt8]) -> Bool {
        let name = Array("receipt".utf8)
        let start = bytes.indices.first { bytes[$0...].starts(with: name) } ?? 0
        return index == start + name.count + 1
    }
}
