import Crypto
import Device
import Encoding
import HTTP
import JOSE
import OAuth
import Profiles
import SignIn
import Transport

/// One install of the app, by its DPoP key: its App Attest key, and what it remembers.
struct ProbeInstall {
    let appAttestKey: P256.PrivateKey
    var remembered = AttestedInstall()
}

/// One piece of evidence to be made.
struct EvidenceWish {
    /// What it is bound to.
    var data: ClientData
    /// The key it is about, for `android-key`.
    var subject: P256.PublicKey
    /// The DPoP key of the install whose App Attest key vouches.
    var install: String
    /// Which format; nil is the one the app would send next.
    var format: EvidenceFormat?
    /// What is wrong with it on purpose.
    var defect = AttestationDefect.none
}

/// Evidence about the app: made as the phone's platform would, for a challenge asked for now.
extension Lab {
    /// Makes evidence.
    func evidence(_ wish: EvidenceWish) throws(ProbeFault) -> Evidence {
        guard let vouching = setup.vouching else { throw .missing("no test roots were given to make evidence with") }
        var install = try install(wish.install)
        let format = wish.format ?? naturalFormat(wish.data, install, vouching)
        var settings = vouching.settings
        settings.defect = wish.defect
        let request = EvidenceRequest(format: format, clientData: wish.data, issuer: issuer)
        let keys = EvidenceKeys(appAttest: install.appAttestKey, subject: wish.subject)
        let evidence: Evidence
        do throws(AttestationError) {
            (evidence, install.remembered) = try vouching.attestor.evidence(
                request, of: install.remembered, keys: keys, settings: settings, at: now, entropy: setup.entropy)
        } catch {
            throw .own("evidence could not be made: \(error.description)")
        }
        installs[wish.install] = install
        return evidence
    }

    /// The install of a DPoP key, made when it is first asked for.
    private func install(_ jkt: String) throws(ProbeFault) -> ProbeInstall {
        if let known = installs[jkt] { return known }
        let key = try own("an App Attest key") { try P256.PrivateKey.generate(setup.entropy) }
        let made = ProbeInstall(appAttestKey: key)
        installs[jkt] = made
        return made
    }

    private func naturalFormat(
        _ data: ClientData, _ install: ProbeInstall, _ vouching: Vouching
    ) -> EvidenceFormat {
        let format = if case .enrolment = data.request { vouching.enrolmentFormat } else { vouching.startFormat }
        return format == .appAttest ? install.remembered.appAttestFormat(for: issuer) : format
    }

    /// Learns from the answer to a start what its install sends next, as the app does.
    func learn(from answer: Answer, to call: Call, by phone: ProbePhone) {
        guard call.purpose == .start, let sent = evidence(in: call)?["format"]?.string else { return }
        if sent == EvidenceFormat.appAttest.rawValue, answer.isAccepted {
            installs[phone.jkt]?.remembered.markAttested(at: issuer)
        }
        if sent == EvidenceFormat.appAttestAssertion.rawValue, answer.error == "attestation_failed" {
            installs[phone.jkt]?.remembered.forgetAttestation(at: issuer)
        }
    }
}

/// Challenges.
extension Lab {
    /// A challenge of the server, asked for now: of its endpoint, else by a start that brings no evidence.
    func challenge() async throws(ProbeFault) -> String {
        guard let endpoint = metadata.challengeEndpoint else { return try await challengeOfRefusal() }
        let fields = HTTPFields([
            ("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"),
        ])
        let answer = try await fire(ClientRequest(url: endpoint, method: "POST", fields: fields, body: []))
        let found = try? AttestationChallenge.challenge(
            status: answer.status, mediaType: answer.response.fields["Content-Type"], body: answer.response.body)
        guard let found else { throw .broken("the challenge endpoint was answered \(answer.summary)") }
        return found
    }

    /// Whether the issuer wants evidence that can be made, as far as it has said so.
    var wantsEvidence: Bool {
        setup.vouching != nil && (metadata.challengeEndpoint != nil || newestChallenge != nil)
    }

    private func challengeOfRefusal() async throws(ProbeFault) -> String {
        let answer = try await exchange(try await startWithoutEvidence())
        guard let found = answer.attestationChallenge else {
            throw .missing("the issuer gives no challenge: a start without evidence was answered \(answer.summary)")
        }
        return found
    }

    /// Notes what an answer of the issuer says about evidence.
    func note(challengeOf answer: Answer) {
        guard let challenge = answer.attestationChallenge else { return }
        newestChallenge = (challenge, now)
    }

    /// What the machine of a sign-in has to know about evidence.
    ///
    /// Where metadata name an endpoint it asks there; else it sends what a refusal has once asked for at once.
    var attestationFacts: DeviceFacts.Attestation {
        guard setup.vouching != nil, metadata.challengeEndpoint == nil, let (challenge, received) = newestChallenge,
            (0...Self.challengeUse).contains(now.seconds - received.seconds)
        else { return DeviceFacts.Attestation() }
        return DeviceFacts.Attestation(sending: .always, challenge: challenge)
    }

    /// How long a challenge is used, in seconds: shorter than a server takes it.
    private static var challengeUse: Int64 { 240 }
}

/// Starts with evidence of their own.
extension Lab {
    /// A start as it would be sent, but for its evidence, which is left out.
    func startWithoutEvidence(by other: ProbePhone? = nil) async throws(ProbeFault) -> Call {
        try await ProbeFlow(self, by: other, vouches: false).advance(to: .start)
    }

    /// A start with evidence for a challenge asked for now, after `edit` has had its way with what is made.
    func vouchedStart(
        by other: ProbePhone? = nil, challenge given: String? = nil, _ edit: (inout EvidenceWish) -> Void = { _ in }
    ) async throws(ProbeFault) -> Call {
        let challenge = if let given { given } else { try await challenge() }
        return try vouched(try await startWithoutEvidence(by: other), by: other, challenge: challenge, edit)
    }

    /// The same start with other evidence, where it has some: no server takes a piece twice.
    func vouchedAnew(_ call: Call) async throws(ProbeFault) -> Call {
        guard call.purpose == .start, evidence(in: call) != nil else { return call }
        return try vouched(call, by: nil, challenge: try await challenge()) { _ in }
    }

    private func vouched(
        _ call: Call, by other: ProbePhone?, challenge: String, _ edit: (inout EvidenceWish) -> Void
    ) throws(ProbeFault) -> Call {
        guard case .form(var form) = call.body else { throw .own("a start has no form") }
        let phone = other ?? self.phone
        var wish = EvidenceWish(
            data: .start(
                challenge: challenge, clientID: form["client_id"] ?? "", codeChallenge: form["code_challenge"] ?? "",
                jkt: phone.jkt),
            subject: phone.installKey.publicKey, install: phone.jkt)
        edit(&wish)
        form.set(setup.profile.members.challengeForm.attestation, try evidence(wish).formValue)
        return Call(
            purpose: .start, attempt: call.attempt, url: call.url, body: .form(form), needsDPoP: true,
            bestEffort: false)
    }

    /// The evidence a start carries.
    func evidence(in call: Call) -> JSON? {
        call.value(setup.profile.members.challengeForm.attestation).flatMap { try? Base64URL.decode($0) }.flatMap {
            try? JSON(parsing: $0)
        }
    }
}

extension Evidence {
    /// What a start's form says: base64url of the object.
    var formValue: String { Base64URL.encode(json.serialized()) }
}
