import COpenSSL
public import Encoding

/// An X.509 certificate (RFC 5280), read but not trusted: `X509Chain.verify` says what may be.
public struct X509Certificate: Sendable {
    /// The certificate's DER.
    public let der: [UInt8]
    /// The subject's name as RFC 2253 writes it, the last part first, such as `CN=Leaf,O=Test`.
    public let subject: String
    /// The issuer's name, written likewise.
    public let issuer: String
    /// The serial number, big-endian, without leading zeros.
    public let serial: [UInt8]
    /// The first moment at which it is valid.
    public let notBefore: Instant
    /// The last moment at which it is valid.
    public let notAfter: Instant
    /// The subject's public key as a DER SubjectPublicKeyInfo.
    public let spki: [UInt8]
    /// The extensions, in order, each identifier once.
    public let extensions: [Extension]
    /// What the key may be used for, or nil where the certificate does not say.
    public let keyUsage: KeyUsage?
    /// Whether it is an authority's and how far down, or nil where the certificate does not say.
    public let basicConstraints: BasicConstraints?
    /// The algorithm it is signed with, by OpenSSL's short name, such as `ecdsa-with-SHA256`.
    public let signatureAlgorithm: String
    /// The subject's name in DER: what an issuer's name is compared with.
    public let subjectDER: [UInt8]
    /// The issuer's name in DER.
    public let issuerDER: [UInt8]

    let owner: CertificateOwner

    /// One extension.
    public struct Extension: Sendable, Hashable {
        /// Its identifier, in dotted numbers.
        public let oid: String
        /// Whether who does not understand it must refuse the certificate.
        public let isCritical: Bool
        /// What is inside its OCTET STRING.
        public let value: [UInt8]

        /// An extension of any kind around the value's bytes.
        public init(oid: String, isCritical: Bool = false, value: [UInt8]) {
            self.oid = oid
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// Whether a certificate is an authority's.
    public struct BasicConstraints: Sendable, Hashable {
        /// Whether it is.
        public let isAuthority: Bool
        /// How many authorities may stand between it and a leaf; nil without a limit.
        public let pathLength: Int?
    }

    /// The uses of a key (RFC 5280 4.2.1.3).
    public struct KeyUsage: OptionSet, Sendable, Hashable {
        /// The bits as OpenSSL numbers them.
        public let rawValue: UInt32
        /// Takes bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Signing data.
        public static let digitalSignature = KeyUsage(rawValue: 0x80)
        /// Wrapping keys.
        public static let keyEncipherment = KeyUsage(rawValue: 0x20)
        /// Agreeing on keys.
        public static let keyAgreement = KeyUsage(rawValue: 0x08)
        /// Signing certificates.
        public static let keyCertSign = KeyUsage(rawValue: 0x04)
        /// Signing lists of withdrawn certificates.
        public static let cRLSign = KeyUsage(rawValue: 0x02)
    }

    /// Reads one DER certificate that is all of the bytes, at most 64 KiB.
    ///
    /// Throws `X509Error.malformed`, which says what is wrong: BER that is not DER, bytes behind the end, an extension
    /// twice, extensions OpenSSL cannot read, or a key it does not know.
    public init(der: [UInt8]) throws(X509Error) {
        do throws(DERError) {
            _ = try DERElement(parsing: der)
        } catch {
            throw .malformed(reason: error.code)
        }
        let owner = try CertificateOwner(der: der)
        self.der = der
        self.owner = owner
        (subject, issuer) = (try owner.subject(), try owner.issuer())
        (subjectDER, issuerDER) = (try owner.subjectDER(), try owner.issuerDER())
        serial = try owner.serial()
        notBefore = try owner.time(X509_get0_notBefore(owner.pointer))
        notAfter = try owner.time(X509_get0_notAfter(owner.pointer))
        spki = try owner.spki()
        signatureAlgorithm = owner.signatureAlgorithm()
        extensions = try owner.extensions()
        guard Set(extensions.map(\.oid)).count == extensions.count else {
            throw .malformed(reason: "an extension twice")
        }
        guard understudy_certificate_is_invalid(owner.pointer) == 0 else {
            throw .malformed(reason: "an extension that cannot be read")
        }
        keyUsage = owner.keyUsage()
        basicConstraints = owner.basicConstraints()
    }

    /// Reads the certificates of a PEM text (RFC 7468), in order; other blocks are passed over.
    ///
    /// A text without one, and any that is not one, is `X509Error.malformed`.
    public static func all(pem: String) throws(X509Error) -> [X509Certificate] {
        var found: [X509Certificate] = []
        for block in PEM.blocks(in: pem) where block.label == "CERTIFICATE" {
            guard let der = try? Base64.decode(block.content) else { throw .malformed(reason: "PEM") }
            found.append(try X509Certificate(der: der))
        }
        guard !found.isEmpty else { throw .malformed(reason: "no certificate in the PEM text") }
        return found
    }

    /// The certificate as PEM text (RFC 7468), with a line feed at the end of every line.
    public var pem: String { PEM.encode(der, label: "CERTIFICATE") }

    /// The subject's key where it is an uncompressed point of P-256, and nil otherwise.
    public var p256PublicKey: P256.PublicKey? { try? P256.PublicKey(spki: spki) }

    /// What is inside the extension of these dotted numbers, or nil where it has none.
    public func extensionValue(_ oid: String) -> [UInt8]? { extensions.first { $0.oid == oid }?.value }

    /// Whether subject and issuer have the same name.
    public var isSelfIssued: Bool { subjectDER == issuerDER }

    /// SHA-256 of the DER, in hexadecimal: how a person compares certificates.
    public var fingerprint: String { Hex.encode(SHA256.hash(der)) }

    /// Whether the certificate's signature was made by the private key of `signer`, whatever either is allowed to do.
    public func isSigned(by signer: X509Certificate) -> Bool { owner.isSigned(by: signer.owner) }
}

extension X509Certificate: Hashable, CustomStringConvertible {
    /// Certificates are equal when their bytes are.
    public static func == (left: Self, right: Self) -> Bool { left.der == right.der }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    /// Its subject and its issuer.
    public var description: String { "certificate of \(subject), issued by \(issuer)" }
}
