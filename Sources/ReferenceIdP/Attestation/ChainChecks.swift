import Crypto
import Encoding

extension EvidenceLook {
    /// The certificates of a chain, read one by one.
    mutating func certificates(_ chain: [[UInt8]]) throws(EvidenceUnreadable) -> [X509Certificate] {
        var certificates: [X509Certificate] = []
        for (index, der) in chain.enumerated() {
            let certificate = try found.read("x5c[\(index)]", "chain.certificate", "a DER certificate") {
                () throws(X509Error) in try X509Certificate(der: der)
            }
            found.note(
                "x5c[\(index)]", "\(certificate.subject), issued by \(certificate.issuer)", "chain.certificate",
                "a DER certificate", true)
            certificates.append(certificate)
        }
        return certificates
    }

    /// The chain as a whole, at the server's time; each thing that can be wrong with it is a rule of its own.
    mutating func chain(_ certificates: [X509Certificate], roots: [X509Certificate]) {
        // Whoever issues is judged by name before the path is: a foreign root must not hide a false authority.
        for (index, certificate) in certificates.enumerated().dropFirst() {
            let isAuthority = certificate.basicConstraints?.isAuthority ?? false
            found.note(
                "x5c[\(index)] basicConstraints", isAuthority ? "CA" : "no CA", "chain.ca",
                "an authority, since it has issued x5c[\(index - 1)]", isAuthority)
        }
        do throws(X509Error) {
            let chain = try X509Chain.verify(leafFirst: certificates, anchors: roots, at: expected.now)
            found.note("chain", "ends at \(chain.anchor.subject)", "chain.root", "a path to a trusted root", true)
        } catch {
            let (rule, wanted) = Self.rule(for: error)
            if rule == "chain.ca", found.faults.contains(where: { $0.rule == "attestation.chain.ca" }) { return }
            found.note("chain", error.description, rule, wanted, false)
        }
    }

    private static func rule(for error: X509Error) -> (String, String) {
        switch error {
        case .malformed: ("chain.certificate", "DER certificates")
        case .empty, .tooLong: ("chain.length", "1 to \(X509Chain.lengthLimit) certificates")
        case .expired, .notYetValid: ("chain.validity", "certificates valid at the server's time")
        case .notCA: ("chain.ca", "issuers that are authorities")
        case .keyUsage: ("chain.key_usage", "issuers whose keys may sign certificates")
        case .pathLength: ("chain.path_length", "no more authorities than allowed")
        case .issuer: ("chain.issuer", "each certificate issued by the next")
        case .signature: ("chain.signature", "each certificate signed by the next")
        case .algorithm: ("chain.algorithm", "signatures with SHA-256 or longer")
        case .criticalExtension: ("chain.critical_extension", "no critical extension that is not understood")
        case .untrustedRoot: ("chain.root", "a path to a trusted root")
        }
    }
}
