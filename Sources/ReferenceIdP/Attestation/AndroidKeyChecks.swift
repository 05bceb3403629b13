import Crypto
import Encoding
import JOSE

extension EvidenceLook {
    /// An Android key attestation chain.
    mutating func androidKey(_ der: [[UInt8]]) throws(EvidenceUnreadable) {
        try found.need(
            "x5c", "\(der.count) certificates", "chain.length", "3 to \(X509Chain.lengthLimit)",
            (3...X509Chain.lengthLimit).contains(der.count))
        let certificates = try certificates(der)
        let leaf = certificates[0]
        let isRooted = certificates.last?.isSelfIssued ?? false
        found.note(
            "root", certificates.last?.subject ?? "", "chain.root", "a self-issued certificate at the end", isRooted)
        chain(certificates, roots: expected.trust.androidRoots)
        // A key attested by an attested key is nobody's word: the extension belongs to the leaf alone.
        let others = certificates.dropFirst().filter { $0.extensionValue(KeyDescription.oid) != nil }
        found.note(
            "extension above the leaf", "\(others.count)", "chain.extension", "on the leaf alone", others.isEmpty)
        leafKey(leaf)
        guard let value = leaf.extensionValue(KeyDescription.oid) else {
            return try found.missing("key description", "key_description", "the extension \(KeyDescription.oid)")
        }
        let wanted = "the extension's schema, each tag known, once and in order"
        let description = try found.read("key description", "key_description", wanted) { () throws(DERError) in
            try KeyDescription(value)
        }
        let unknown = description.software.unknownTags + description.hardware.unknownTags
        found.note(
            "authorization tags",
            (description.software.tags + description.hardware.tags).map(String.init).joined(separator: " "),
            "key_description", wanted, unknown.isEmpty)
        judge(description)
    }

    private mutating func leafKey(_ leaf: X509Certificate) {
        let thumbprint = leaf.p256PublicKey.map { JWK.p256($0).thumbprint }
        facts.identity = SHA256.hash(leaf.spki)
        let wanted = expected.binding?.keyThumbprint
        found.note(
            "leaf key", thumbprint ?? "no P-256 key", "key", "the key the request is about",
            thumbprint == nil ? false : wanted.map { $0 == thumbprint })
    }

    private mutating func judge(_ description: KeyDescription) {
        version(description)
        levels(description)
        let challenge = description.challenge
        found.note(
            "attestationChallenge", challenge.hex, "nonce", "the hash of the client data",
            expected.binding.map { $0.attestationChallenge == challenge })
        facts.identity = SHA256.hash(facts.identity + challenge)
        found.note(
            "uniqueId", "\(description.uniqueID.count) bytes", "unique_id", "empty", description.uniqueID.isEmpty)
        use(description)
        boot(description)
        patch(description)
        application(description)
    }

    /// Keymaster's schemas, under 100, lack what is judged here and are refused.
    private mutating func version(_ description: KeyDescription) {
        let version = description.version
        found.note(
            "attestationVersion", "\(version)", "version", "100, 200, 300 or 400",
            [100, 200, 300, 400].contains(version))
        found.note(
            "keyMintVersion", "\(description.keyMintVersion)", "version", "the same",
            description.keyMintVersion == version)
        guard description.software[724] != nil || description.hardware[724] != nil else { return }
        found.note("moduleHash", "present", "version", "in version 400 alone", version >= 400)
    }

    private mutating func levels(_ description: KeyDescription) {
        let names = AttestationPolicy.Level.allCases
        let level = names.first { $0.number == description.level }
        let minimum = expected.policy?.minimumLevel
        found.note(
            "attestationSecurityLevel", level?.rawValue ?? "\(description.level)", "level",
            "\(minimum?.rawValue ?? "software") or safer",
            level == nil ? false : minimum.map { description.level >= $0.number })
        found.note(
            "keyMintSecurityLevel", "\(description.keyMintLevel)", "level", "the same",
            description.keyMintLevel == description.level)
    }

