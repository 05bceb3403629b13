import Crypto
import Encoding
import Testing

/// A small authority: a root, authorities below it, and leaves, all made here.
struct PaperMill {
    static let noon = Instant(seconds: 1_796_040_000)

    let entropy: Entropy
    let root: X509Signer
    let middle: X509Signer
    let leafKey: P256.PrivateKey
    var rootTemplate: X509Template
    var middleTemplate: X509Template
    var leafTemplate: X509Template

    init(seed: UInt8 = 1) throws {
        let entropy = Entropy(seed: [seed])
        self.entropy = entropy
        root = .p384(try P384.PrivateKey.generate(entropy), .sha384)
        middle = .p384(try P384.PrivateKey.generate(entropy), .sha256)
        leafKey = try P256.PrivateKey.generate(entropy)
        let rootName = X509Template.Name([.country: "ZZ", .commonName: "Mill Root"])
        let middleName = X509Template.Name([.organization: "Mill", .commonName: "Middle"])
        rootTemplate = Self.template(1, rootName, rootName, root.spki)
        rootTemplate.extensions = [.basicConstraints(isAuthority: true), .keyUsage(bits: [5, 6])]
        middleTemplate = Self.template(2, rootName, middleName, middle.spki)
        middleTemplate.extensions = [.basicConstraints(isAuthority: true, pathLength: 0), .keyUsage(bits: [5])]
        leafTemplate = Self.template(3, middleName, X509Template.Name([.commonName: "Leaf, é"]), leafKey.publicKey.spki)
        leafTemplate.extensions = [.basicConstraints(isAuthority: false), .keyUsage(bits: [0])]
    }

    static func template(
        _ serial: UInt8, _ issuer: X509Template.Name, _ subject: X509Template.Name, _ spki: [UInt8]
    ) -> X509Template {
        X509Template(
            serial: [serial], issuer: issuer, subject: subject, notBefore: noon.adding(seconds: -3600),
            notAfter: noon.adding(seconds: 3600), spki: spki, extensions: [])
    }

    func make(_ template: X509Template, by signer: X509Signer) throws -> X509Certificate {
        try X509Certificate(der: template.signed(by: signer, nonce: .rfc6979))
    }

    var rootCertificate: X509Certificate { get throws { try make(rootTemplate, by: root) } }

    /// Leaf, middle.
    func chain() throws -> [X509Certificate] {
        [try make(leafTemplate, by: middle), try make(middleTemplate, by: root)]
    }

    func verify(
        _ chain: [X509Certificate], at now: Instant = noon
    ) throws -> X509Chain {
        try X509Chain.verify(leafFirst: chain, anchors: [rootCertificate], at: now)
    }
}

@Suite struct X509Tests {
    @Test func `a certificate made here is read as it was meant`() throws {
        let mill = try PaperMill()
        let leaf = try mill.chain()[0]
        #expect(leaf.subject == "CN=Leaf\\, é")
        #expect(leaf.issuer == "CN=Middle,O=Mill")
        #expect(leaf.serial == [3])
        #expect(leaf.notBefore == PaperMill.noon.adding(seconds: -3600))
        #expect(leaf.notAfter == PaperMill.noon.adding(seconds: 3600))
        #expect(leaf.p256PublicKey == mill.leafKey.publicKey)
        #expect(leaf.keyUsage == .digitalSignature)
        #expect(leaf.basicConstraints?.isAuthority == false)
        #expect(leaf.signatureAlgorithm == "ecdsa-with-SHA256")
        #expect(leaf.extensions.map(\.oid) == ["2.5.29.19", "2.5.29.15"])
        #expect(leaf.extensions.map(\.isCritical) == [true, true])
        #expect(leaf.extensionValue("2.5.29.15") == DER.namedBits([0]))
        let middle = try mill.chain()[1]
        #expect(middle.basicConstraints?.isAuthority == true)
        #expect(middle.basicConstraints?.pathLength == 0)
        #expect(middle.p256PublicKey == nil)
        #expect(middle.signatureAlgorithm == "ecdsa-with-SHA384")
        #expect(try X509Certificate.all(pem: leaf.pem + middle.pem) == [leaf, middle])
        #expect(try mill.rootCertificate.isSelfIssued)
    }

