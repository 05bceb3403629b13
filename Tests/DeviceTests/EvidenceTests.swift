import Crypto
import Encoding
import Foundation
import JOSE
import Testing

@testable import Device

@Suite struct EvidenceTests {
    private func reader(_ phone: Handset) -> EvidenceReader {
        var settings = phone.settings
        settings.defect = .none
        return EvidenceReader(
            roots: phone.roots.published, settings: settings, attested: phone.key.publicKey,
            subject: phone.subject.publicKey)
    }

    @Test(arguments: EvidenceFormat.allCases) func `genuine evidence has no fault a strict server finds`(
        format: EvidenceFormat
    ) throws {
        var phone = try Handset()
        let evidence = try phone.evidence(format)
        #expect(reader(phone).faults(evidence) == [])
        #expect(evidence.json["format"]?.string == format.rawValue)
        #expect(evidence.json["challenge"]?.string == Handset.data.challenge)
    }

    /// What a strict server finds wrong: exactly what was asked for.
    private func expected(_ defect: AttestationDefect, _ format: EvidenceFormat) -> Set<String> {
        switch defect {
        case .none: []
        case .wrongRoot: ["x509.untrusted_root"]
        case .leafAsIssuer: ["x509.not_ca"]
        case .expiredLeaf: ["x509.expired"]
        case .staleChallenge: ["challenge"]
        case .wrongChallenge, .rawChallenge: format == .appAttestAssertion ? ["signature"] : ["binding"]
        case .singleHash: ["signature"]
        case .wrongAppId: format.isPlayIntegrity ? ["app", "request package"] : ["app"]
        case .wrongEnvironment: format.isPlayIntegrity ? ["request package"] : ["environment"]
        case .wrongKey: format == .appAttest || format == .androidKey ? ["key"] : ["signature"]
        case .counterRollback: ["counter"]
        case .replayedEvidence: format == .appAttestAssertion ? ["replay", "counter"] : ["replay"]
        case .clonedDevice:
            switch format {
            case .appAttest: ["binding", "key id"]
            case .appAttestAssertion: ["key id"]
            case .androidKey: ["binding", "key"]
            case .playIntegrity, .playIntegrityClassic: ["binding"]
            }
        case .softwareLevel: ["level"]
        case .unlockedBoot: ["locked"]
        case .unverifiedBoot: ["boot"]
        case .unrecognizedVersion: ["recognition"]
        case .noDeviceIntegrity: ["device"]
        case .wrongCertDigest: ["digest"]
        case .truncated, .trailingBytes: format == .androidKey ? ["x509.malformed"] : ["form"]
        }
    }

    @Test(arguments: EvidenceFormat.allCases, AttestationDefect.allCases)
    func `every defect is really there, and alone, or is refused by name`(
        format: EvidenceFormat, defect: AttestationDefect
    ) throws {
        var phone = try Handset()
        let first = try phone.evidence(format)
        guard defect.applies(to: format) else {
            #expect(throws: AttestationError.notApplicable(defect, format)) { try phone.evidence(format, defect) }
            return
        }
        var server = reader(phone)
        // Signed repeatably, the same counter over the same data makes the same bytes: here that is not the point.
        server.seen = defect == .counterRollback ? [] : [first]
        server.counter = 1
        let evidence = try phone.evidence(format, defect)
        #expect(server.faults(evidence) == expected(defect, format))
        // What was wrong once is right again.
        if defect != .staleChallenge { #expect(server.faults(try phone.evidence(format)) == []) }
    }

    @Test func `every defect but none applies to some format and every format has some`() {
        for defect in AttestationDefect.allCases {
            #expect(EvidenceFormat.allCases.contains { defect.applies(to: $0) })
        }
        #expect(AttestationDefect.allCases.count == 22)
    }

    @Test func `a stale challenge is the one the caller remembers, or one that never was`() throws {
        var phone = try Handset()
        #expect(try phone.evidence(.appAttest, .staleChallenge, stale: "of yesterday").challenge == "of yesterday")
        #expect(try phone.evidence(.appAttest, .staleChallenge).challenge != Handset.data.challenge)
    }

    @Test func `the authenticator data have the three shapes of iOS 27 and the one before`() throws {
        let shapes: [(AttestationSettings.Extensions, Int, UInt8, Int, UInt8)] = [
            (.none, 164, 0x40, 37, 0x40), (.mapWithFlag, 226, 0xC0, 99, 0x80), (.mapWithoutFlag, 226, 0x40, 99, 0x40),
        ]
        for (extensions, length, flags, shortLength, shortFlags) in shapes {
            var phone = try Handset()
            phone.settings.extensions = extensions
            let data = try #require(CBOR(parsing: phone.evidence(.appAttest).object)["authData"]?.bytes)
            #expect(data.count == length)
            #expect(data[32] == flags)
            let assertion = try CBOR(parsing: phone.evidence(.appAttestAssertion).object)
            let short = try #require(assertion["authenticatorData"]?.bytes)
            #expect(short.count == shortLength)
            #expect(short[32] == shortFlags)
            if extensions != .none { #expect(Array(data[164...]) == Array(short[37...])) }
        }
    }

    @Test func `counters rise by one, whichever issuer asks, and stay where they roll back`() throws {
        var phone = try Handset()
        func counter(_ evidence: Evidence) throws -> UInt8? {
            try CBOR(parsing: evidence.object)["authenticatorData"]?.bytes?[36]
        }
        #expect(try counter(phone.evidence(.appAttestAssertion)) == 1)
        #expect(try counter(phone.evidence(.appAttestAssertion)) == 2)
        #expect(try counter(phone.evidence(.appAttestAssertion, .counterRollback)) == 2)
        #expect(try counter(phone.evidence(.appAttestAssertion)) == 3)
        phone.install.counter = .max
        #expect(throws: AttestationError.counterExhausted) { try phone.evidence(.appAttestAssertion) }
    }

    @Test func `nothing can be sent again before it was sent, and keys must be given`() throws {
        var phone = try Handset()
        #expect(throws: AttestationError.nothingToReplay(.androidKey)) {
            try phone.evidence(.androidKey, .replayedEvidence)
        }
        phone.settings.defect = .none
        for format in [EvidenceFormat.appAttest, .appAttestAssertion, .androidKey] {
            #expect(throws: AttestationError.missingKey(format)) {
                try Attestor(roots: phone.roots).evidence(
                    EvidenceRequest(format: format, clientData: Handset.data, issuer: "i"), of: phone.install,
                    keys: EvidenceKeys(), settings: phone.settings, at: Handset.now, entropy: phone.entropy)
            }
        }
    }

