import Crypto
import Encoding

// A receipt is CMS SignedData (RFC 5652) around a SET of numbered attributes, signed under a root of its own.

extension EvidenceMaker {
    /// The receipt of an attestation, in DER (Apple's are in BER).
    func receipt(leaf: [UInt8], clientDataHash: [UInt8]) throws(CryptoError) -> [UInt8] {
        let environment = settings.environment == .production ? "production" : "development"
        let attributes: [(Int64, [UInt8])] = [
            (2, Array(settings.app.appID.utf8)), (3, leaf), (4, clientDataHash),
            (5, Array(Base64.encode(entropy.bytes(64)).utf8)), (6, Array("ATTEST".utf8)),
            (7, Array(environment.utf8)), (12, Array(CalendarTime(now).iso8601.utf8)),
            (21, Array(CalendarTime(now.adding(seconds: 90 * 86_400)).iso8601.utf8)),
        ]
        let content = DER.set(
            attributes.map { type, value in
                DER.sequence([DER.integer(type), DER.integer(1), DER.octetString(value)])
            })
        return try signedData(content)
    }

    private func signedData(_ content: [UInt8]) throws(CryptoError) -> [UInt8] {
        let certificate = roots.apple.receiptCertificate
        let sha256 = DER.sequence([DER.oid("2.16.840.1.101.3.4.2.1")])
        let data = DER.oid("1.2.840.113549.1.7.1")
        let signed = [
            DER.sequence([DER.oid("1.2.840.113549.1.9.3"), DER.set([data])]),
            DER.sequence([DER.oid("1.2.840.113549.1.9.5"), DER.set([DER.time(now)])]),
            DER.sequence([
                DER.oid("1.2.840.113549.1.9.4"), DER.set([DER.octetString(SHA256.hash(content))]),
            ]),
        ]
        // Signed as a SET, sent under a tag of its own.
        let attributes = DER.set(signed)
        let signer = X509Signer.p256(roots.apple.receiptSigner)
        let signature = try signer.sign(attributes, nonce: entropy.signingNonce)
        let signerInfo = DER.sequence([
            DER.integer(1), DER.sequence([certificate.issuerDER, DER.integer(magnitude: certificate.serial)]), sha256,
            [0xA0] + attributes.dropFirst(), signer.algorithm, DER.octetString(signature),
        ])
        let certificates = certificate.der + roots.apple.receiptRoot.certificate.der
        return DER.sequence([
            DER.oid("1.2.840.113549.1.7.2"),
            DER.explicit(
                0,
                DER.sequence([
                    DER.integer(1), DER.set([sha256]),
                    DER.sequence([data, DER.explicit(0, DER.octetString(content))]),
                    DER.implicit(0, constructed: true, certificates), DER.set([signerInfo]),
                ])),
        ])
    }
}
