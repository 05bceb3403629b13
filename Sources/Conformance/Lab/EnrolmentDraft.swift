import Crypto
import Device
import Encoding
import HTTP
import JOSE
import OAuth
import Profiles
import Transport

/// An enrolment before it is signed: right as it is made, and open to change.
struct EnrolmentDraft {
    /// The key that is enrolled.
    var key: P256.PrivateKey
    /// The key that signs; nil is the one that is enrolled.
    var signer: P256.PrivateKey?
    /// The header of the JWS.
    var header: JSONObject
    /// The claims of the JWS.
    var claims: JSONObject
    /// The members of the body beside the JWS: the right to enrol, and the face token.
    var members: JSONObject
    /// The compact JWS after it was signed.
    var written: (String) -> String = { $0 }
    /// Evidence about the app, and what is wrong with it.
    var evidence: EvidenceWish?
}

/// Registration, as a phone does it and otherwise.
extension Lab {
    /// A ticket that is good: one of a user of the run's own, else the spare one that was given.
    func ticket() async throws(ProbeFault) -> String {
        guard setup.management != nil else {
            guard let spare = setup.spareTicket, !made.isSpareTicketUsed else {
                throw .missing("a ticket is needed: give --management URL, or a --spare-ticket")
            }
            return spare
        }
        let user: String
        if let applicant = made.applicant {
            user = applicant
        } else {
            user = try await newUser()["id"]?.string ?? ""
            made.applicant = user
        }
        let answer = try await Management(self).ofTenant("POST", "users/\(user)/tickets")
        guard let ticket = answer["ticket"]?.string else { throw .missing("the management API gives no ticket") }
        return ticket
    }

    /// Enrols a new key by a ticket, after `edit` has had its way with what is sent.
    func enrol(
        ticket: String, _ edit: (inout EnrolmentDraft) throws -> Void = { _ in }
    ) async throws(ProbeFault) -> Answer {
        try await enrol([(names.ticket, .string(ticket))], secret: ticket, edit)
    }

    /// Enrols a new key by a mailed code.
    func enrol(code: String, email: String) async throws(ProbeFault) -> Answer {
        try await enrol([(names.email, .string(email)), (names.code, .string(code))], secret: code) { _ in }
    }

    /// What the members of an enrolment are called.
    private var names: SenseCryptProfile.Members.Enrollment { setup.profile.members.enrollment }

    private func enrol(
        _ right: [(String, JSON)], secret: String, _ edit: (inout EnrolmentDraft) throws -> Void
    ) async throws(ProbeFault) -> Answer {
        var draft = try await draft(right, secret: secret)
        try own("an enrolment") { try edit(&draft) }
        var body = draft.members
        body[names.enrollment] = .string(draft.written(try signed(draft)))
        if let wish = draft.evidence { body[names.attestation] = try evidence(wish).json }
        let answer = try await post(.object(body), to: setup.profile.ceremonyPaths.enroll)
        if answer.isAccepted { noteEnrolment(answer, by: secret) }
        return answer
    }

    /// Asks for a code by mail.
    func signUp(_ email: String) async throws(ProbeFault) -> Answer {
        let body = JSONObject([(setup.profile.members.signup.email, .string(email))])
        return try await post(.object(body), to: setup.profile.ceremonyPaths.signup)
    }

    private func draft(_ right: [(String, JSON)], secret: String) async throws(ProbeFault) -> EnrolmentDraft {
        let key = try own("a device key") { try P256.PrivateKey.generate(setup.entropy) }
        let sealed = try own("a face token") {
            try FaceToken.seal(
                .drawn(from: setup.entropy, at: now), face: phone.face, generation: 1,
                binding: FaceTokenBinding(issuer: issuer), entropy: setup.entropy)
        }
        let right = JSONObject(right + [(names.faceToken, .string(Base64URL.encode(sealed)))])
        let jws = EnrolmentJWS(
            issuer: issuer, ticket: secret, faceToken: sealed, platform: .ios, issuedAt: now.seconds,
            jti: setup.entropy.token(16))
        let parts = jws.signingInput(key: key.publicKey, names: setup.profile.ceremony).split(separator: ".")
            .map { (try? Base64URL.decode(String($0))).flatMap { try? JSON(parsing: $0) }?.object }
        guard parts.count == 2, let header = parts[0], let claims = parts[1] else {
            throw .own("the phone's enrolment cannot be read")
        }
        return EnrolmentDraft(
            key: key, header: header, claims: claims, members: right, evidence: try await evidenceOfEnrolment(key))
    }

    private func signed(_ draft: EnrolmentDraft) throws(ProbeFault) -> String {
        let input = JWS.signingInput(header: draft.header, payload: JSON.object(draft.claims).serialized())
        let signature = try own("an enrolment") {
            try (draft.signer ?? draft.key).sign(Array(input.utf8), nonce: setup.entropy.signingNonce)
        }
        return EnrolmentJWS.assemble(signingInput: input, signature: signature)
    }

    /// What an app would send beside an enrolment, where the issuer wants evidence.
    private func evidenceOfEnrolment(_ key: P256.PrivateKey) async throws(ProbeFault) -> EvidenceWish? {
        guard wantsEvidence else { return nil }
        let kid = JWK.p256(key.publicKey).thumbprint
        return EvidenceWish(
            data: .enrolment(challenge: try await challenge(), kid: kid), subject: key.publicKey, install: phone.jkt)
    }

    private func post(_ body: JSON, to path: String) async throws(ProbeFault) -> Answer {
        guard let endpoint = setup.metadata.deviceCeremonyEndpoint else {
            throw .missing("the metadata name no \(setup.profile.members.metadata.deviceCeremonyEndpoint)")
        }
        let url = try own("an address of the ceremony") { try endpoint.appending(path: path) }
        return try await fire(
            ClientRequest(
                url: url, method: "POST",
                fields: HTTPFields([("Accept", "application/json"), ("Content-Type", "application/json")]),
                body: body.serialized()))
    }

    private func noteEnrolment(_ answer: Answer, by secret: String) {
        if secret == setup.spareTicket { made.isSpareTicketUsed = true }
        let name = setup.profile.members.enrollmentAnswer
        guard let user = answer.json?[name.subject]?.string, let kid = answer.json?[name.kid]?.string else { return }
        made.devices.append((user, kid))
    }
}
