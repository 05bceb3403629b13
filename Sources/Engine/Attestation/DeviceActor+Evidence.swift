import Crypto
public import Device
import Encoding
import HTTP
import JOSE
import OAuth
import SignIn
import Store

/// A piece of evidence on its way to a server: what it is made of is told only once the server has answered.
struct SentEvidence: Sendable {
    let format: EvidenceFormat
    let isGenuine: Bool
}

/// Evidence about the app, for the starts and enrolments of this phone.
extension DeviceActor {
    /// What a flow's machine has to know.
    func attestationFacts(for issuer: String) -> DeviceFacts.Attestation {
        DeviceFacts.Attestation(
            sending: device.attestation.sending,
            challenge: Self.origin(of: issuer).flatMap { challenges.newest(of: $0, at: world.clock.now()) })
    }

    /// Makes the evidence of one start.
    func attest(_ binding: StartBinding, effect: EffectID, in flow: inout LiveFlow) -> Event {
        let data = ClientData.start(
            challenge: binding.challenge, clientID: binding.clientID, codeChallenge: binding.codeChallenge,
            jkt: binding.installThumbprint)
        do throws(EngineError) {
            let made = try evidence(
                for: data, issuer: binding.issuer, subject: installKey.publicKey, asked: flow.attestationDefect)
            flow.note(.evidence(made.step))
            flow.sentEvidence = made.sent
            return .attested(effect, evidence: Base64URL.encode(made.evidence.json.serialized()))
        } catch {
            flow.note(.evidence(.unavailable(error.description)))
            flow.sentEvidence = nil
            return .attestationUnavailable(effect, rule: error.description)
        }
    }

    /// Makes evidence as this phone's settings say, with the defect asked for in place of theirs.
    ///
    /// A defect of the settings is left out of evidence that cannot have it; one that was asked for is an error there.
    func evidence(
        for data: ClientData, issuer: String, subject: P256.PublicKey, asked: AttestationDefect?
    ) throws(EngineError) -> (evidence: Evidence, sent: SentEvidence, step: EvidenceStep) {
        var settings = device.attestation
        let install = try attestedInstall()
        if let asked { settings.defect = asked }
        var formats = formats(for: data, issuer: issuer, install: install, settings)
        if settings.defect == .replayedEvidence {
            let last = install.record(of: issuer)?.last ?? []
            formats = formats.filter { format in last.contains { $0.format == format } }
            guard !formats.isEmpty else {
                throw .attestation(
                    .nothingToReplay(
                        Attestor.format(
                            platform: device.platform, isEnrolment: data.isEnrolment, issuer: issuer, install: install,
                            settings: settings)))
            }
        }
        guard let format = formats.first(where: { settings.defect.applies(to: $0) }) ?? formats.first else {
            preconditionFailure("a platform has a format for every request")
        }
        if !settings.defect.applies(to: format) {
            if asked != nil { throw .attestation(.notApplicable(settings.defect, format)) }
            settings.defect = .none
        }
        let request = EvidenceRequest(
            format: format, clientData: data, issuer: issuer,
            staleChallenge: Self.origin(of: issuer).flatMap { challenges.ended(of: $0, at: world.clock.now()) })
        let made = try evidence(request, subject: subject, settings: settings)
        return (
            made.evidence, SentEvidence(format: format, isGenuine: settings.defect == .none),
            .made(format, defect: settings.defect, counter: format == .appAttestAssertion ? made.counter : nil)
        )
    }

    /// The formats this phone can send with a request, the one it would send by itself first.
    private func formats(
        for data: ClientData, issuer: String, install: AttestedInstall, _ settings: AttestationSettings
    ) -> [EvidenceFormat] {
        let natural = Attestor.format(
            platform: device.platform, isEnrolment: data.isEnrolment, issuer: issuer, install: install,
            settings: settings)
        return [natural] + device.platform.formats(isEnrolment: data.isEnrolment).filter { $0 != natural }
    }

    /// Draws from an answer what it says about the evidence that was sent.
    ///
    /// An attestation that was taken is followed by assertions; an assertion the server cannot take is followed by an
    /// attestation, since the server may not know the key (any more).
    func learn(from response: HTTPResponse, to sent: SentEvidence?, issuer: String) {
        guard let sent, sent.isGenuine, sent.format.isAppAttest else { return }
        let error = try? JSON(parsing: response.body)["error"]?.string
        switch (sent.format, error) {
        case (.appAttest, nil), (.appAttest, OAuthErrorCode.insufficientAuthorization.rawValue):
            guard response.status < 500, response.status != 429 else { return }
            try? markAttested(at: issuer)
        case (.appAttestAssertion, world.wire.attestationFailed): try? forgetAttestation(at: issuer)
        default: break
        }
    }

    /// Keeps the challenge an answer brought, in its field or, from a challenge endpoint, in its body.
    func recordChallenge(of response: HTTPResponse, from url: HTTPURL, isChallengeEndpoint: Bool) {
        var found = AttestationChallenge.challenge(response.fields.values(AttestationChallenge.field))
        if found == nil, isChallengeEndpoint {
            found = try? AttestationChallenge.challenge(
                status: response.status, mediaType: response.fields["Content-Type"], body: response.body)
        }
        guard let found else { return }
        challenges.record(found, of: url.origin, at: world.clock.now())
        metadataCache.forgetWithoutChallengeEndpoint(at: url.origin)
    }

    static func origin(of issuer: String) -> String? { (try? HTTPURL(issuer))?.origin }
}

extension ClientData {
    fileprivate var isEnrolment: Bool { if case .enrolment = request { true } else { false } }
}

extension Platform {
    /// The formats an app of this platform can send with a start or an enrolment.
    func formats(isEnrolment: Bool) -> [EvidenceFormat] {
        switch (self, isEnrolment) {
        case (.ios, _): [.appAttest, .appAttestAssertion]
        case (.android, true): [.androidKey]
        case (.android, false): [.playIntegrity, .androidKey, .playIntegrityClassic]
        }
    }

    /// Whether evidence of this platform can have a defect at all, or with a start or an enrolment alone.
    func canHave(_ defect: AttestationDefect, isEnrolment: Bool) -> Bool {
        formats(isEnrolment: isEnrolment).contains { defect.applies(to: $0) }
    }
}

extension EngineError {
    /// A defect no evidence of the platform can have.
    static func noSuchDefect(_ defect: AttestationDefect, on platform: Platform, isEnrolment: Bool) -> EngineError {
        let known = AttestationDefect.allCases.filter { platform.canHave($0, isEnrolment: isEnrolment) }
        return .invalid(
            field: "attestation_defect",
            rule: "evidence of an \(platform.rawValue) phone has one of "
                + known.map(\.rawValue).joined(separator: ", "),
            value: defect.rawValue)
    }
}

extension AttestationSettings {
    /// Looks whether evidence of a platform can be like that.
    ///
    /// Throws `.invalid` for a defect none of its evidence can have.
    public func check(on platform: Platform) throws(EngineError) {
        let isPossible = [false, true].contains { platform.canHave(defect, isEnrolment: $0) }
        guard defect == .none || isPossible else { throw .noSuchDefect(defect, on: platform, isEnrolment: false) }
    }
}
