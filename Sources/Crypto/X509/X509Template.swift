public import Encoding

/// A certificate to be: everything but its signature (RFC 5280 4.1.2).
public struct X509Template: Sendable, Hashable {
    /// A name, part by part, the most general first.
    public struct Name: Sendable, Hashable {
        /// The kinds of parts in use.
        public enum Part: String, Sendable, Hashable {
            /// C, two letters.
            case country = "2.5.4.6"
            /// ST.
            case state = "2.5.4.8"
            /// O.
            case organization = "2.5.4.10"
            /// OU.
            case unit = "2.5.4.11"
            /// The title, which Android's factories put the security level in.
            case title = "2.5.4.12"
            /// CN.
            case commonName = "2.5.4.3"
            /// The serial number of what is named, not of its certificate.
            case serialNumber = "2.5.4.5"
        }

        /// The name's DER.
        public let der: [UInt8]

        /// A name of these parts.
        public init(_ parts: KeyValuePairs<Part, String>) {
            der = DER.sequence(
                parts.map { part, text in
                    let isPrintable = part == .country || part == .serialNumber
                    let value = isPrintable ? DER.printableString(text) : DER.utf8String(text)
                    return DER.set([DER.sequence([DER.oid(part.rawValue), value])])
                })
        }
    }

    /// The serial number, big-endian: 1 to 20 bytes, of which the first must not have its top bit set.
    public var serial: [UInt8]
    /// Who signs.
    public var issuer: Name
    /// Whose key it is.
    public var subject: Name
    /// The first moment at which it is valid.
    public var notBefore: Instant
    /// The last moment at which it is valid.
    public var notAfter: Instant
    /// The subject's key as a DER SubjectPublicKeyInfo.
    public var spki: [UInt8]
    /// The extensions, in order.
    public var extensions: [X509Certificate.Extension]

    /// Takes the parts.
    public init(
        serial: [UInt8], issuer: Name, subject: Name, notBefore: Instant, notAfter: Instant, spki: [UInt8],
        extensions: [X509Certificate.Extension]
    ) {
        self.serial = serial
        self.issuer = issuer
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.spki = spki
        self.extensions = extensions
    }

    /// The certificate's DER, signed by a key, whether or not it is one that may.
    public func signed(by signer: X509Signer, nonce: P256.SigningNonce = .random) throws(CryptoError) -> [UInt8] {
        let content = toBeSigned(algorithm: signer.algorithm)
        let signature = try signer.sign(content, nonce: nonce)
        return DER.sequence([content, signer.algorithm, DER.bitString(signature)])
    }

    private func toBeSigned(algorithm: [UInt8]) -> [UInt8] {
        var parts = [
            DER.explicit(0, DER.integer(2)), DER.integer(magnitude: serial), algorithm, issuer.der,
            DER.sequence([DER.time(notBefore), DER.time(notAfter)]), subject.der, spki,
        ]
        if !extensions.isEmpty { parts.append(DER.explicit(3, DER.sequence(extensions.map(\.der)))) }
        return DER.sequence(parts)
    }
}

extension X509Certificate.Extension {
    /// Basic constraints, critical: an authority's with so many authorities below it, or nobody's.
    public static func basicConstraints(isAuthority: Bool, pathLength: Int? = nil) -> Self {
        var parts: [[UInt8]] = []
        if isAuthority { parts.append(DER.boolean(true)) }
        if let pathLength { parts.append(DER.integer(Int64(pathLength))) }
        return Self(oid: "2.5.29.19", isCritical: true, value: DER.sequence(parts))
    }

    /// Key usage, critical, by the numbers of the bits (RFC 5280 4.2.1.3): 0 signatures, 5 certificates, 6 CRLs.
    public static func keyUsage(bits: Set<Int>) -> Self {
        Self(oid: "2.5.29.15", isCritical: true, value: DER.namedBits(bits))
    }

    /// The subject key identifier: SHA-256 of the SubjectPublicKeyInfo, cut to 20 bytes (RFC 7093 method 1's length).
    public static func subjectKeyIdentifier(spki: [UInt8]) -> Self {
        Self(oid: "2.5.29.14", value: DER.octetString(keyIdentifier(spki)))
    }

    /// The authority key identifier of a signer, by its SubjectPublicKeyInfo.
    public static func authorityKeyIdentifier(spki: [UInt8]) -> Self {
        Self(oid: "2.5.29.35", value: DER.sequence([DER.implicit(0, keyIdentifier(spki))]))
    }

    private static func keyIdentifier(_ spki: [UInt8]) -> [UInt8] { Array(SHA256.hash(spki).prefix(20)) }

    var der: [UInt8] {
        DER.sequence([DER.oid(oid)] + (isCritical ? [DER.boolean(true)] : []) + [DER.octetString(value)])
    }
}