    @Test func `the same seed makes the same bytes`() throws {
        #expect(try PaperMill(seed: 9).chain() == PaperMill(seed: 9).chain())
        #expect(try PaperMill(seed: 9).chain() != PaperMill(seed: 8).chain())
    }

    @Test func `a chain is good with and without its root, and to the last second`() throws {
        let mill = try PaperMill()
        #expect(try mill.verify(mill.chain()).leaf.subject.hasPrefix("CN=Leaf"))
        #expect(try mill.verify(mill.chain() + [mill.rootCertificate]).anchor == mill.rootCertificate)
        _ = try mill.verify(mill.chain(), at: PaperMill.noon.adding(seconds: 3600))
        _ = try mill.verify(mill.chain(), at: PaperMill.noon.adding(seconds: -3600))
        _ = try mill.verify([mill.rootCertificate])
    }

    private func refusal(_ change: (inout PaperMill) throws -> [X509Certificate]) throws -> String? {
        var mill = try PaperMill()
        let chain = try change(&mill)
        let changed = mill
        return #expect(throws: X509Error.self) { try changed.verify(chain) }?.code
    }

    @Test func `each fault of a chain is refused for its own cause`() throws {
        #expect(try refusal { _ in [] } == "x509.empty")
        #expect(
            try refusal { mill in
                [X509Certificate](repeating: try mill.chain()[0], count: 9)
            } == "x509.too_long")
        #expect(
            try refusal { mill in
                mill.leafTemplate.notAfter = PaperMill.noon.adding(seconds: -1)
                return try mill.chain()
            } == "x509.expired")
        #expect(
            try refusal { mill in
                mill.middleTemplate.notBefore = PaperMill.noon.adding(seconds: 1)
                return try mill.chain()
            } == "x509.not_yet_valid")
        #expect(
            try refusal { mill in
                mill.middleTemplate.extensions = [.basicConstraints(isAuthority: false)]
                return try mill.chain()
            } == "x509.not_ca")
        #expect(
            try refusal { mill in
                mill.middleTemplate.extensions = []
                return try mill.chain()
            } == "x509.not_ca")
        #expect(
            try refusal { mill in
                mill.middleTemplate.extensions[1] = .keyUsage(bits: [0])
                return try mill.chain()
            } == "x509.key_usage")
        #expect(
            try refusal { mill in
                mill.leafTemplate.issuer = X509Template.Name([.commonName: "Middle"])
                return try mill.chain()
            } == "x509.issuer")
        #expect(
            try refusal { mill in
                [try mill.make(mill.leafTemplate, by: .p256(mill.leafKey)), try mill.chain()[1]]
            } == "x509.signature")
        #expect(
            try refusal { mill in
                mill.leafTemplate.extensions.append(.init(oid: "1.2.3.4", isCritical: true, value: DER.null))
                return try mill.chain()
            } == "x509.critical_extension")
    }

    @Test func `an authority below one that allows none is refused`() throws {
        let mill = try PaperMill()
        let lower = X509Signer.p256(try P256.PrivateKey.generate(mill.entropy))
        let lowerName = X509Template.Name([.commonName: "Lower"])
        var template = PaperMill.template(5, mill.middleTemplate.subject, lowerName, lower.spki)
        template.extensions = [.basicConstraints(isAuthority: true)]
        var leaf = mill.leafTemplate
        leaf.issuer = lowerName
        let chain = [try mill.make(leaf, by: lower), try mill.make(template, by: mill.middle), try mill.chain()[1]]
        #expect(throws: X509Error.pathLength("CN=Middle,O=Mill")) { try mill.verify(chain) }
    }

    @Test func `a root of the same name with another key is no anchor`() throws {
        let (mill, other) = (try PaperMill(), try PaperMill(seed: 2))
        let impostor = try [
            mill.make(mill.leafTemplate, by: mill.middle), mill.make(mill.middleTemplate, by: other.root),
        ]
        #expect(throws: X509Error.untrustedRoot("CN=Middle,O=Mill")) { try mill.verify(impostor) }
        let whole = impostor + [try other.rootCertificate]
        #expect(throws: X509Error.untrustedRoot("CN=Mill Root,C=ZZ")) { try mill.verify(whole) }
        #expect(throws: X509Error.untrustedRoot("CN=Middle,O=Mill")) {
            try X509Chain.verify(leafFirst: mill.chain(), anchors: [], at: PaperMill.noon)
        }
    }

    @Test func `certificates that are cut, longer, or not DER are refused`() throws {
        let der = try PaperMill().chain()[0].der
        for count in stride(from: 0, to: der.count, by: 7) {
            #expect(throws: X509Error.self) { try X509Certificate(der: Array(der.prefix(count))) }
        }
        #expect(throws: X509Error.self) { try X509Certificate(der: der + [0]) }
        #expect(throws: X509Error.self) { try X509Certificate(der: DER.sequence([DER.null])) }
        #expect(throws: X509Error.self) { try X509Certificate.all(pem: "nothing") }
        #expect(throws: X509Error.self) {
            var mill = try PaperMill()
            mill.leafTemplate.extensions.append(mill.leafTemplate.extensions[0])
            _ = try mill.chain()
        }
    }

    @Test func `no bit of a certificate can be turned without its signature breaking`() throws {
        let mill = try PaperMill()
        let der = try mill.chain()[0].der
        for bit in stride(from: 0, to: der.count * 8, by: 5) {
            guard let changed = try? X509Certificate(der: flipping(bit: bit, of: der)) else { continue }
            let chain = [changed, try mill.chain()[1]]
            #expect(throws: X509Error.self, "bit \(bit)") { try mill.verify(chain) }
        }
    }
}

