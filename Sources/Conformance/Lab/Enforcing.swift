import Encoding
import HTTP
import OAuth
import Profiles
import Transport

/// Whether the tenant enforces attestation, as far as that can be known.
enum Enforcement {
    /// It does.
    case enforced
    /// It does not; the management API can make it.
    case switchable(from: JSON)
}

/// Probes of a server that enforces attestation.
extension Lab {
    /// Runs probes while the issuer enforces attestation, which it is made to where the management API can do so.
    ///
    /// Throws `.missing` where it does not enforce, and, unless the probes bring no evidence, where it does not take the
    /// phone's genuine evidence: nothing could be judged by its refusals then.
    func enforcing(
        withEvidence: Bool = true, _ work: () async throws(ProbeFault) -> Void
    ) async throws(ProbeFault) {
        guard setup.vouching != nil else { throw .missing("no test roots were given to make evidence with") }
        switch try await enforcement() {
        case .enforced:
            if withEvidence { try await genuineIsTaken() }
            try await work()
        case .switchable(let before):
            defer {
                metadataMeanwhile = nil
                newestChallenge = nil
                forgetStages()
            }
            try await Management(self).during(
                "", ["attestation_mode": "enforce"], then: ["attestation_mode": before]
            ) { () async throws(ProbeFault) in
                metadataMeanwhile = try await metadataNow()
                if withEvidence { try await genuineIsTaken() }
                try await work()
            }
        }
    }

    private func enforcement() async throws(ProbeFault) -> Enforcement {
        if setup.enforcesAttestation { return .enforced }
        if setup.management != nil {
            let mode = try await Management(self).ofTenant("GET")["attestation_mode"] ?? "off"
            return mode == "enforce" ? .enforced : .switchable(from: mode)
        }
        let answer = try await exchange(try await startWithoutEvidence())
        guard answer.error == "attestation_required" else {
            throw .missing(
                "the issuer does not enforce attestation, by the look of it: a start without evidence was answered "
                    + "\(answer.summary) (where it should enforce, say --attestation-enforced)")
        }
        return .enforced
    }

    /// The metadata as they are while attestation is enforced: they may name a challenge endpoint now.
    private func metadataNow() async throws(ProbeFault) -> ServerMetadata {
        let url = try own("the address of the metadata") {
            try HTTPURL(issuer + "/.well-known/openid-configuration")
        }
        let answer = Answer(response: try await setup.send(ClientRequest(url: url)))
        do throws(MetadataError) {
            return try ServerMetadata(
                status: answer.status, mediaType: answer.response.fields["Content-Type"], body: answer.response.body,
                issuer: issuer, allowPlainHTTPOnLoopback: true,
                ceremonyMember: setup.profile.members.metadata.deviceCeremonyEndpoint)
        } catch {
            throw .broken("the metadata under enforced attestation cannot be used: \(error.description)")
        }
    }

    private func genuineIsTaken() async throws(ProbeFault) {
        guard !isVouchedFor else { return }
        let answer = try await exchange(try await vouchedStart())
        guard answer.isAccepted else {
            throw .missing(
                "genuine evidence of the phone was answered \(answer.summary): give the tenant the roots of this state "
                    + "directory (understudy roots export) and the app's name")
        }
        isVouchedFor = true
    }
}
