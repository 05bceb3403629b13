import Profiles

extension Realm {
    /// What the tenant's attestation mode says to a flow that begins.
    ///
    /// `audit` lets it go on and leaves a finding. `enforce` refuses it, and before anything is counted: evidence is what
    /// keeps a foreign app from locking an address out. No evidence can be verified yet, so none passes.
    func attested(_ flow: String, evidence: String?, _ turn: inout Turn) throws(Refusal) {
        guard tenant.attestationMode != .off, !skips(.attestation) else { return }
        let expected = "evidence that \(flow) comes from the tenant's app"
        let actual = evidence == nil ? "none" : "evidence this IdP cannot verify"
        guard tenant.attestationMode == .enforce else {
            turn.remarks.append(Turn.Remark(rule: "attestation.evidence", expected: expected, actual: actual))
            return
        }
        throw Refusal(
            turn.errors.attestationRequired, rule: "attestation.evidence", expected: expected, actual: actual,
            detail: "the tenant enforces app attestation")
    }
}
