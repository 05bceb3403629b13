import Crypto
import Encoding

/// A piece of evidence outside any request, to be explained field by field.
public struct EvidenceQuestion: Sendable {
    /// What the evidence should be bound to.
    public enum Binding: Sendable, Hashable {
        /// The challenge alone: App Attest's `clientDataHash` is its hash, the others have it as it is.
        case challenge(String)
        /// A start of SenseCrypt.
        case start(challenge: String, clientID: String, codeChallenge: String, jkt: String)
        /// An enrolment of SenseCrypt.
        case enrolment(challenge: String, kid: String)

        /// The challenge in it.
        var challenge: String {
            switch self {
            case .challenge(let challenge), .start(let challenge, _, _, _), .enrolment(let challenge, _): challenge
            }
        }
    }

    /// The formats, by their names on the wire.
    public static let formats = Evidence.Format.allCases.map(\.rawValue)

    let evidence: Evidence

    /// Reads evidence in whichever form it comes: the object of the wire, or bare: the CBOR object, the certificates in
    /// PEM, the compact token.
    ///
    /// Throws ``EvidenceQuestionError`` where it is neither.
    public init(_ content: [UInt8], format name: String) throws(EvidenceQuestionError) {
        guard let format = Evidence.Format(rawValue: name) else {
            throw EvidenceQuestionError(description: "no format \(Clipped.text(name))")
        }
        if let json = try? JSON(parsing: content), json.object != nil {
            do throws(EvidenceFault) {
                evidence = try Evidence(json["evidence"] ?? json)
            } catch {
                throw EvidenceQuestionError(description: "expected \(error.expected), not \(error.actual)")
            }
            guard evidence.format == format else {
                throw EvidenceQuestionError(description: "this is \(evidence.format.rawValue), not \(name)")
            }
        } else {
            evidence = Evidence(format: format, challenge: nil, body: try Self.bare(content, format))
        }
    }

    /// Reads evidence of a format that has to be found out, in whichever form it comes.
    ///
    /// A bare token counts as `play-integrity`: only what it says tells it from a classic one. Throws
    /// ``EvidenceQuestionError`` where it is of no format.
    public init(recognizing content: [UInt8]) throws(EvidenceQuestionError) {
        try self.init(content, format: try Self.format(of: content).rawValue)
    }

    private static func format(of content: [UInt8]) throws(EvidenceQuestionError) -> Evidence.Format {
        if let json = try? JSON(parsing: content), json.object != nil {
            let name = (json["evidence"] ?? json)["format"]?.string ?? ""
            guard let format = Evidence.Format(rawValue: name) else {
                throw EvidenceQuestionError(description: "no format '\(Clipped.text(name))'")
            }
            return format
        }
        if let map = try? CBOR(parsing: content) {
            if map["attStmt"] != nil { return .appAttest }
            if map["authenticatorData"] != nil { return .appAttestAssertion }
        }
        let text = String(decoding: content, as: UTF8.self)
        if text.contains("-----BEGIN CERTIFICATE-----") { return .androidKey }
        if text.split(separator: ".", omittingEmptySubsequences: false).count == 5 { return .playIntegrity }
        throw EvidenceQuestionError(
            description: "neither the object of the wire, nor App Attest's CBOR, PEM certificates or a token")
    }

    private static func bare(
        _ content: [UInt8], _ format: Evidence.Format
    ) throws(EvidenceQuestionError) -> Evidence.Body {
        let text = String(decoding: content, as: UTF8.self)
        switch format {
        case .appAttest: return .appAttest(keyID: nil, attestation: content)
        case .appAttestAssertion: return .appAttestAssertion(keyID: nil, assertion: content)
        case .playIntegrity, .playIntegrityClassic:
            let token = text.filter { !$0.isWhitespace }
            return .playIntegrity(token: token, isClassic: format == .playIntegrityClassic)
        case .androidKey:
            do throws(X509Error) {
                return .androidKey(chain: try X509Certificate.all(pem: text).map(\.der))
            } catch {
                throw EvidenceQuestionError(description: error.description)
            }
        }
    }
}

/// Why something is no piece of evidence.
public struct EvidenceQuestionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    public let description: String
    /// A stable name for this error.
    public var code: String { "attestation.unreadable" }
}
