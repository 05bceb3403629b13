import Encoding
import JOSE
import Profiles

/// A flow that evidence begins, and the key that tells one from another.
enum AttestedFlow: Sendable {
    case start(jkt: String)
    case enrolment(kid: String)

    var name: String {
        switch self {
        case .start: "a start"
        case .enrolment: "an enrolment"
        }
    }
}

/// Good evidence that is yet to be remembered.
struct AcceptedEvidence: Sendable {
    let facts: EvidenceFacts
    let flow: AttestedFlow
}

/// What is wrong with evidence, and how it is answered.
private struct AttestationFault {
    let answer: SenseCryptProfile.ErrorSpelling
    let rule: String
    let expected: String
    let actual: String
}

extension Realm {
    /// What the tenant's attestation mode says to a flow that begins.
    ///
    /// `off` looks at nothing. `audit` leaves a finding for each fault and lets the flow go on. `enforce` refuses it for
    /// the first, and before anything is counted: evidence is what keeps a foreign app from locking an address out.
    /// Nothing is remembered before ``take(_:_:)``.
    func attested(
        by input: EvidenceInput, of flow: AttestedFlow, _ turn: inout Turn
    ) throws(Refusal) -> AcceptedEvidence? {
        guard tenant.attestationMode != .off else { return nil }
        let (faults, facts) = judge(input, flow, turn)
        let broken = faults.filter { !skips(ruleNamed: $0.rule) }
        guard let first = broken.first else { return facts.map { AcceptedEvidence(facts: $0, flow: flow) } }
        guard tenant.attestationMode == .enforce else {
            turn.remarks += broken.map { Turn.Remark(rule: $0.rule, expected: $0.expected, actual: $0.actual) }
            return nil
        }
        throw refusal(first, turn)
    }

    private func refusal(_ fault: AttestationFault, _ turn: Turn) -> Refusal {
        var refusal = Refusal(
            fault.answer, rule: fault.rule, expected: fault.expected, actual: fault.actual,
            detail: "the tenant enforces app attestation: \(fault.rule)")
        refusal.fields = [attestationChallengeField(turn)]
        return refusal
    }

    /// The field every refusal of attestation carries.
    func attestationChallengeField(_ turn: Turn) -> (name: String, value: String) {
        ("OAuth-Client-Attestation-Challenge", turn.settings.challenges.issue(for: tenant.id, now: turn.now))
    }

    private func judge(
        _ input: EvidenceInput, _ flow: AttestedFlow, _ turn: Turn
    ) -> ([AttestationFault], EvidenceFacts?) {
        switch input {
        case .none:
            let fault = AttestationFault(
                answer: turn.errors.attestationRequired, rule: "attestation.evidence",
                expected: "evidence that \(flow.name) comes from the tenant's app", actual: "none")
            return ([fault], nil)
        case .malformed(let fault):
            let answer = turn.errors.attestationFailed
            return (
                [AttestationFault(answer: answer, rule: fault.rule, expected: fault.expected, actual: fault.actual)],
                nil
            )
        case .read(let read):
            let look = look(again: read, turn)
            return (
                challengeFaults(read, turn) + replayFaults(look.facts, turn)
                    + ownerFaults(read.evidence, look.facts, flow, turn)
                    + look.explanation.faults.map { failed($0.rule, $0.expected, $0.value, turn) }
                    + counterFaults(look.facts, turn), look.facts
            )
        }
    }

    /// The look taken outside the lock, or another where the tenant has changed its mind since.
    private func look(again read: ReadEvidence, _ turn: Turn) -> ReadEvidence.Look {
        let trust = tenant.anchors.resolved(turn.settings.attestationTrust)
        let point = read.evidence.keyID.flatMap { attestedKeys[$0]?.point }
        if let look = read.look, look.policy == tenant.attestation, look.trust == trust, look.attestedKey == point {
            return look
        }
        return ReadEvidence.Look(
            read.evidence, read.binding, policy: tenant.attestation, trust: trust, attestedKey: point, now: turn.now,
            turn.settings)
    }

