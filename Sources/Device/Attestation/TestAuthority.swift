import Crypto
import Encoding

/// One authority made here: its key, and its certificate.
struct TestAuthority: Sendable {
    let key: X509Signer
    let certificate: X509Certificate
    private let template: X509Template

    var name: X509Template.Name { template.subject }

    /// From 2020 to the end of 2049, the last year UTCTime has.
    static let validFrom = Instant(seconds: 1_577_836_800)
    static let validUntil = Instant(seconds: 2_524_607_999)

    /// A root, which signs itself.
    init(root key: X509Signer, _ name: X509Template.Name) throws(CryptoError) {
        try self.init(key, name, issuer: name, signer: key, pathLength: nil)
    }

    /// An authority below another.
    init(
        _ key: X509Signer, _ name: X509Template.Name, below issuer: TestAuthority, pathLength: Int?
    ) throws(CryptoError) {
        try self.init(key, name, issuer: issuer.name, signer: issuer.key, pathLength: pathLength)
    }

    private init(
        _ key: X509Signer, _ name: X509Template.Name, issuer: X509Template.Name, signer: X509Signer, pathLength: Int?
    ) throws(CryptoError) {
        let template = X509Template(
            serial: Self.serial(key.spki + signer.spki), issuer: issuer, subject: name, notBefore: Self.validFrom,
            notAfter: Self.validUntil, spki: key.spki,
            extensions: [
                .basicConstraints(isAuthority: true, pathLength: pathLength), .keyUsage(bits: [5, 6]),
                .subjectKeyIdentifier(spki: key.spki), .authorityKeyIdentifier(spki: signer.spki),
            ])
        try self.init(key, template, signer: signer)
    }

    init(_ key: X509Signer, _ template: X509Template, signer: X509Signer) throws(CryptoError) {
        self.key = key
        self.template = template
        certificate = try Self.certificate(try template.signed(by: signer, nonce: .rfc6979))
    }

    /// The same name and key under another authority of the same name as its own.
    func reissued(below issuer: TestAuthority) throws(CryptoError) -> TestAuthority {
        var changed = template
        changed.serial = Self.serial(key.spki + issuer.key.spki)
        changed.extensions[3] = .authorityKeyIdentifier(spki: issuer.key.spki)
        return try TestAuthority(key, changed, signer: issuer.key)
    }

    /// A root of the same name with a new key.
    func impostor(_ entropy: Entropy) throws(CryptoError) -> TestAuthority {
        let key = X509Signer.p384(try P384.PrivateKey.generate(entropy), .sha384)
        return try TestAuthority(root: key, name)
    }

    /// A certificate under this authority.
    func issue(_ template: X509Template, nonce: P256.SigningNonce) throws(CryptoError) -> [UInt8] {
        try template.signed(by: key, nonce: nonce)
    }

    /// Sixteen bytes that look random and are the same for the same keys; the first is 1...127.
    static func serial(_ source: [UInt8]) -> [UInt8] {
        var bytes = Array(SHA256.hash(source).prefix(16))
        bytes[0] = bytes[0] & 0x7F | 1
        return bytes
    }

    private static func certificate(_ der: [UInt8]) throws(CryptoError) -> X509Certificate {
        do throws(X509Error) {
            return try X509Certificate(der: der)
        } catch {
            throw .der
        }
    }
}

/// App Attest's authorities, and those of its receipts, which are others.
struct AppleAuthorities: Sendable {
    let root, authority, receiptRoot: TestAuthority
    let receiptSigner: P256.PrivateKey
    let receiptCertificate: X509Certificate

