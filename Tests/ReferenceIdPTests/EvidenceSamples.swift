import Crypto
import Encoding
import JOSE

@testable import ReferenceIdP

/// A maker of evidence written from the formats, for tests of the verifier that need no phone.
///
/// Every part can be made wrong on purpose.
final class EvidenceSamples {
    /// What may be wrong with an App Attest object.
    struct AppAttestEdit {
        var root: P256.PrivateKey?
        var caIsAuthority = true
        var leafEnd: Int64 = 86_400
        var appID = "UNDERSTUDY.test.understudy.app"
        var aaguid = Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        var flags: UInt8 = 0x40
        var counter: UInt8 = 0
        var extensions: CBOR?
        var trailing: [UInt8] = []
        var behind: [UInt8] = []
        var receipt: [UInt8] = [1]
        var leafKey: P256.PrivateKey?
        var nonceHead: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]
        var format = "apple-appattest"
        var order = ["fmt", "attStmt", "authData"]
    }

    /// What may be wrong with an Android chain.
    struct AndroidEdit {
        var root: P256.PrivateKey?
        var caIsAuthority = true
        var level: Int64 = 1
        var mintLevel: Int64?
        var version: Int64 = 300
        var purpose: [Int64] = [2]
        var origin: Int64 = 0
        var locked = true
        var bootState: Int64 = 0
        var package = "test.understudy.app"
        var digest = [UInt8](repeating: 0x5A, count: 32)
        var patch: Int64 = 202_609
        var unknownTag: Int?
        var length = 4
        var extensionOnIssuer = false
    }

    /// What may be wrong with a Play Integrity token.
    struct PlayEdit {
        var key: [UInt8]?
        var signer: P256.PrivateKey?
        var header = JSONObject([("alg", "ES256")])
        var requestPackage = "test.understudy.app"
        var package = "test.understudy.app"
        var digest = [UInt8](repeating: 0x5A, count: 32)
        var age: Int64 = 1
        var appVerdict = "PLAY_RECOGNIZED"
        var deviceVerdicts: [JSON] = ["MEETS_DEVICE_INTEGRITY"]
        var licence = "LICENSED"
    }

    let entropy: Entropy
    let now: Instant
    let appleRoot: P256.PrivateKey
    let androidRoot: P256.PrivateKey
    let attestKey: P256.PrivateKey
    let playKey: [UInt8]
    let playSigner: P256.PrivateKey
    let attester: P256.PrivateKey
    private let rootName = X509Template.Name([.commonName: "Test root"])
    private let caName = X509Template.Name([.organization: "Test", .commonName: "Test CA 1"])
    private let leafName = X509Template.Name([.commonName: "Leaf"])

    init(now: Instant = World.start, seed: UInt8 = 91) throws {
        self.now = now
        let entropy = Entropy(seed: [seed])
        self.entropy = entropy
        appleRoot = try P256.PrivateKey.generate(entropy)
        androidRoot = try P256.PrivateKey.generate(entropy)
        attestKey = try P256.PrivateKey.generate(entropy)
        playSigner = try P256.PrivateKey.generate(entropy)
        attester = try P256.PrivateKey.generate(entropy)
        playKey = entropy.bytes(32)
    }

    /// Whom a server must trust to take these samples.
    func trust() throws -> AttestationTrust {
        AttestationTrust(
            appleRoots: [try root(appleRoot)], androidRoots: [try root(androidRoot)], playDecryptionKey: playKey,
            playVerificationKey: playSigner.publicKey,
            attesters: JWKSet([.init(keyID: "attester-1", key: .p256(attester.publicKey))]))
    }

    func root(_ key: P256.PrivateKey) throws -> X509Certificate {
        try X509Certificate(
            der: certificate(rootName, key.publicKey, by: key, rootName, isAuthority: true, end: 86_400 * 3650))
    }

    private func certificate(
        _ subject: X509Template.Name, _ key: P256.PublicKey, by signer: P256.PrivateKey, _ issuer: X509Template.Name,
        isAuthority: Bool, end: Int64 = 86_400 * 3650, more: [X509Certificate.Extension] = []
    ) throws -> [UInt8] {
        let template = X509Template(
            serial: [1] + entropy.bytes(8), issuer: issuer, subject: subject,
            notBefore: now.adding(seconds: -86_400 * 2),
            notAfter: now.adding(seconds: end), spki: key.spki,
            extensions: [.basicConstraints(isAuthority: isAuthority), .keyUsage(bits: isAuthority ? [5] : [0])] + more)
        return try template.signed(by: .p256(signer), nonce: .rfc6979)
    }

    static func keyID(_ key: P256.PublicKey) -> String { Base64.encode(SHA256.hash(key.x963)) }

    // MARK: App Attest

    func appAttest(
        _ challenge: String, hash: [UInt8], key: P256.PrivateKey? = nil, _ edit: AppAttestEdit = AppAttestEdit()
    ) throws -> JSON {
        let key = key ?? attestKey
        let cose: CBOR = .map([
            .init(.int(1), .int(2)), .init(.int(3), .int(-7)), .init(.int(-1), .int(1)),
            .init(.int(-2), .bytes(key.publicKey.x)), .init(.int(-3), .bytes(key.publicKey.y)),
        ])
        var authData = SHA256.hash(Array(edit.appID.utf8)) + [edit.flags, 0, 0, 0, edit.counter] + edit.aaguid
        authData += [0, 32] + SHA256.hash(key.publicKey.x963) + cose.serialized()
        authData += edit.extensions?.serialized() ?? []
        authData += edit.trailing
        let ca = try P256.PrivateKey.generate(entropy)
        let nonce = X509Certificate.Extension(
            oid: "1.2.840.113635.100.8.2", value: edit.nonceHead + SHA256.hash(authData + hash))
        let leaf = try certificate(
            leafName, (edit.leafKey ?? key).publicKey, by: ca, caName, isAuthority: false, end: edit.leafEnd,
            more: [nonce])
        let issuer = try certificate(
            caName, ca.publicKey, by: edit.root ?? appleRoot, rootName, isAuthority: edit.caIsAuthority)
        let parts: [String: CBOR] = [
            "fmt": .text(edit.format), "authData": .bytes(authData),
            "attStmt": .map([("x5c", .array([.bytes(leaf), .bytes(issuer)])), ("receipt", .bytes(edit.receipt))]),
        ]
        let object = CBOR.map(edit.order.map { ($0, parts[$0] ?? .null) })
        return .object([
            ("format", "apple-appattest"), ("challenge", .string(challenge)),
            ("key_id", .string(Self.keyID(key.publicKey))),
            ("attestation", .string(Base64URL.encode(object.serialized() + edit.behind))),
        ])
    }

    func assertion(
        _ challenge: String, hash: [UInt8], counter: UInt8, key: P256.PrivateKey? = nil, signer: P256.PrivateKey? = nil,
        appID: String = "UNDERSTUDY.test.understudy.app", isSingle: Bool = false
    ) throws -> JSON {
        let key = key ?? attestKey
        let authData = SHA256.hash(Array(appID.utf8)) + [0x40, 0, 0, 0, counter]
        let nonce = SHA256.hash(authData + hash)
        let signer = signer ?? key
        let raw =
            isSingle ? try signer.sign(digest: nonce, nonce: .rfc6979) : try signer.sign(nonce, nonce: .rfc6979)
        let object = CBOR.map([
            ("signature", .bytes(try P256.ECDSASignature.der(raw: raw))), ("authenticatorData", .bytes(authData)),
        ])
        return .object([
            ("format", "apple-appattest-assertion"), ("challenge", .string(challenge)),
            ("key_id", .string(Self.keyID(key.publicKey))),
            ("assertion", .string(Base64URL.encode(object.serialized()))),
        ])
    }

    // MARK: Android

    func androidKey(
        _ challenge: String, hash: [UInt8], key: P256.PublicKey, _ edit: AndroidEdit = AndroidEdit()
    ) throws -> JSON {
        let attestation = try P256.PrivateKey.generate(entropy)
        let intermediate = try P256.PrivateKey.generate(entropy)
        let description = X509Certificate.Extension(
            oid: "1.3.6.1.4.1.11129.2.1.17", value: keyDescription(hash, edit))
        let attestationName = X509Template.Name([.commonName: "Attestation"])
        let leaf = try certificate(
            leafName, key, by: attestation, attestationName, isAuthority: false, more: [description])
        let second = try certificate(
            attestationName, attestation.publicKey, by: intermediate, caName, isAuthority: edit.caIsAuthority,
            more: edit.extensionOnIssuer ? [description] : [])
        let third = try certificate(
            caName, intermediate.publicKey, by: edit.root ?? androidRoot, rootName, isAuthority: true)
        let chain = [leaf, second, third, try root(edit.root ?? androidRoot).der].prefix(edit.length)
        return .object([
            ("format", "android-key"), ("challenge", .string(challenge)),
            ("x5c", .array(chain.map { .string(Base64.encode($0)) })),
        ])
    }

    private func keyDescription(_ hash: [UInt8], _ edit: AndroidEdit) -> [UInt8] {
        let application = DER.sequence([
            DER.set([DER.sequence([DER.octetString(Array(edit.package.utf8)), DER.integer(7)])]),
            DER.set([DER.octetString(edit.digest)]),
        ])
        let root = DER.sequence([
            DER.octetString([UInt8](repeating: 1, count: 32)), DER.boolean(edit.locked),
            DER.enumerated(edit.bootState), DER.octetString([UInt8](repeating: 2, count: 32)),
        ])
        var hardware = [
            DER.explicit(1, DER.set(edit.purpose.map { DER.integer($0) })), DER.explicit(2, DER.integer(3)),
            DER.explicit(3, DER.integer(256)), DER.explicit(5, DER.set([DER.integer(4)])),
            DER.explicit(10, DER.integer(1)), DER.explicit(503, DER.null), DER.explicit(702, DER.integer(edit.origin)),
            DER.explicit(704, root), DER.explicit(705, DER.integer(160_000)),
            DER.explicit(706, DER.integer(edit.patch)),
        ]
        if let tag = edit.unknownTag { hardware.append(DER.explicit(tag, DER.null)) }
        return DER.sequence([
            DER.integer(edit.version), DER.enumerated(edit.level), DER.integer(edit.version),
            DER.enumerated(edit.mintLevel ?? edit.level), DER.octetString(hash), DER.octetString([]),
            DER.sequence([
                DER.explicit(701, DER.integer(now.milliseconds)), DER.explicit(709, DER.octetString(application)),
            ]),
            DER.sequence(hardware),
        ])
    }

    // MARK: Play Integrity

    func play(
        _ challenge: String, hash: [UInt8], isClassic: Bool = false, _ edit: PlayEdit = PlayEdit()
    ) throws -> JSON {
        let text = Base64URL.encode(hash)
        let bound: (String, JSON) = isClassic ? ("nonce", .string(text + "=")) : ("requestHash", .string(text))
        let payload: JSON = .object([
            (
                "requestDetails",
                .object([
                    ("requestPackageName", .string(edit.requestPackage)), bound,
                    ("timestampMillis", .string("\(now.milliseconds - edit.age * 1000)")),
                ])
            ),
            (
                "appIntegrity",
                [
                    "appRecognitionVerdict": .string(edit.appVerdict), "packageName": .string(edit.package),
                    "certificateSha256Digest": [.string(Base64URL.encode(edit.digest))], "versionCode": "7",
                ]
            ),
            ("deviceIntegrity", ["deviceRecognitionVerdict": .array(edit.deviceVerdicts)]),
            ("accountDetails", ["appLicensingVerdict": .string(edit.licence)]),
        ])
        let jws = try JWS.sign(
            header: edit.header, payload: payload.serialized(), key: edit.signer ?? playSigner, nonce: .rfc6979)
        let token = try JWE.encrypt(Array(jws.utf8), key: edit.key ?? playKey, entropy: entropy)
        return .object([
            ("format", .string(isClassic ? "play-integrity-classic" : "play-integrity")),
            ("challenge", .string(challenge)), ("token", .string(token)),
        ])
    }
}