    private func failed(_ rule: String, _ expected: String, _ actual: String, _ turn: Turn) -> AttestationFault {
        AttestationFault(answer: turn.errors.attestationFailed, rule: rule, expected: expected, actual: actual)
    }

    private func failed(_ broken: RememberedRule, _ turn: Turn) -> AttestationFault {
        failed("attestation.\(broken.rule)", broken.expected, broken.actual, turn)
    }

    private func challengeFaults(_ read: ReadEvidence, _ turn: Turn) -> [AttestationFault] {
        let challenge = read.evidence.challenge
        let isFresh = challenge.map { turn.settings.challenges.isFresh($0, for: tenant.id, now: turn.now) } ?? false
        guard !isFresh else { return [] }
        return [
            AttestationFault(
                answer: turn.errors.useAttestationChallenge, rule: "attestation.challenge",
                expected: "a challenge of this server, at most \(turn.profile.lifetimes.attestationChallenge) s old",
                actual: challenge == nil ? "none" : "another")
        ]
    }

    private func replayFaults(_ facts: EvidenceFacts, _ turn: Turn) -> [AttestationFault] {
        guard !facts.identity.isEmpty, evidence.contains(jkt: "evidence", jti: facts.identity.hex) else { return [] }
        return [failed(.replay, turn)]
    }

    /// Whether an App Attest key is one of the tenant's, and of the install that asks.
    private func ownerFaults(
        _ evidence: Evidence, _ facts: EvidenceFacts, _ flow: AttestedFlow, _ turn: Turn
    ) -> [AttestationFault] {
        guard let id = facts.keyID else { return [] }
        guard let known = attestedKeys[id] else {
            guard evidence.format == .appAttestAssertion else { return [] }
            return [failed(.knownKey, turn)]
        }
        guard case .start(let jkt) = flow, let owner = known.jkt, owner != jkt else { return [] }
        return [failed("attestation.install", "the install the key belongs to", "another DPoP key", turn)]
    }

    private func counterFaults(_ facts: EvidenceFacts, _ turn: Turn) -> [AttestationFault] {
        guard let counter = facts.counter, counter > 0, let known = facts.keyID.flatMap({ attestedKeys[$0] }),
            counter <= known.counter
        else { return [] }
        return [failed(.counter(counter, after: known.counter), turn)]
    }

    /// Remembers good evidence, once the flow it began has begun.
    mutating func take(_ accepted: AcceptedEvidence?, _ turn: inout Turn) {
        guard let accepted else { return }
        let facts = accepted.facts
        let memory = turn.profile.lifetimes.attestationChallenge
        if !facts.identity.isEmpty {
            _ = evidence.insert(
                jkt: "evidence", jti: facts.identity.hex, expires: turn.now.adding(seconds: memory), now: turn.now)
        }
        guard let id = facts.keyID, let point = facts.point else { return }
        let end = turn.now.adding(seconds: turn.profile.lifetimes.attestedKey)
        var key = attestedKeys[id] ?? AttestedKey(point: point, counter: 0, jkt: nil, kids: [], forgottenAt: end)
        key.counter = max(key.counter, facts.counter ?? 0)
        key.forgottenAt = end
        switch accepted.flow {
        case .start(let jkt): key.jkt = jkt
        case .enrolment(let kid):
            if !key.kids.contains(kid) { key.kids = (key.kids + [kid]).suffix(turn.profile.limits.devicesPerUser) }
        }
        save(key, id: id, &turn)
    }

    /// Gives out a challenge.
    func attestationChallenge(_ turn: Turn) -> PendingReply {
        .json(
            200,
            ["attestation_challenge": .string(turn.settings.challenges.issue(for: tenant.id, now: turn.now))])
    }

    /// Whether anybody here could use a challenge.
    var givesChallenges: Bool { tenant.attestationMode != .off || applicationsByAttestation > 0 }
}
