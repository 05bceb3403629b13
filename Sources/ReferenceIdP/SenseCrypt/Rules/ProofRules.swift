import Encoding
import JOSE
import Profiles

/// Whether a call needs a nonce of the server.
///
/// One that is there must be fresh either way.
enum NonceNeed: Sendable {
    case required, optional
}

/// A DPoP proof that passed every check but the one against replay.
struct AcceptedProof: Sendable {
    /// Nil only where there is no readable proof and the rule that asks for one is switched off.
    let checked: CheckedProof?
    /// The thumbprint of its key; empty where there is none.
    var jkt: String { checked?.jkt ?? "" }
}

extension Realm {
    /// A good proof, in time, with a nonce where one is needed.
    func accepted(_ input: ProofInput, nonce need: NonceNeed, _ turn: Turn) throws(Refusal) -> AcceptedProof {
        try accepted(input, nonce: need, nonces: turn.settings.nonces, turn)
    }

    /// The same, for one of the two origins.
    func accepted(
        _ input: ProofInput, nonce need: NonceNeed, nonces: DPoPNonces, _ turn: Turn
    ) throws(Refusal) -> AcceptedProof {
        do {
            let proof = try input.get()
            let policy: NoncePolicy =
                switch need {
                case .required: .required(nonces)
                case .optional: .accepted(nonces)
                }
            try DPoPVerifier.accept(
                proof, now: turn.now, nonce: policy, times: turn.proofTimes, off: tenant.rulesOff.proofRules)
            return AcceptedProof(checked: proof)
        } catch {
            if let rule = error.broken, skips(ruleNamed: rule.rawValue) { return AcceptedProof(checked: nil) }
            throw Refusal(error, errors: turn.errors)
        }
    }

    /// Remembers a proof for as long as it could be sent again.
    ///
    /// The last of the checks: what was refused before leaves no trace, and what comes behind may consume.
    mutating func firstUse(of proof: AcceptedProof, _ turn: Turn) throws(Refusal) {
        guard let checked = proof.checked, !skips(.proofOnce) else { return }
        let deadline = checked.memoryDeadline(now: turn.now, times: turn.replayTimes)
        guard proofs.insert(jkt: proof.jkt, jti: checked.jti, expires: deadline, now: turn.now) else {
            throw Refusal(.replayed, errors: turn.errors)
        }
    }

    /// The same at the resource API, which remembers for itself.
    mutating func firstUseAtAPI(of proof: AcceptedProof, _ turn: Turn) throws(Refusal) {
        guard let checked = proof.checked, !skips(.proofOnce) else { return }
        let deadline = checked.memoryDeadline(now: turn.now, times: turn.replayTimes)
        guard apiProofs.insert(jkt: proof.jkt, jti: checked.jti, expires: deadline, now: turn.now) else {
            throw Refusal(.replayed, errors: turn.errors)
        }
    }
}

extension Turn {
    /// How far a proof's `iat` may be off.
    var proofTimes: ProofTimes {
        let windows = settings.profile.windows
        return ProofTimes(
            window: windows.proofAge, skew: windows.proofAhead, skewWithNonce: windows.proofAheadWithNonce)
    }

    /// How long a proof is remembered: as long as its age or its nonce could still be taken.
    var replayTimes: ProofTimes {
        let windows = settings.profile.windows
        return ProofTimes(
            window: max(windows.proofAge, 2 * windows.nonceBucket), skew: windows.proofAhead,
            skewWithNonce: windows.proofAheadWithNonce)
    }
}