    private mutating func use(_ description: KeyDescription) {
        let purposes =
            (try? description.enforced(1)?.set().map { element throws(DERError) in try element.integer() }) ?? []
        found.note(
            "purpose", purposes.map(String.init).joined(separator: " "), "purpose", "2 (sign), perhaps 3 (verify)",
            purposes.contains(2) && purposes.allSatisfy { $0 == 2 || $0 == 3 })
        number("algorithm", description.enforced(2), "key_parameters", "3 (EC)") { $0 == 3 }
        number("keySize", description.enforced(3), "key_parameters", "256") { $0 == 256 }
        let digests =
            (try? description.enforced(5)?.set().map { element throws(DERError) in try element.integer() }) ?? []
        found.note(
            "digest", digests.map(String.init).joined(separator: " "), "key_parameters", "4 (SHA-256)",
            digests.contains(4))
        number("ecCurve", description.enforced(10), "key_parameters", "1 (P-256)") { $0 == 1 }
        number("origin", description.enforced(702), "origin", "0 (generated)") { $0 == 0 }
    }

    private mutating func number(
        _ name: String, _ element: DERElement?, _ rule: String, _ wanted: String, _ holds: (Int64) -> Bool
    ) {
        let value = try? element?.integer()
        found.note(name, value.map { "\($0)" } ?? "missing", rule, wanted, value.map(holds) ?? false)
    }

    private mutating func boot(_ description: KeyDescription) {
        let demands = expected.policy.map { $0.boot == .verified }
        guard let root = description.hardware[704].flatMap({ try? RootOfTrust($0) }) else {
            found.note("rootOfTrust", "missing or malformed", "boot.root_of_trust", "present", demands.map(!))
            return
        }
        found.note(
            "verifiedBootKey", root.key.hex, "boot.root_of_trust", "32 bytes", root.key.count == 32)
        found.note(
            "verifiedBootHash", root.hash.hex, "boot.root_of_trust", "32 bytes", root.hash.count == 32)
        found.note(
            "deviceLocked", "\(root.isLocked)", "boot.locked", "true", demands.flatMap { $0 ? root.isLocked : nil })
        let state = RootOfTrust.states.indices.contains(Int(root.state)) ? RootOfTrust.states[Int(root.state)] : "?"
        found.note(
            "verifiedBootState", state, "boot.state", "verified", demands.flatMap { $0 ? root.state == 0 : nil })
    }

    private mutating func patch(_ description: KeyDescription) {
        let level = try? description.enforced(706)?.integer()
        let minimum = expected.policy?.minimumPatch
        found.note(
            "osPatchLevel", level.map { "\($0)" } ?? "missing", "patch", minimum.map { "\($0) or later" } ?? "any",
            minimum.map { (level ?? 0) >= $0 })
    }

    private mutating func application(_ description: KeyDescription) {
        let wanted = "the id of an app, once, among what software enforces"
        guard let element = description.software[709], let application = try? AttestedApplication(element) else {
            return found.note("attestationApplicationId", "missing or malformed", "application_id", wanted, false)
        }
        let apps = expected.policy?.androidApps
        let app = apps?.first { application.packages == [$0.package] }
        found.note(
            "packages", application.packages.joined(separator: " "), "package", Self.packages(apps),
            apps == nil ? nil : app != nil)
        found.note(
            "certificate digests", application.digests.map(\.hex).joined(separator: " "), "certificate_digest",
            "those of the app",
            app.map { app in
                !application.digests.isEmpty && application.digests.allSatisfy(app.certificateDigests.contains)
            })
    }

    /// The packages a tenant expects, in words.
    static func packages(_ apps: [AttestationPolicy.AndroidApp]?) -> String {
        guard let apps else { return "the app's package" }
        return apps.isEmpty ? "a package, and the tenant has none" : apps.map(\.package).joined(separator: " or ")
    }
}