    init(_ scalars: AttestationRoots.Scalars) throws(CryptoError) {
        func name(_ text: String) -> X509Template.Name {
            X509Template.Name([.commonName: text, .organization: "UNDERSTUDY TEST", .state: "Nowhere"])
        }
        root = try TestAuthority(
            root: .p384(try P384.PrivateKey(scalar: scalars.appleRoot), .sha384),
            name("UNDERSTUDY TEST App Attestation Root - NOT APPLE"))
        // Signs leaves with SHA-256, as Apple's does with its P-384 key.
        authority = try TestAuthority(
            .p384(try P384.PrivateKey(scalar: scalars.appleAuthority), .sha256),
            name("UNDERSTUDY TEST App Attestation CA 1 - NOT APPLE"), below: root, pathLength: 0)
        receiptRoot = try TestAuthority(
            root: .p384(try P384.PrivateKey(scalar: scalars.receiptRoot), .sha384),
            name("UNDERSTUDY TEST Receipt Root - NOT APPLE"))
        receiptSigner = try P256.PrivateKey(scalar: scalars.receiptSigner)
        let spki = receiptSigner.publicKey.spki
        let template = X509Template(
            serial: TestAuthority.serial(spki), issuer: receiptRoot.name,
            subject: name("UNDERSTUDY TEST Application Attestation Fraud Receipt Signing"),
            notBefore: TestAuthority.validFrom, notAfter: TestAuthority.validUntil, spki: spki,
            extensions: [
                .basicConstraints(isAuthority: false), .keyUsage(bits: [0]), .subjectKeyIdentifier(spki: spki),
                .authorityKeyIdentifier(spki: receiptRoot.key.spki),
            ])
        do {
            receiptCertificate = try X509Certificate(der: receiptRoot.issue(template, nonce: .rfc6979))
        } catch {
            throw .der
        }
    }
}

/// The authorities of Android keys, in the shapes phones have.
struct AndroidAuthorities: Sendable {
    let root, software: TestAuthority
    /// A factory's: what a root signs, and below it the key a batch of phones shares.
    let factoryTEE, factoryStrongBox, batchTEE, batchStrongBox: TestAuthority
    /// Remote provisioning's, the upper below the root.
    let remoteUpper, remoteLower: TestAuthority

    init(_ scalars: AttestationRoots.Scalars) throws(CryptoError) {
        let marked = "UNDERSTUDY TEST - NOT GOOGLE"
        func p256(_ scalar: [UInt8]) throws(CryptoError) -> X509Signer { .p256(try P256.PrivateKey(scalar: scalar)) }
        func p384(_ scalar: [UInt8]) throws(CryptoError) -> X509Signer {
            .p384(try P384.PrivateKey(scalar: scalar), .sha384)
        }
        // Factories name what they certify by a serial number, and put the security level in the title.
        func factory(_ key: X509Signer, _ title: String) -> X509Template.Name {
            let serial = Hex.encode(Array(SHA256.hash(key.spki).prefix(16)))
            return X509Template.Name([.unit: marked, .title: title, .serialNumber: serial])
        }
        let top = try TestAuthority(
            root: p384(scalars.androidRoot),
            X509Template.Name([
                .organization: "UNDERSTUDY TEST", .unit: "Android",
                .commonName: "UNDERSTUDY TEST Key Attestation Root - NOT GOOGLE",
            ]))
        root = top
        software = try TestAuthority(
            p256(scalars.software),
            X509Template.Name([
                .organization: "UNDERSTUDY TEST", .unit: "Android",
                .commonName: "UNDERSTUDY TEST Keystore Software Attestation Intermediate",
            ]), below: top, pathLength: 0)
        let keys = (tee: try p384(scalars.factoryTEE), strongBox: try p384(scalars.factoryStrongBox))
        factoryTEE = try TestAuthority(keys.tee, factory(keys.tee, "TEE"), below: top, pathLength: nil)
        factoryStrongBox = try TestAuthority(
            keys.strongBox, factory(keys.strongBox, "StrongBox"), below: top, pathLength: nil)
        let batch = (tee: try p256(scalars.batchTEE), strongBox: try p256(scalars.batchStrongBox))
        batchTEE = try TestAuthority(batch.tee, factory(batch.tee, "TEE"), below: factoryTEE, pathLength: nil)
        batchStrongBox = try TestAuthority(
            batch.strongBox, factory(batch.strongBox, "StrongBox"), below: factoryStrongBox, pathLength: nil)
        func remote(_ name: String) -> X509Template.Name {
            X509Template.Name([.organization: "Google LLC", .unit: marked, .commonName: name])
        }
        remoteUpper = try TestAuthority(p384(scalars.remoteUpper), remote("Droid CA2"), below: top, pathLength: nil)
        remoteLower = try TestAuthority(
            p384(scalars.remoteLower), remote("Droid CA3"), below: remoteUpper, pathLength: nil)
    }
}