    @Test func `an install attests until the issuer has taken it, and remembers a bounded number of issuers`() {
        var install = AttestedInstall()
        #expect(install.appAttestFormat(for: "a") == .appAttest)
        install.markAttested(at: "a")
        #expect(install.appAttestFormat(for: "a") == .appAttestAssertion)
        #expect(install.appAttestFormat(for: "b") == .appAttest)
        install.forgetAttestation(at: "a")
        #expect(install.appAttestFormat(for: "a") == .appAttest)
        for number in 0...AttestedInstall.issuerLimit { install.markAttested(at: "\(number)") }
        #expect(install.records.count == AttestedInstall.issuerLimit)
        #expect(install.record(of: "0") == nil)
    }

    @Test func `a challenge alone is bound as each platform binds it`() throws {
        var phone = try Handset()
        let nonce = "bm9uY2Utb2YtYS1zZXJ2ZXI="
        let data = ClientData(challenge: nonce, request: .challengeOnly)
        let leaf = try X509Certificate(der: phone.evidence(.androidKey, data: data).chain[0])
        let value = try #require(leaf.extensionValue("1.3.6.1.4.1.11129.2.1.17"))
        #expect(try DERElement(parsing: value).sequence()[4].octetString() == Array(nonce.utf8))
        for format in [EvidenceFormat.androidKey, .playIntegrity, .playIntegrityClassic] {
            #expect(throws: AttestationError.noDifference(.rawChallenge, format)) {
                try phone.evidence(format, .rawChallenge, data: data)
            }
        }
        let long = ClientData(challenge: String(repeating: "x", count: 501), request: .challengeOnly)
        for format in [EvidenceFormat.androidKey, .playIntegrity, .playIntegrityClassic] {
            let error = #expect(throws: AttestationError.self) { try phone.evidence(format, data: long) }
            #expect(error?.code == "attest.challenge")
        }
        let short = ClientData(challenge: "too short", request: .challengeOnly)
        #expect(throws: AttestationError.self) { try phone.evidence(.playIntegrityClassic, data: short) }
        _ = try phone.evidence(.appAttest, data: long)
    }

    @Test func `chains have the lengths that phones of their kind have`() throws {
        for (level, provisioning, length) in [
            (AttestationSettings.SecurityLevel.tee, AttestationSettings.Provisioning.remote, 5), (.tee, .factory, 4),
            (.strongBox, .remote, 5), (.strongBox, .factory, 4), (.software, .factory, 3), (.software, .remote, 3),
        ] {
            for version in [100, 200, 300, 400] {
                var phone = try Handset()
                phone.settings.securityLevel = level
                phone.settings.provisioning = provisioning
                phone.settings.keyMintVersion = version
                let evidence = try phone.evidence(.androidKey)
                #expect(evidence.chain.count == length)
                #expect(reader(phone).faults(evidence) == (level == .software ? ["level"] : []))
            }
        }
    }
}

