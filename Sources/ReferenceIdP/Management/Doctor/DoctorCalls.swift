import Encoding
import Profiles

extension SenseCryptIdP {
    /// What is misconfigured, worst first, tenant by tenant.
    ///
    /// Walks over tenants and applications: it costs as much as there are, and is for a person to ask.
    func examineAll(_ turn: Turn) -> PendingReply {
        let ofTenants = realms.keys.flatMap { realms[$0]?.diagnoses(settings, at: turn.now) ?? [] }
        return report(clockDiagnoses() + ofTenants)
    }

    /// The same for one tenant.
    func examineTenant(_ call: ManagementCall, _ turn: Turn) throws(Refusal) -> PendingReply {
        report(clockDiagnoses() + (try realm(call).diagnoses(settings, at: turn.now)))
    }

    private func clockDiagnoses() -> [Diagnosis] {
        let remedy = "put it back with understudy idp clock real"
        return switch clock {
        case .real: []
        case .offset(let seconds):
            [
                Diagnosis(
                    .notice, "idp.clock",
                    "the IdP's clock is \(seconds) s off the machine's: proofs of phones that are not "
                        + "may be refused", remedy: remedy)
            ]
        case .frozen:
            [
                Diagnosis(
                    .warning, "idp.clock", "the IdP's clock stands still: sessions, codes and tokens never end",
                    remedy: remedy)
            ]
        }
    }

    private func report(_ diagnoses: [Diagnosis]) -> PendingReply {
        let limit = settings.profile.limits.page
        let ordered = Diagnosis.Severity.allCases.flatMap { severity in diagnoses.filter { $0.severity == severity } }
        return .json(
            200,
            .object([
                ("healthy", .bool(ordered.first?.severity != .error)),
                ("diagnoses", .array(ordered.prefix(limit).map(\.json))),
                ("left_out", .int(Int64(max(0, ordered.count - limit)))),
            ]))
    }
}
