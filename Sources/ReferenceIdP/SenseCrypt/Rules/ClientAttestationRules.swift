import Encoding
import JOSE
import Profiles

extension Realm {
    /// The attestation of a client that authenticates by one, judged but for the DPoP proof of the combined mode.
    ///
    /// Leaves no trace: the proof's `jti` is used up by ``firstUse(of:_:)-(AuthenticatedClient,_)``.
    func attested(_ claim: ClientClaim, as application: Application, _ turn: Turn) throws(Refusal) -> ClientAttestation
    {
        let attestation: ClientAttestation
        switch claim.attestation {
        case .none:
            throw refusal(
                ClientAttestationFault("missing", expected: "OAuth-Client-Attestation", actual: "nothing"),
                turn.errors.invalidClient, turn)
        case .bad(let fault, _): throw refusal(fault, turn.errors.invalidClientAttestation, turn)
        case .good(let good): attestation = good
        }
        try identity(of: attestation, application, turn)
        try age(of: attestation, turn)
        try mode(of: attestation, application, turn)
        if let possession = attestation.possession { try judge(possession, turn) }
        return attestation
    }

    private func identity(
        of attestation: ClientAttestation, _ application: Application, _ turn: Turn
    ) throws(Refusal) {
        let trusted = tenant.anchors.resolved(turn.settings.attestationTrust).attesters
        guard let attester = attestation.attester, trusted.entries.contains(where: { $0.key == attester }) else {
            let fault = ClientAttestationFault("signature", expected: "an attester of the tenant", actual: "another")
            throw refusal(fault, turn.errors.invalidClientAttestation, turn)
        }
        guard attestation.subject.utf8.elementsEqual(application.clientID.utf8) else {
            let fault = ClientAttestationFault("sub", expected: application.clientID, actual: attestation.subject)
            throw refusal(fault, turn.errors.invalidClientAttestation, turn)
        }
    }

    private func age(of attestation: ClientAttestation, _ turn: Turn) throws(Refusal) {
        let ahead = turn.profile.windows.clientAttestationAhead
        if let issuedAt = attestation.issuedAt, issuedAt > turn.now.adding(seconds: ahead) {
            let fault = ClientAttestationFault(
                "iat", expected: "at most \(ahead) s ahead", actual: "\(issuedAt.seconds(since: turn.now)) s ahead")
            throw refusal(fault, turn.errors.invalidClientAttestation, turn)
        }
        let oldest = turn.profile.lifetimes.clientAttestation
        let isOld = attestation.issuedAt.map { turn.now.seconds(since: $0) > oldest } ?? false
        guard turn.now < attestation.expiresAt, !isOld else {
            let fault = ClientAttestationFault(
                "exp", expected: "an attestation in time, at most \(oldest) s old", actual: "an old one")
            throw refusal(fault, turn.errors.useFreshAttestation, turn)
        }
    }

    /// One proof: a JWT of its own, or the DPoP proof, as the application is registered.
    private func mode(
        of attestation: ClientAttestation, _ application: Application, _ turn: Turn
    ) throws(Refusal) {
        let isCombined = application.authentication == .attestationWithDPoP
        guard (attestation.possession == nil) != isCombined else { return }
        let fault = ClientAttestationFault(
            "pop.mode", expected: isCombined ? "a DPoP proof alone" : "OAuth-Client-Attestation-PoP",
            actual: isCombined ? "OAuth-Client-Attestation-PoP" : "nothing")
        throw refusal(fault, turn.errors.invalidClientAttestation, turn)
    }

    private func judge(_ possession: ClientAttestation.Possession, _ turn: Turn) throws(Refusal) {
        let issuer = turn.settings.issuer(tenant.id)
        guard let audience = possession.audience.string, audience.utf8.elementsEqual(issuer.utf8) else {
            let fault = ClientAttestationFault(
                "pop.aud", expected: "\(issuer), as a string",
                actual: possession.audience.string ?? possession.audience.kind)
            throw refusal(fault, turn.errors.invalidClientAttestation, turn)
        }
        let (windows, age) = (turn.profile.windows, turn.now.seconds(since: possession.issuedAt))
        guard age <= windows.clientAttestationAge, -age <= windows.clientAttestationAhead else {
            let fault = ClientAttestationFault(
                "pop.iat",
                expected: "\(windows.clientAttestationAge) s back to \(windows.clientAttestationAhead) s ahead",
                actual: "\(age) s back")
            throw refusal(fault, turn.errors.invalidClientAttestation, turn)
        }
        let isFresh =
            possession.challenge.map { turn.settings.challenges.isFresh($0, for: tenant.id, now: turn.now) } ?? false
        guard isFresh else {
            let fault = ClientAttestationFault(
                "pop.challenge", expected: "a challenge of this server",
                actual: possession.challenge == nil ? "none" : "another")
            throw refusal(fault, turn.errors.useAttestationChallenge, turn)
        }
    }

    /// In the combined mode the DPoP proof must be made with the key the attestation is about.
    func sameInstance(_ client: AuthenticatedClient, _ proof: AcceptedProof, _ turn: Turn) throws(Refusal) {
        guard let attestation = client.attestation, attestation.possession == nil, attestation.instance != proof.jkt
        else { return }
        throw refusal(
            ClientAttestationFault("dpop", expected: "a proof of the cnf key", actual: "another key"),
            turn.errors.invalidClientAttestation, turn)
    }

    /// Uses up a proof of possession for as long as it could be sent again.
    mutating func firstUse(of attestation: ClientAttestation, _ turn: Turn) throws(Refusal) {
        guard let possession = attestation.possession else { return }
        let windows = turn.profile.windows
        let end = max(turn.now, possession.issuedAt).adding(
            seconds: windows.clientAttestationAge + windows.clientAttestationAhead)
        let isNew = attestationProofs.insert(
            jkt: attestation.instance, jti: possession.jti, expires: end, now: turn.now)
        guard !isNew else { return }
        throw refusal(
            ClientAttestationFault("pop.jti", expected: "an identifier used once", actual: "a used one"),
            turn.errors.invalidClientAttestation, turn)
    }

    private func refusal(
        _ fault: ClientAttestationFault, _ answer: SenseCryptProfile.ErrorSpelling, _ turn: Turn
    ) -> Refusal {
        var refusal = Refusal(
            answer, rule: fault.rule, expected: fault.expected, actual: fault.actual,
            detail: "client authentication failed")
        refusal.fields = [attestationChallengeField(turn)]
        return refusal
    }
}
