public import Crypto
public import Encoding

/// The platform of the virtual phones as far as it vouches for apps: makes evidence, genuine or wrong on purpose.
public struct Attestor: Sendable {
    let roots: AttestationRoots

    /// A platform with these authorities.
    public init(roots: AttestationRoots) { self.roots = roots }

    /// Makes one piece of evidence, and what the install remembers afterwards: its counter, and the evidence.
    ///
    /// `settings` say what phone, app and defect; `now` is the platform's time, which is the true one; keys, serial
    /// numbers and nonces come out of `entropy`, of a seeded source always the same. Throws ``AttestationError`` where
    /// the format cannot have the defect, where the caller gave no key, and where settings are those of no phone.
    public func evidence(
        _ request: EvidenceRequest, of install: AttestedInstall, keys: EvidenceKeys, settings: AttestationSettings,
        at now: Instant, entropy: Entropy
    ) throws(AttestationError) -> (Evidence, AttestedInstall) {
        let (format, defect) = (request.format, settings.defect)
        guard defect.applies(to: format) else { throw .notApplicable(defect, format) }
        if defect == .replayedEvidence {
            let last = install.record(of: request.issuer)?.last.first { $0.format == format }
            guard let last else { throw .nothingToReplay(format) }
            return (last, install)
        }
        let binding = try EvidenceBinding(request, keys: keys, defect: defect, entropy: entropy)
        let maker = try EvidenceMaker(roots: roots, settings: settings, now: now, entropy: entropy)
        guard format != .appAttestAssertion || install.counter < .max else { throw .counterExhausted }
        var remembered = install
        let body: Evidence.Body
        do throws(CryptoError) {
            switch format {
            case .appAttest: body = try maker.attestation(binding)
            case .appAttestAssertion:
                if defect != .counterRollback { remembered.counter += 1 }
                body = try maker.assertion(binding, counter: remembered.counter)
            case .androidKey: body = try maker.androidChain(binding)
            case .playIntegrity, .playIntegrityClassic: body = try maker.playToken(binding)
            }
        } catch {
            throw .crypto(error)
        }
        let evidence = Evidence(format: format, challenge: binding.challenge, body: body)
        remembered.remember(evidence, for: request.issuer)
        return (evidence, remembered)
    }

    /// The format a phone's app sends next: at an enrolment or a start, by platform and what the issuer has taken.
    public static func format(
        platform: Platform, isEnrolment: Bool, issuer: String, install: AttestedInstall, settings: AttestationSettings
    ) -> EvidenceFormat {
        switch platform {
        case .ios: install.appAttestFormat(for: issuer)
        case .android: isEnrolment ? .androidKey : settings.androidStart
        }
    }
}
