import Crypto
public import Encoding

/// What a piece of evidence is explained with; what is left out is not judged.
public struct EvidenceKnowledge: Sendable {
    /// What is expected of app and phone.
    public var policy: AttestationPolicy?
    /// Whose word is taken.
    public var trust: AttestationTrust
    /// What the evidence should be bound to.
    public var binding: EvidenceQuestion.Binding?
    /// What it would be bound to by challenges that were given out earlier and are no longer good.
    public var stale: [EvidenceQuestion.Binding] = []
    /// The X9.63 point an assertion must be signed with; without it, that of an earlier attestation.
    public var attestedKey: [UInt8]?
    /// What was taken before.
    public var memory = EvidenceMemory()
    /// When.
    public var now: Instant

    /// Knows whom to trust and what time it is.
    public init(trust: AttestationTrust, now: Instant) {
        self.trust = trust
        self.now = now
    }
}

extension EvidenceQuestion {
    /// Looks at every field, and at what only memory shows; what nothing is given to compare with is left unchecked.
    ///
    /// The fields come in the order the reference IdP judges them: challenge, replay, key, the evidence, counter.
    public func explained(_ known: EvidenceKnowledge) -> EvidenceExplanation {
        EvidenceHindsight(evidence: evidence, known: known).explanation
    }
}

/// The looks at one piece of evidence under each challenge and key it may be meant for, and the best of them.
private struct EvidenceHindsight {
    let evidence: Evidence
    let known: EvidenceKnowledge

    /// One look, and what it assumed.
    struct Look {
        let binding: EvidenceQuestion.Binding?
        let isStale: Bool
        let keyID: String?
        let explanation: EvidenceExplanation
        let facts: EvidenceFacts
    }

    var explanation: EvidenceExplanation {
        let look = bestLook
        var found = EvidenceExplanation(format: evidence.format.rawValue)
        noteChallenge(look, in: &found)
        if !known.memory.isEmpty {
            noteReplay(look, in: &found)
            noteKey(look, in: &found)
        }
        found.fields += look.explanation.fields
        if !known.memory.isEmpty { noteCounter(look, in: &found) }
        return found
    }

    /// The first look under which the evidence is bound as it should be, else the first of all.
    private var bestLook: Look {
        var first: Look?
        for (binding, isStale) in bindings {
            for key in keys {
                let next = look(binding, isStale: isStale, key: key)
                if next.explanation.isBound { return next }
                first = first ?? next
            }
        }
        return first ?? look(nil, isStale: false, key: nil)
    }

    private func look(_ binding: EvidenceQuestion.Binding?, isStale: Bool, key: CandidateKey?) -> Look {
        let expected = EvidenceExpectations(
            policy: known.policy, trust: known.trust, binding: binding.map(EvidenceBinding.init),
            attestedKey: key?.point, now: known.now)
        let (explanation, facts) = EvidenceVerifier.examine(evidence, expected)
        // With several keys to choose from, only a good signature tells whose the assertion is.
        let supposed = keys.count == 1 || explanation.isBound ? key?.id : nil
        return Look(
            binding: binding, isStale: isStale, keyID: facts.keyID ?? supposed, explanation: explanation, facts: facts)
    }

    /// The bindings the evidence may have: by the challenge it names, where it names one that is known, else all.
    private var bindings: [(EvidenceQuestion.Binding?, isStale: Bool)] {
        let stale = known.stale.map { (Optional($0), isStale: true) }
        let candidates = [(known.binding, isStale: false)] + stale
        let named = candidates.filter { $0.0 != nil && $0.0?.challenge == evidence.challenge }
        return named.isEmpty ? candidates : named
    }

    private struct CandidateKey {
        let id: String
        let point: [UInt8]
    }

    /// The keys that may have signed: the one given, else the earlier one it names, else each earlier one.
    private var keys: [CandidateKey?] {
        guard evidence.format == .appAttestAssertion else { return [nil] }
        if let point = known.attestedKey { return [CandidateKey(id: Base64.encode(SHA256.hash(point)), point: point)] }
        var attested = known.memory.attestedKeys.map(CandidateKey.init)
        if let named = evidence.keyID {
            let id = (try? Base64.decode(named)).map { Base64.encode($0) }
            attested = attested.filter { $0.id == id }
        }
        return attested.isEmpty ? [nil] : attested
    }

    private func noteChallenge(_ look: Look, in found: inout EvidenceExplanation) {
        let expected = known.binding.map { "the challenge \($0.challenge)" } ?? "a challenge that is still good"
        let named = evidence.challenge
        let stale = known.stale.first { $0.challenge == named } ?? (look.isBoundToStale ? look.binding : nil)
        if let stale {
            return found.note("challenge", "\(stale.challenge), given out earlier", "challenge", expected, false)
        }
        if let named {
            return found.note("challenge", named, "challenge", expected, known.binding.map { $0.challenge == named })
        }
        guard !known.stale.isEmpty else { return }
        let isBound = look.explanation.isBound
        found.note(
            "challenge", isBound ? look.binding?.challenge ?? "" : "not named", "challenge", expected,
            isBound ? true : nil)
    }

    private func noteReplay(_ look: Look, in found: inout EvidenceExplanation) {
        let words = RememberedRule.replay
        guard !look.facts.identity.isEmpty else {
            return found.note("evidence", "unreadable", words.rule, words.expected, nil)
        }
        let isAgain = known.memory.contains(look.facts)
        found.note("evidence", isAgain ? words.actual : "new", words.rule, words.expected, !isAgain)
    }

    private func noteKey(_ look: Look, in found: inout EvidenceExplanation) {
        let attested = known.memory.attestedKeys.map(\.id)
        guard evidence.format == .appAttestAssertion, !attested.isEmpty else { return }
        let words = RememberedRule.knownKey
        guard let id = look.keyID else {
            return found.note("attested key", "not named", words.rule, words.expected, nil)
        }
        let isKnown = attested.contains(id)
        found.note("attested key", isKnown ? id : words.actual, words.rule, words.expected, isKnown)
    }

    /// A counter of zero breaks the rule about the field itself, and is left to it.
    private func noteCounter(_ look: Look, in found: inout EvidenceExplanation) {
        guard let counter = look.facts.counter, counter > 0 else { return }
        switch known.memory.lastCounter(of: look.keyID) {
        case .unknown:
            found.note("counter after the last", "\(counter)", "counter", "a counter above the key's last one", nil)
        case .known(let last, let isCertain):
            let words = RememberedRule.counter(counter, after: last)
            let isAbove = counter > last
            found.note(
                "counter after the last", words.actual, words.rule, words.expected,
                isAbove ? (isCertain ? true : nil) : false)
        }
    }
}

extension EvidenceHindsight.Look {
    fileprivate var isBoundToStale: Bool { isStale && explanation.isBound }
}

extension EvidenceExplanation {
    /// Whether the evidence is known to be bound to what it was compared with.
    fileprivate var isBound: Bool {
        let bonds = fields.filter { $0.rule == "attestation.nonce" || $0.rule == "attestation.signature" }
        return !bonds.isEmpty && bonds.allSatisfy { $0.verdict == .ok }
    }
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
