import Crypto
public import Encoding

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
    }

    /// The formats, by their names on the wire.
    public static let formats = Evidence.Format.allCases.map(\.rawValue)

    private let evidence: Evidence

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

    /// Looks at every field; what nothing is given to compare with is left unchecked.
    ///
    /// `policy` says what is expected of app and phone, `trust` whose word is taken, `attestedKey` is the
    /// X9.63 point an assertion must be signed with, and `now` when.
    public func explained(
        policy: AttestationPolicy?, trust: AttestationTrust, binding: Binding?, attestedKey: [UInt8]?, now: Instant
    ) -> EvidenceExplanation {
        let expected = EvidenceExpectations(
            policy: policy, trust: trust, binding: binding.map(EvidenceBinding.init), attestedKey: attestedKey, now: now
        )
        return EvidenceVerifier.examine(evidence, expected).explanation
    }
}

/// Why something is no piece of evidence.
public struct EvidenceQuestionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    public let description: String
    /// A stable name for this error.
    public var code: String { "attestation.unreadable" }
}

extension EvidenceBinding {
    fileprivate init(_ binding: EvidenceQuestion.Binding) {
        switch binding {
        case .challenge(let challenge): self.init(challengeAlone: challenge)
        case .start(let challenge, let clientID, let codeChallenge, let jkt):
            self = .start(challenge: challenge, clientID: clientID, codeChallenge: codeChallenge, jkt: jkt)
        case .enrolment(let challenge, let kid): self = .enrolment(challenge: challenge, kid: kid)
        }
    }
}
