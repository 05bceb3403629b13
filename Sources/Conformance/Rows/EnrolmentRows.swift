import Crypto
import Device
import Encoding
import HTTP
import JOSE
import Profiles
import SignIn
import Transport

/// Registration: the right to enrol, and the proof by the key that is enrolled.
extension Row {
    static let enrolments: [Row] = [
        claim("enroll.typ", "the typ of an enrolment is its own") { draft, lab in
            draft.header["typ"] = .string(lab.setup.profile.ceremony.type)
        },
        Row("enroll.alg", "wire 9", "an enrolment is ES256") { lab, score async throws(ProbeFault) in
            try await malformed("alg none, without a signature", lab, score) { draft in
                draft.header["alg"] = "none"
                draft.written = { String($0[...($0.lastIndex(of: ".") ?? $0.startIndex)]) }
            }
        },
        Row("enroll.signature", "wire 9", "an enrolment is signed by the key that is enrolled") {
            lab, score async throws(ProbeFault) in
            let other = try lab.own("a key") { try P256.PrivateKey.generate(lab.setup.entropy) }
            try await malformed("a signature by another key", lab, score) { $0.signer = other }
            try await malformed("a signature of other claims", lab, score) { draft in
                draft.written = { swapped($0) }
            }
        },
        claim("enroll.aud", "aud is the issuer") { draft, _ in draft.claims["aud"] = "https://other.understudy.example"
        },
        claim("enroll.act", "act is enroll") { draft, lab in
            let names = lab.setup.profile.ceremony
            draft.claims[names.claims.act] = .string(names.acts.faceToken)
        },
        claim("enroll.tkt", "tkt is the hash of the ticket") { draft, lab in
            draft.claims[lab.setup.profile.ceremony.claims.ticketHash] = .string(CeremonyHash.of(ascii: "another"))
        },
        claim("enroll.fth", "fth is the hash of face_token") { draft, lab in
            draft.claims[lab.setup.profile.ceremony.claims.faceTokenHash] = .string(CeremonyHash.of(ascii: "another"))
        },
        claim("enroll.platform", "platform is ios or android") { draft, lab in
            draft.claims[lab.setup.profile.ceremony.claims.platform] = "conform"
        },
        Row("enroll.iat", "wire 9", "iat is not old and not ahead") { lab, score async throws(ProbeFault) in
            for (name, seconds) in [("a day old", -86_400), ("an hour ahead", 3600)] as [(String, Int64)] {
                let iat = lab.now.seconds + seconds
                try await malformed("an enrolment \(name)", lab, score) { $0.claims["iat"] = .int(iat) }
            }
        },
        Row("enroll.ticket", "wire 9", "the ticket is one of the tenant's") { lab, score async throws(ProbeFault) in
            let answer = try await lab.enrol(ticket: "conform-" + lab.setup.entropy.token(9))
            score.refused("an invented ticket", answer, [403], ["access_denied"])
        },
        Row("enroll.key", "wire 9", "the key is nobody else's", takenKey),
        Row("enroll.once", "wire 9", "a ticket is good once") { lab, score async throws(ProbeFault) in
            let ticket = try await lab.ticket()
            score.accepted("a ticket", try await lab.enrol(ticket: ticket))
            score.refused("the same ticket again", try await lab.enrol(ticket: ticket), [403], ["access_denied"])
        },
        Row("enroll.code", "wire 9", "the code is the one that was mailed to the address") {
            lab, score async throws(ProbeFault) in
            let answer = try await lab.enrol(code: lab.setup.entropy.token(16), email: lab.strangerAddress)
            score.refused("an invented code", answer, [403], ["access_denied"])
            if answer.isAccepted, let user = answer.json?[lab.setup.profile.members.enrollmentAnswer.subject]?.string {
                lab.made.users.append(user)
            }
        },
        Row("signup.decoy", "wire 9", "a sign-up looks the same whoever the address names") {
            lab, score async throws(ProbeFault) in
            let stranger = try await lab.signUp(lab.strangerAddress)
            guard stranger.isAccepted else {
                throw .missing("a sign-up was answered \(stranger.summary): the tenant has no self-signup")
            }
            let known = try await lab.signUp(lab.phone.email)
            score.check(
                "a sign-up of the phone's user", known.shape == stranger.shape, expected: stranger.shape,
                got: known.shape)
        },
        Row("signup.switch", "wire 9", "the tenant has self-signup") { lab, score async throws(ProbeFault) in
            let management = try Management(lab)
            let before = try await management.ofTenant("GET")["self_signup"] ?? false
            let answer = try await management.during("", ["self_signup": false], then: ["self_signup": before]) {
                () async throws(ProbeFault) in try await lab.signUp(lab.strangerAddress)
            }
            score.refused("a sign-up at a tenant without", answer, [403], ["access_denied"])
        },
    ]

    private static func takenKey(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let guest = try await lab.guest()
        func judge() async throws(ProbeFault) {
            let answer = try await lab.enrol(ticket: try await lab.ticket()) { $0.take(guest.phone.deviceKey) }
            score.refused("the key of another user's phone", answer, [403], ["access_denied"])
            if answer.isAccepted { lab.made.guest = nil }
        }
        // A key is attested once for a challenge, and a second later there is another challenge.
        guard lab.wantsEvidence else { return try await judge() }
        try await lab.later(by: 1, judge)
    }

    /// A row about one thing in the proof by the new key.
    private static func claim(
        _ rule: String, _ wanted: String, _ edit: @escaping @Sendable (inout EnrolmentDraft, Lab) -> Void
    ) -> Row {
        Row(rule, "wire 9", wanted) { lab, score async throws(ProbeFault) in
            let name = rule.split(separator: ".").last.map(String.init) ?? rule
            try await malformed("another \(name)", lab, score) { edit(&$0, lab) }
        }
    }

    private static func malformed(
        _ probe: String, _ lab: Lab, _ score: Score, _ edit: (inout EnrolmentDraft) -> Void
    ) async throws(ProbeFault) {
        let answer = try await lab.enrol(ticket: try await lab.ticket(), edit)
        score.refused(probe, answer, [400], ["invalid_request"])
    }

    /// A compact JWS whose claims have a blank more than what was signed.
    private static func swapped(_ compact: String) -> String {
        let parts = compact.split(separator: ".").map(String.init)
        guard parts.count == 3, let payload = try? Base64URL.decode(parts[1]) else { return compact }
        return [parts[0], Base64URL.encode(payload + [0x20]), parts[2]].joined(separator: ".")
    }
}

extension EnrolmentDraft {
    /// Enrols this key in place of the drawn one, with evidence about it.
    mutating func take(_ key: P256.PrivateKey) {
        self.key = key
        let jwk = JWK.p256(key.publicKey)
        header["jwk"] = jwk.json
        evidence?.subject = key.publicKey
        if let challenge = evidence?.data.challenge {
            evidence?.data = .enrolment(challenge: challenge, kid: jwk.thumbprint)
        }
    }
}
