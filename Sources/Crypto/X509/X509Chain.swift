public import Encoding

/// A chain of certificates that ends at a trust anchor, every step of it checked (RFC 5280 section 6.1).
public struct X509Chain: Sendable, Hashable {
    /// The certificates as given, the leaf first.
    public let certificates: [X509Certificate]
    /// The anchor: the last certificate, or the one that issued it.
    public let anchor: X509Certificate

    /// The longest chain taken, anchor not counted.
    public static let lengthLimit = 8

    /// The certificate the chain is about.
    public var leaf: X509Certificate { certificates[0] }

    /// Checks that each certificate is issued by the next and the last is an anchor or issued by one, at an instant.
    ///
    /// Looked at, in this order: that the chain ends at an anchor; that whoever issues is an authority; then from the
    /// anchor down, that its key may sign certificates, with no more authorities below it than it allows; that names and
    /// signatures fit; that every certificate, the anchor too, is valid then; that no critical extension is left that
    /// nobody here understands. Signatures are of ECDSA, RSA (PKCS #1) or Ed25519, with SHA-256 or longer. Names are not
    /// constrained, policies not looked at, withdrawn certificates not looked up.
    public static func verify(
        leafFirst chain: [X509Certificate], anchors: [X509Certificate], at now: Instant
    ) throws(X509Error) -> X509Chain {
        guard let last = chain.last else { throw .empty }
        guard chain.count <= lengthLimit else { throw .tooLong(chain.count, limit: lengthLimit) }
        guard let anchor = anchor(of: last, among: anchors) else { throw .untrustedRoot(last.shortName) }
        let path = anchor == last ? chain : chain + [anchor]
        for issuer in path.dropFirst() where issuer.basicConstraints?.isAuthority != true {
            throw .notCA(issuer.shortName)
        }
        try checkSelf(anchor, at: now)
        for index in path.indices.dropLast().reversed() {
            let (subject, issuer) = (path[index], path[index + 1])
            // Self-issued ones are not counted (RFC 5280 4.2.1.9), nor is the leaf.
            try checkIssuing(issuer, authoritiesBelow: path[1..<index + 1].count { !$0.isSelfIssued })
            guard subject.issuerDER == issuer.subjectDER else { throw .issuer(subject.shortName) }
            guard accepted.contains(subject.signatureAlgorithm) else {
                throw .algorithm(subject.shortName, name: subject.signatureAlgorithm)
            }
            guard subject.isSigned(by: issuer) else { throw .signature(subject.shortName) }
            try checkSelf(subject, at: now)
        }
        return X509Chain(certificates: chain, anchor: anchor)
    }

    private static func anchor(of last: X509Certificate, among anchors: [X509Certificate]) -> X509Certificate? {
        anchors.first { $0 == last }
            ?? anchors.first { $0.subjectDER == last.issuerDER && last.isSigned(by: $0) }
    }

    private static func checkIssuing(
        _ issuer: X509Certificate, authoritiesBelow: Int
    ) throws(X509Error) {
        if let usage = issuer.keyUsage, !usage.contains(.keyCertSign) { throw .keyUsage(issuer.shortName) }
        if let limit = issuer.basicConstraints?.pathLength, authoritiesBelow > limit {
            throw .pathLength(issuer.shortName)
        }
    }

    private static func checkSelf(_ certificate: X509Certificate, at now: Instant) throws(X509Error) {
        guard now >= certificate.notBefore else { throw .notYetValid(certificate.shortName) }
        guard now.seconds <= certificate.notAfter.seconds else { throw .expired(certificate.shortName) }
        for part in certificate.extensions where part.isCritical && !understood.contains(part.oid) {
            throw .criticalExtension(certificate.shortName, oid: part.oid)
        }
    }

    /// Key usage, basic constraints, extended key usage: what a critical extension may be.
    private static let understood: Set = ["2.5.29.15", "2.5.29.19", "2.5.29.37"]

    private static let accepted: Set = [
        "ecdsa-with-SHA256", "ecdsa-with-SHA384", "ecdsa-with-SHA512", "RSA-SHA256", "RSA-SHA384", "RSA-SHA512",
        "ED25519",
    ]
}

extension X509Certificate {
    /// The subject's name, cut to what fits in an error.
    var shortName: String { String(subject.unicodeScalars.prefix(120)) }
}
