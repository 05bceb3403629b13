import Crypto
import Encoding

// App Attest as Apple documents it ("Validating apps that connect to your server") and as published samples have it.

extension EvidenceMaker {
    /// An attestation object: a new key of an install, vouched for.
    func attestation(_ binding: EvidenceBinding) throws(CryptoError) -> Evidence.Body {
        guard case .pair(let key) = binding.key, case .bytes(let hash) = binding.bound else { throw .keyKind }
        let named = defect == .wrongKey ? binding.stranger.publicKey : key.publicKey
        let data = authenticatorData(credential: named, id: key.publicKey.appAttestKeyID)
        let nonce = SHA256.hash(data + hash)
        let leaf = appAttestLeaf(key.publicKey, nonce: nonce)
        let sibling = appAttestLeaf(binding.stranger.publicKey, nonce: SHA256.hash(nonce))
        let chain = try chain(
            leaf, sibling: (sibling, binding.stranger), below: [roots.apple.authority, roots.apple.root],
            includesRoot: false)
        let receipt = try receipt(leaf: chain[0], clientDataHash: hash)
        let object = CBOR.map([
            ("fmt", .text("apple-appattest")),
            (
                "attStmt",
                .map([("x5c", .array(chain.map { .bytes($0) })), ("receipt", .bytes(receipt))])
            ),
            ("authData", .bytes(data)),
        ])
        return .appAttest(keyID: binding.keyID, object: ended(object.serialized()))
    }

    /// An assertion: a signature by an attested key, with its counter.
    func assertion(_ binding: EvidenceBinding, counter: UInt32) throws(CryptoError) -> Evidence.Body {
        guard case .pair(let key) = binding.key, case .bytes(let hash) = binding.bound else { throw .keyKind }
        // Real phones announce a credential here, too, and send none.
        let flags: UInt8 = settings.extensions == .mapWithFlag ? 0x80 : 0x40
        let data = rpIDHash + [flags] + bigEndian(counter) + extensionMap
        let nonce = SHA256.hash(data + hash)
        // The nonce is the message, which ECDSA hashes once more.
        let raw =
            defect == .singleHash
            ? try key.sign(digest: nonce, nonce: entropy.signingNonce)
            : try key.sign(nonce, nonce: entropy.signingNonce)
        let object = CBOR.map([
            ("signature", .bytes(try P256.ECDSASignature.der(raw: raw))), ("authenticatorData", .bytes(data)),
        ])
        return .appAttest(keyID: binding.keyID, object: ended(object.serialized()))
    }

    private var rpIDHash: [UInt8] { SHA256.hash(Array(settings.app.appID.utf8)) }

    private func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private func authenticatorData(credential: P256.PublicKey, id: [UInt8]) -> [UInt8] {
        let flags: UInt8 = settings.extensions == .mapWithFlag ? 0xC0 : 0x40
        let environment =
            switch settings.environment {
            case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
            case .development: Array("appattestdevelop".utf8)
            }
        let key = CBOR.map([
            .init(.int(1), .int(2)), .init(.int(3), .int(-7)), .init(.int(-1), .int(1)),
            .init(.int(-2), .bytes(credential.x)), .init(.int(-3), .bytes(credential.y)),
        ])
        return rpIDHash + [flags] + bigEndian(0) + environment + [0, UInt8(id.count)] + id + key.serialized()
            + extensionMap
    }

    /// What iOS 27 puts behind everything else.
    private var extensionMap: [UInt8] {
        guard settings.extensions != .none else { return [] }
        // App Store, or development; a little-endian number.
        let category: UInt8 = settings.environment == .production ? 4 : 3
        return CBOR.map([
            ("apple_bundle_version_01", .text(String(settings.app.version))),
            ("apple_validation_category_01", .bytes([category, 0, 0, 0])),
        ]).serialized()
    }

    private func appAttestLeaf(_ key: P256.PublicKey, nonce: [UInt8]) -> X509Template {
        let spki = key.spki
        return X509Template(
            serial: serial(), issuer: roots.apple.authority.name,
            subject: X509Template.Name([
                .commonName: Hex.encode(key.appAttestKeyID), .unit: "AAA Certification",
                .organization: "UNDERSTUDY TEST", .state: "Nowhere",
            ]),
            notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 2 * 86_400), spki: spki,
            extensions: [
                .basicConstraints(isAuthority: false), .keyUsage(bits: [0, 1, 2, 3]),
                .init(oid: "2.5.29.37", value: DER.sequence([DER.oid("1.2.840.113635.100.4.24")])),
                .init(
                    oid: "1.2.840.113635.100.8.5",
                    value: DER.sequence([DER.explicit(1204, DER.octetString(Array(settings.app.appID.utf8)))])),
                .init(
                    oid: "1.2.840.113635.100.8.2", value: DER.sequence([DER.explicit(1, DER.octetString(nonce))])),
            ])
    }
}
