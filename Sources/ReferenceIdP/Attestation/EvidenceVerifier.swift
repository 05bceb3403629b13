import Crypto
import Encoding

/// What a piece of evidence is compared with; a nil part cannot be judged and is left unchecked.
struct EvidenceExpectations: Sendable, Hashable {
    /// What the tenant expects; nil to look without expecting.
    var policy: AttestationPolicy?
    /// Whom the tenant trusts.
    var trust: AttestationTrust
    /// What the evidence must be bound to.
    var binding: EvidenceBinding?
    /// The point of the App Attest key an assertion must be signed with.
    var attestedKey: [UInt8]?
    /// When.
    var now: Instant
    /// How far a Play Integrity token may be behind and ahead, in seconds.
    var playAge: Int64 = 300
    var playAhead: Int64 = 60
}

/// Facts that good evidence leaves behind, for the rules that remember.
struct EvidenceFacts: Sendable, Hashable {
    /// The App Attest key it is about: the id in standard base64, and the point.
    var keyID: String?
    var point: [UInt8]?
    /// The counter of an assertion.
    var counter: Int64?
    /// What makes the piece this piece, however it is written.
    var identity: [UInt8] = []
}

/// Looks at evidence field by field, without state.
///
/// Whether a challenge is the server's, an assertion's counter rises, and a piece was seen before is not known here.
enum EvidenceVerifier {
    static func examine(
        _ evidence: Evidence, _ expected: EvidenceExpectations
    ) -> (explanation: EvidenceExplanation, facts: EvidenceFacts) {
        var look = EvidenceLook(format: evidence.format, expected: expected)
        // What cannot be read was noted where it was found.
        try? look.examine(evidence.body)
        return (look.found, look.facts)
    }
}

/// One look at one piece of evidence.
struct EvidenceLook {
    let expected: EvidenceExpectations
    var found: EvidenceExplanation
    var facts = EvidenceFacts()

    init(format: Evidence.Format, expected: EvidenceExpectations) {
        self.expected = expected
        found = EvidenceExplanation(format: format.rawValue)
    }

    mutating func examine(_ body: Evidence.Body) throws(EvidenceUnreadable) {
        switch body {
        case .appAttest(let keyID, let bytes): try appAttestation(bytes, keyID: keyID)
        case .appAttestAssertion(let keyID, let bytes): try appAssertion(bytes, keyID: keyID)
        case .androidKey(let chain): try androidKey(chain)
        case .playIntegrity(let token, let isClassic): try playIntegrity(token, isClassic: isClassic)
        }
    }
}

extension Sequence<UInt8> {
    /// Bytes as a person compares them.
    var hex: String { Hex.encode(Array(self)) }
}
