/// Why a certificate, or a chain of them, was refused.
///
/// Texts in it are names out of certificates, cut to 120 characters.
public enum X509Error: Error, Sendable, Hashable {
    /// Bytes that are no DER certificate.
    case malformed(reason: String)
    /// A chain without certificates.
    case empty
    /// A chain of more certificates than the limit.
    case tooLong(Int, limit: Int)
    /// The validity of the certificate of this subject is over.
    case expired(String)
    /// The validity of the certificate of this subject has not begun.
    case notYetValid(String)
    /// A certificate was issued by one that is no authority's: that of this subject.
    case notCA(String)
    /// An authority whose key may not sign certificates.
    case keyUsage(String)
    /// More authorities stand below this one than it allows.
    case pathLength(String)
    /// The issuer that the certificate of this subject names is not the next in the chain.
    case issuer(String)
    /// The certificate of this subject is not signed by the next in the chain.
    case signature(String)
    /// The certificate of this subject is signed with an algorithm that is not accepted.
    case algorithm(String, name: String)
    /// The certificate of this subject has a critical extension that is not understood here.
    case criticalExtension(String, oid: String)
    /// The last certificate of the chain, of this subject, is no anchor and none has issued it.
    case untrustedRoot(String)

    /// A stable dotted name of the rule that was broken.
    public var code: String {
        switch self {
        case .malformed: "x509.malformed"
        case .empty: "x509.empty"
        case .tooLong: "x509.too_long"
        case .expired: "x509.expired"
        case .notYetValid: "x509.not_yet_valid"
        case .notCA: "x509.not_ca"
        case .keyUsage: "x509.key_usage"
        case .pathLength: "x509.path_length"
        case .issuer: "x509.issuer"
        case .signature: "x509.signature"
        case .algorithm: "x509.algorithm"
        case .criticalExtension: "x509.critical_extension"
        case .untrustedRoot: "x509.untrusted_root"
        }
    }
}

extension X509Error: CustomStringConvertible {
    /// The rule and the certificate that broke it, for a person.
    public var description: String {
        switch self {
        case .malformed(let reason): "not a DER certificate: \(reason)"
        case .empty: "the chain has no certificates"
        case .tooLong(let count, let limit): "the chain has \(count) certificates; at most \(limit) are taken"
        case .expired(let name): "the certificate of \(name) is no longer valid"
        case .notYetValid(let name): "the certificate of \(name) is not valid yet"
        case .notCA(let name): "\(name) has issued a certificate and is no authority"
        case .keyUsage(let name): "the key of \(name) may not sign certificates"
        case .pathLength(let name): "more authorities stand below \(name) than it allows"
        case .issuer(let name): "the certificate of \(name) was not issued by the next in the chain"
        case .signature(let name): "the certificate of \(name) is not signed by the next in the chain"
        case .algorithm(let name, let algorithm): "the certificate of \(name) is signed with \(algorithm)"
        case .criticalExtension(let name, let oid): "the certificate of \(name) demands that \(oid) be understood"
        case .untrustedRoot(let name): "the chain ends at \(name), which no trust anchor has issued"
        }
    }
}
