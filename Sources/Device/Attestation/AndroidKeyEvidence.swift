import Crypto
import Encoding

// Android's key attestation as its documentation and the KeyMint interface describe it.

extension EvidenceMaker {
    /// The chain of a key of the phone's, the leaf first, the root last.
    func androidChain(_ binding: EvidenceBinding) throws(CryptoError) -> Evidence.Body {
        guard case .point(let key) = binding.key, case .bytes(let challenge) = binding.bound else { throw .keyKind }
        let authorities = try androidAuthorities()
        let leaf = androidLeaf(key, challenge: challenge, below: authorities[0])
        let sibling = androidLeaf(binding.stranger.publicKey, challenge: entropy.bytes(32), below: authorities[0])
        var certificates = try chain(
            leaf, sibling: (sibling, binding.stranger), below: authorities, includesRoot: true)
        certificates[0] = ended(certificates[0])
        return .chain(certificates)
    }

    /// Who vouches for the key: the lowest first, the root last.
    private func androidAuthorities() throws(CryptoError) -> [TestAuthority] {
        let android = roots.android
        switch (settings.securityLevel, settings.provisioning) {
        case (.software, _): return [android.software, android.root]
        case (.tee, .factory): return [android.batchTEE, android.factoryTEE, android.root]
        case (.strongBox, .factory): return [android.batchStrongBox, android.factoryStrongBox, android.root]
        case (.tee, .remote), (.strongBox, .remote):
            let own = try TestAuthority.provisioned(
                settings.securityLevel == .tee ? "TEE" : "StrongBox", below: android.remoteLower, at: now,
                entropy: entropy)
            return [own, android.remoteLower, android.remoteUpper, android.root]
        }
    }

    private func androidLeaf(
        _ key: P256.PublicKey, challenge: [UInt8], below issuer: TestAuthority
    ) -> X509Template {
        X509Template(
            serial: [1], issuer: issuer.name, subject: X509Template.Name([.commonName: "Android Keystore Key"]),
            // From 1970 to 2048, whatever the time: what the platform gives keys without a validity of their own.
            notBefore: Instant(seconds: 0), notAfter: Instant(seconds: 2_461_449_600), spki: key.spki,
            extensions: [
                .keyUsage(bits: [0]),
                .init(oid: "1.3.6.1.4.1.11129.2.1.17", value: keyDescription(challenge)),
            ])
    }

    private func keyDescription(_ challenge: [UInt8]) -> [UInt8] {
        let level: Int64 =
            switch settings.securityLevel {
            case .software: 0
            case .tee: 1
            case .strongBox: 2
            }
        // Without secure hardware the software answers for everything.
        let (software, hardware) =
            level == 0
            ? (keyProperties + osProperties + appProperties, []) : (appProperties, keyProperties + bootProperties)
        let version = Int64(settings.keyMintVersion)
        return DER.sequence([
            DER.integer(version), DER.enumerated(level), DER.integer(version), DER.enumerated(level),
            DER.octetString(challenge), DER.octetString([]), authorizations(software), authorizations(hardware),
        ])
    }

    private typealias Authorization = (tag: Int, value: [UInt8])

    /// Authorizations stand in the order of their tags.
    private func authorizations(_ list: [Authorization]) -> [UInt8] {
        DER.sequence(list.sorted { $0.tag < $1.tag }.map { DER.explicit($0.tag, $0.value) })
    }

    /// A key on P-256 that signs SHA-256, made here, usable without asking anybody.
    private var keyProperties: [Authorization] {
        [
            (1, DER.set([DER.integer(2)])), (2, DER.integer(3)), (3, DER.integer(256)), (5, DER.set([DER.integer(4)])),
            (10, DER.integer(1)), (503, DER.null), (702, DER.integer(0)),
        ]
    }

    private var osProperties: [Authorization] {
        [(705, DER.integer(Int64(settings.osVersion))), (706, DER.integer(Int64(settings.osPatchLevel)))]
    }

    private var bootProperties: [Authorization] {
        [
            (704, rootOfTrust), (718, DER.integer(Int64(settings.vendorPatchLevel))),
            (719, DER.integer(Int64(settings.bootPatchLevel))),
        ] + osProperties
    }

    private var appProperties: [Authorization] {
        let package = DER.sequence([
            DER.octetString(Array(settings.app.package.utf8)), DER.integer(Int64(settings.app.version)),
        ])
        let id = DER.sequence([
            DER.set([package]), DER.set([DER.octetString(settings.app.certificateDigest)]),
        ])
        var list: [Authorization] = [(701, DER.integer(now.milliseconds)), (709, DER.octetString(id))]
        if settings.keyMintVersion >= 400 {
            list.append((724, DER.octetString(SHA256.hash(Array("understudy modules".utf8)))))
        }
        return list
    }

    private var rootOfTrust: [UInt8] {
        let state: Int64 =
            switch settings.bootState {
            case .verified: 0
            case .selfSigned: 1
            case .unverified: 2
            case .failed: 3
            }
        // A phone that verified nothing has no key to name.
        let key =
            state < 2 ? SHA256.hash(Array("understudy boot key".utf8)) : [UInt8](repeating: 0, count: 32)
        return DER.sequence([
            DER.octetString(key), DER.boolean(settings.bootLocked), DER.enumerated(state),
            DER.octetString(SHA256.hash(Array("understudy boot hash".utf8))),
        ])
    }
}

extension TestAuthority {
    /// The authority a phone gets over the network for its own keys, for a month, of a new key.
    static func provisioned(
        _ level: String, below issuer: TestAuthority, at now: Instant, entropy: Entropy
    ) throws(CryptoError) -> TestAuthority {
        let key = X509Signer.p256(try P256.PrivateKey.generate(entropy))
        let id = Hex.encode(entropy.bytes(16))
        let template = X509Template(
            serial: serial(key.spki), issuer: issuer.name,
            subject: X509Template.Name([.organization: level, .commonName: id]),
            notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 29 * 86_400), spki: key.spki,
            extensions: [
                .basicConstraints(isAuthority: true), .keyUsage(bits: [5]), .subjectKeyIdentifier(spki: key.spki),
                .authorityKeyIdentifier(spki: issuer.key.spki),
                // How many certificates the server gave out lately.
                .init(
                    oid: "1.3.6.1.4.1.11129.2.1.30",
                    value: CBOR.map([.init(.int(1), .int(64))]).serialized()),
            ])
        return try TestAuthority(key, template, signer: issuer.key)
    }
}
