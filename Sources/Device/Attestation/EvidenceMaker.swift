import Crypto
import Encoding

/// Makes one piece of evidence: the settings after what is wrong on purpose, the time, and chance.
struct EvidenceMaker {
    let roots: AttestationRoots
    let settings: AttestationSettings
    let now: Instant
    let entropy: Entropy

    var defect: AttestationDefect { settings.defect }

    init(
        roots: AttestationRoots, settings: AttestationSettings, now: Instant, entropy: Entropy
    ) throws(AttestationError) {
        try settings.check()
        self.roots = roots
        self.settings = settings.withDefect
        self.now = now
        self.entropy = entropy
    }

    /// A chain, the leaf first: a certificate below authorities, the lowest first and the root last.
    ///
    /// `sibling` is a leaf of another install, of this key.
    func chain(
        _ template: X509Template, sibling: (template: X509Template, key: P256.PrivateKey),
        below authorities: [TestAuthority], includesRoot: Bool
    ) throws(CryptoError) -> [[UInt8]] {
        var authorities = authorities
        if defect == .wrongRoot, authorities.count > 1 {
            let impostor = try authorities[authorities.count - 1].impostor(entropy)
            let below = try authorities[authorities.count - 2].reissued(below: impostor)
            authorities.replaceSubrange((authorities.count - 2)..., with: [below, impostor])
        }
        var leaf = template
        if defect == .expiredLeaf {
            leaf.notBefore = now.adding(seconds: -10 * 86_400)
            leaf.notAfter = now.adding(seconds: -7 * 86_400)
        }
        let above = (includesRoot ? authorities : Array(authorities.dropLast())).map(\.certificate.der)
        let nonce = entropy.signingNonce
        if defect == .leafAsIssuer {
            leaf.issuer = sibling.template.subject
            let genuine = try authorities[0].issue(sibling.template, nonce: nonce)
            return [try leaf.signed(by: .p256(sibling.key), nonce: nonce), genuine] + above
        }
        return [try authorities[0].issue(leaf, nonce: nonce)] + above
    }

    /// Bytes with the end gone, or with more behind it, where that is the defect.
    func ended(_ bytes: [UInt8]) -> [UInt8] {
        switch defect {
        case .truncated: Array(bytes.dropLast(3))
        case .trailingBytes: bytes + [0, 0, 0]
        default: bytes
        }
    }

    /// A positive serial number of sixteen bytes.
    func serial() -> [UInt8] {
        var bytes = entropy.bytes(16)
        bytes[0] = bytes[0] & 0x7F | 1
        return bytes
    }
}

extension AttestationSettings {
    /// Throws `AttestationError.setting` for the first that no phone has.
    fileprivate func check() throws(AttestationError) {
        guard Self.keyMintVersions.contains(keyMintVersion) else {
            throw .setting(name: "key_mint_version", rule: "one of 100, 200, 300, 400, not \(keyMintVersion)")
        }
        guard app.certificateDigest.count == 32 else {
            throw .setting(name: "certificate_digest", rule: "32 bytes, not \(app.certificateDigest.count)")
        }
        let numbers = [
            ("os_version", osVersion), ("os_patch_level", osPatchLevel), ("vendor_patch_level", vendorPatchLevel),
            ("boot_patch_level", bootPatchLevel), ("version", app.version),
        ]
        for (name, number) in numbers where !(0...Int(Int32.max)).contains(number) {
            throw .setting(name: name, rule: "0...\(Int32.max), not \(number)")
        }
        let texts = [("team_id", app.teamID), ("bundle_id", app.bundleID), ("package", app.package)]
        for (name, text) in texts
        where !(1...255).contains(text.utf8.count) || !text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw .setting(name: name, rule: "1 to 255 characters of ASCII without blanks")
        }
    }

    /// The settings that the defect makes of these.
    fileprivate var withDefect: AttestationSettings {
        var changed = self
        switch defect {
        case .wrongAppId:
            changed.app.bundleID += ".other"
            changed.app.package += ".other"
        case .wrongEnvironment: changed.environment = environment == .production ? .development : .production
        case .softwareLevel: changed.securityLevel = .software
        case .unlockedBoot: changed.bootLocked = false
        case .unverifiedBoot: changed.bootState = .unverified
        case .unrecognizedVersion: changed.appVerdict = .unrecognizedVersion
        case .noDeviceIntegrity: changed.deviceVerdicts = []
        case .wrongCertDigest: changed.app.certificateDigest = SHA256.hash(app.certificateDigest)
        default: break
        }
        return changed
    }
}