@Suite struct P384Tests {
    private static let scalar =
        "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5"

    @Test func `RFC 6979 A.2.6's signatures come out, with either digest`() throws {
        let key = try P384.PrivateKey(scalar: hex(Self.scalar))
        let expected: [(P384.Digest, String, String)] = [
            (
                .sha256, "sample",
                "21b13d1e013c7fa1392d03c5f99af8b30c570c6f98d4ea8e354b63a21d3daa33bde1e888e63355d92fa2b3c36d8fb2cd"
                    + "f3aa443fb107745bf4bd77cb3891674632068a10ca67e3d45db2266fa7d1feebefdc63eccd1ac42ec0cb8668a4fa0ab0"
            ),
            (
                .sha256, "test",
                "6d6defac9ab64dabafe36c6bf510352a4cc27001263638e5b16d9bb51d451559f918eedaf2293be5b475cc8f0188636b"
                    + "2d46f3becbcc523d5f1a1256bf0c9b024d879ba9e838144c8ba6baeb4b53b47d51ab373f9845c0514eefb14024787265"
            ),
            (
                .sha384, "sample",
                "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46"
                    + "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8"
            ),
            (
                .sha384, "test",
                "8203b63d3c853e8d77227fb377bcf7b7b772e97892a80f36ab775d509d7a5feb0542a7f0812998da8f1dd3ca3cf023db"
                    + "ddd0760448d42d8a43af45af836fce4de8be06b485e9b61b827c2f13173923e06a739f040649a667bf3b828246baa5a5"
            ),
        ]
        for (digest, message, signature) in expected {
            let made = try key.sign(Array(message.utf8), digest: digest, nonce: .rfc6979)
            #expect(Hex.encode(made) == signature)
        }
    }

    @Test func `a key goes by its scalar and shows nothing of it`() throws {
        let key = try P384.PrivateKey.generate(Entropy(seed: [7]))
        #expect(try P384.PrivateKey(scalar: key.scalar).x963 == key.x963)
        #expect(key.spki.count == 120)
        #expect(!"\(key) \(X509Signer.p384(key, .sha384))".contains(Hex.encode(try key.scalar).prefix(8)))
        #expect(throws: CryptoError.scalarLength(32)) { try P384.PrivateKey(scalar: [UInt8](repeating: 1, count: 32)) }
        #expect(throws: CryptoError.scalarRange) { try P384.PrivateKey(scalar: [UInt8](repeating: 0, count: 48)) }
        #expect(throws: CryptoError.scalarRange) { try P384.PrivateKey(scalar: [UInt8](repeating: 255, count: 48)) }
    }
}
