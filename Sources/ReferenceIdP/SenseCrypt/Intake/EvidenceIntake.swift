public import Encoding
import Profiles

/// What evidence at a tenant is compared with, as it was when a request was read.
public struct AttestationBasis: Sendable {
    /// Whether evidence is looked at at all.
    let isWanted: Bool
    let policy: AttestationPolicy
    let trust: AttestationTrust
    /// The point of the App Attest key that was asked for.
    let attestedKey: [UInt8]?
    /// The server's time.
    let now: Instant
}

extension SenseCryptIdP {
    /// What evidence at a tenant is compared with when the wall clock shows `wall`; nil for a tenant that is not.
    public func attestationBasis(tenant: String, keyID: String?, wall: Instant) -> AttestationBasis? {
        let now = clock.now(wall: wall)
        return realms.peek(tenant) { realm in
            AttestationBasis(
                isWanted: realm.tenant.attestationMode != .off, policy: realm.tenant.attestation,
                trust: realm.tenant.anchors.resolved(settings.attestationTrust),
                attestedKey: keyID.flatMap { realm.attestedKeys[$0]?.point }, now: now)
        }
    }
}

/// What a request brings about the calling app.
enum EvidenceInput: Sendable {
    case none
    case malformed(EvidenceFault)
    case read(ReadEvidence)
}

/// Evidence with what it must be bound to, and what a first look at it found.
struct ReadEvidence: Sendable {
    let evidence: Evidence
    /// Nil where the evidence has no challenge or the request no key.
    let binding: EvidenceBinding?
    /// The look that was taken outside the lock.
    let look: Look?

    /// A look and what it compared with.
    struct Look: Sendable {
        let policy: AttestationPolicy
        let trust: AttestationTrust
        let attestedKey: [UInt8]?
        let explanation: EvidenceExplanation
        let facts: EvidenceFacts
    }
}

extension Reading {
    /// Evidence out of a form field: base64url of the object.
    func evidence(inForm field: String?, _ binding: (_ challenge: String) -> EvidenceBinding?) -> EvidenceInput {
        guard let field else { return .none }
        guard field.utf8.count <= limits.evidenceBytes else {
            let limit = "at most \(limits.evidenceBytes) bytes"
            return .malformed(EvidenceFault("size", expected: limit, actual: "\(field.utf8.count) bytes"))
        }
        guard let bytes = try? Base64URL.decode(field), let json = try? JSON(parsing: bytes) else {
            return .malformed(EvidenceFault("format", expected: "base64url of a JSON object", actual: "something else"))
        }
        return evidence(json, binding)
    }

    /// Evidence that is there as JSON.
    func evidence(_ json: JSON?, _ binding: (_ challenge: String) -> EvidenceBinding?) -> EvidenceInput {
        guard let json, json != .null else { return .none }
        do throws(EvidenceFault) {
            let evidence = try Evidence(json)
            let binding = evidence.challenge.flatMap(binding)
            return .read(ReadEvidence(evidence: evidence, binding: binding, look: look(at: evidence, binding)))
        } catch {
            return .malformed(error)
        }
    }

    /// The look at evidence with all its signatures, where the tenant wants one.
    private func look(at evidence: Evidence, _ binding: EvidenceBinding?) -> ReadEvidence.Look? {
        guard let basis = context.attestation(tenant, evidence.keyID), basis.isWanted else { return nil }
        return ReadEvidence.Look(
            evidence, binding, policy: basis.policy, trust: basis.trust, attestedKey: basis.attestedKey, now: basis.now,
            settings)
    }
}

extension ReadEvidence.Look {
    init(
        _ evidence: Evidence, _ binding: EvidenceBinding?, policy: AttestationPolicy, trust: AttestationTrust,
        attestedKey: [UInt8]?, now: Instant, _ settings: IdPSettings
    ) {
        let windows = settings.profile.windows
        let expected = EvidenceExpectations(
            policy: policy, trust: trust, binding: binding, attestedKey: attestedKey, now: now,
            playAge: windows.playTokenAge, playAhead: windows.playTokenAhead)
        self.policy = policy
        self.trust = trust
        self.attestedKey = attestedKey
        (explanation, facts) = EvidenceVerifier.examine(evidence, expected)
    }
}

extension Intake {
    /// Whether challenges are asked for: those of DPoP come along.
    var isForChallenge: Bool {
        if case .attestationChallenge = content { true } else { false }
    }
}