@Suite struct AttestationRootsTests {
    @Test func `one seed makes one set of roots and the same evidence, byte for byte`() throws {
        for format in EvidenceFormat.allCases {
            var (one, two, other) = (try Handset(seed: 3), try Handset(seed: 3), try Handset(seed: 4))
            let evidence = try one.evidence(format)
            #expect(try two.evidence(format) == evidence)
            #expect(try other.evidence(format) != evidence)
        }
    }

    @Test func `roots come back from the store the same`() throws {
        let roots = try AttestationRoots.generate(.system)
        let back = try JSONDecoder().decode(AttestationRoots.self, from: JSONEncoder().encode(roots))
        #expect(back.published.appleRoot == roots.published.appleRoot)
        #expect(back.published.androidRoot == roots.published.androidRoot)
        #expect(back.published.receiptRoot == roots.published.receiptRoot)
        #expect(back.published.playDecryptionKey == roots.published.playDecryptionKey)
        #expect(back.published.attesters == roots.published.attesters)
        #expect(back.attesterKeyID == roots.attesterKeyID)
    }

    @Test func `every certificate of the roots says that it is a test, or whose it is not`() throws {
        let published = try AttestationRoots.generate(Entropy(seed: [1])).published
        for pem in [published.appleRoot, published.receiptRoot, published.androidRoot] {
            let root = try X509Certificate.all(pem: pem)[0]
            #expect(root.subject.contains("UNDERSTUDY TEST"))
            #expect(root.subject.contains("NOT APPLE") || root.subject.contains("NOT GOOGLE"))
            #expect(root.isSigned(by: root))
        }
    }

    @Test func `nothing private shows in descriptions`() throws {
        var phone = try Handset()
        let scalar = Hex.encode(try phone.roots.attesterKey.scalar).prefix(12)
        let evidence = try phone.evidence(.appAttestAssertion)
        let keys = EvidenceKeys(appAttest: phone.key, subject: nil, other: phone.other)
        var dumped = ""
        dump(phone.roots, to: &dumped)
        dump(phone.roots.published, to: &dumped)
        dump(evidence, to: &dumped)
        dump(phone.install, to: &dumped)
        dump(keys, to: &dumped)
        let shown = "\(phone.roots) \(phone.roots.published) \(evidence) \(keys) \(phone.install) \(dumped)"
        #expect(!shown.contains(scalar))
        #expect(!shown.contains(phone.roots.published.playDecryptionKey.prefix(12)))
        #expect(!shown.contains(Base64URL.encode(evidence.object).prefix(12)))
    }
}

@Suite struct AttestationSettingsTests {
    @Test func `settings go to JSON and back, each of them`() throws {
        var changed = AttestationSettings()
        let document: JSON = [
            "sending": "always", "android_start": "android-key", "environment": "development",
            "extensions": "mapWithFlag", "key_mint_version": 400, "security_level": "strongBox",
            "provisioning": "factory", "boot_state": "selfSigned", "boot_locked": false, "os_version": 150_000,
            "os_patch_level": 202_501, "vendor_patch_level": 20_250_105, "boot_patch_level": 20_250_105,
            "app_verdict": "UNEVALUATED", "device_verdicts": ["MEETS_VIRTUAL_INTEGRITY"],
            "licensing_verdict": "UNLICENSED",
            "app": [
                "team_id": "TEAMTEAM01", "bundle_id": "a.b", "package": "c.d", "version": 7,
                "certificate_digest": .string(String(repeating: "0f", count: 32)),
            ], "defect": "wrongRoot",
        ]
        try changed.apply(document)
        #expect(changed.json == document)
        for (member, standard) in zip(document.object?.members ?? [], AttestationSettings().json.object?.members ?? [])
        {
            #expect(member.name == standard.name)
            #expect(member.value != standard.value)
        }
        var back = AttestationSettings()
        try back.apply(changed.json)
        #expect(back == changed)
    }

    @Test func `a setting that is not one is refused by its name and changes nothing`() {
        let cases: [(JSON, String)] = [
            (["boot_state": "fine"], "boot_state"), (["boot_locked": 1], "boot_locked"), (["bogus": 1], "bogus"),
            (["key_mint_version": 301], "key_mint_version"), (["os_version": -1], "os_version"),
            (["device_verdicts": ["MEETS_IT"]], "device_verdicts"), (["app": ["package": "a b"]], "app.package"),
            (["app": ["certificate_digest": "00"]], "app.certificate_digest"), (["app": ["x": 1]], "app.x"),
            (["android_start": "apple-appattest"], "android_start"), ([], "attestation"), (["app": 5], "app"),
        ]
        for (json, name) in cases {
            var settings = AttestationSettings()
            let mixed = json.object.map {
                JSON.object([("os_version", 140_000)] + $0.members.map { ($0.name, $0.value) })
            }
            let error = #expect(throws: AttestationSettingFault.self) { try settings.apply(mixed ?? json) }
            #expect(error?.name == name)
            #expect(settings == AttestationSettings())
        }
    }
}
