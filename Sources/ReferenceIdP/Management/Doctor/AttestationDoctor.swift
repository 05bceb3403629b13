/// What is misconfigured about evidence, where a tenant looks at any.
extension Realm {
    /// Whose apps and whose word the tenant takes.
    func evidenceDiagnoses(_ standard: AttestationTrust) -> [Diagnosis] {
        guard tenant.attestationMode != .off else { return [] }
        return appDiagnoses() + anchorDiagnoses(standard)
    }

    private func appDiagnoses() -> [Diagnosis] {
        guard !tenant.attestation.namesAnApp else { return [] }
        return [
            diagnosis(
                evidenceSeverity, "tenant.attestation_app", "no app is named that evidence could be of",
                remedy: "set ios_app_ids or android_apps in attestation")
        ]
    }

    private func anchorDiagnoses(_ standard: AttestationTrust) -> [Diagnosis] {
        let trust = tenant.anchors.resolved(standard)
        let missing = [
            ("apple_roots", !tenant.attestation.iosAppIDs.isEmpty && trust.appleRoots.isEmpty),
            ("android_roots", !tenant.attestation.androidApps.isEmpty && trust.androidRoots.isEmpty),
        ].filter(\.1).map(\.0)
        if !missing.isEmpty {
            return [
                diagnosis(
                    evidenceSeverity, "tenant.attestation_anchors",
                    "nobody's word is taken about the tenant's apps: no \(missing.joined(separator: ", no "))",
                    remedy: "set \(missing.joined(separator: " and ")) in attestation, or start with a state directory")
            ]
        }
        let ofServer = tenant.anchors == TenantAnchors() && standard != AttestationTrust()
        guard ofServer else { return [] }
        return [
            diagnosis(
                .notice, "tenant.attestation_test_roots",
                "the trust anchors are the test roots of the state directory: evidence of real phones does not pass",
                remedy: "set apple_roots, android_roots and Play's keys in attestation to meet real phones")
        ]
    }

    /// Under enforce nobody gets in; under audit there are findings.
    private var evidenceSeverity: Diagnosis.Severity { tenant.attestationMode == .enforce ? .error : .warning }
}
