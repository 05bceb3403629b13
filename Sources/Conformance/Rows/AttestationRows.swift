import Crypto
import Device
import Encoding
import Engine
import HTTP
import JOSE
import Profiles
import SignIn
import Transport

/// Evidence about the app, where the tenant enforces it.
extension Row {
    static let attestations: [Row] = [
        Row("attestation.evidence", "wire 14", "under enforce a start and an enrolment bring evidence") {
            lab, score async throws(ProbeFault) in
            try await lab.enforcing(withEvidence: false) { () async throws(ProbeFault) in
                score.refused(
                    "a start without evidence", try await lab.exchange(try await lab.startWithoutEvidence()), [400],
                    ["attestation_required"])
                try await enrolment("without evidence", lab, score, ["attestation_required"]) { $0 = nil }
            }
        },
        Row("attestation.challenge", "wire 14", "evidence is for a challenge of this server, and not for an old one") {
            lab, score async throws(ProbeFault) in
            try await lab.enforcing { () async throws(ProbeFault) in
                let invented = try await lab.vouchedStart(challenge: lab.setup.entropy.token(32))
                score.refused(
                    "an invented challenge", try await lab.exchange(invented), [400],
                    ["use_attestation_challenge", "attestation_failed"])
                try await enrolment(
                    "with an invented challenge", lab, score, ["use_attestation_challenge", "attestation_failed"]
                ) { $0?.data.challenge = lab.setup.entropy.token(32) }
                try await staleChallenge(lab, score)
            }
        },
        Row("attestation.chain.root", "wire 14", "a chain of certificates ends at a root the tenant trusts") {
            lab, score async throws(ProbeFault) in
            try await lab.enforcing { () async throws(ProbeFault) in
                try await enrolment("with a chain to another root", lab, score, ["attestation_failed"]) { wish in
                    wish?.format = lab.setup.vouching?.enrolmentFormat
                    wish?.defect = .wrongRoot
                }
                let format = lab.firstEvidence
                guard AttestationDefect.wrongRoot.applies(to: format) else {
                    throw .missing("\(format.rawValue) has no certificates: give --attest android-key")
                }
                let start = try await lab.vouchedStart { wish in
                    wish.format = format
                    wish.defect = .wrongRoot
                }
                score.refused(
                    "a chain to another root of the same name", try await lab.exchange(start), [400],
                    ["attestation_failed"])
            }
        },
        Row("attestation.replay", "wire 14", "evidence is good once") { lab, score async throws(ProbeFault) in
            try await lab.enforcing { () async throws(ProbeFault) in
                let start = try await lab.vouchedStart { $0.format = lab.firstEvidence }
                score.accepted("evidence for the first time", try await lab.exchange(start))
                score.refused(
                    "the same evidence again, with a proof of its own", try await lab.exchange(start), [400],
                    ["attestation_failed", "use_attestation_challenge"])
            }
        },
        Row("attestation.nonce", "wire 14", "evidence is bound to the request it comes with", binding),
        Row("attestation.install", "wire 14", "an App Attest key belongs to one install") {
            lab, score async throws(ProbeFault) in
            try await lab.enforcing { () async throws(ProbeFault) in
                guard lab.firstEvidence == .appAttest else {
                    throw .missing("the phone's evidence comes of no key of the install's")
                }
                let start = try await lab.vouchedStart { $0.format = .appAttest }
                score.accepted("the install's own evidence", try await lab.exchange(start))
                let key = try lab.own("a key") { try P256.PrivateKey.generate(lab.setup.entropy) }
                let other = lab.phone.reinstalled(key)
                let cloned = try await lab.vouchedStart(by: other) { wish in
                    wish.format = .appAttest
                    wish.install = lab.phone.jkt
                }
                score.refused(
                    "the same App Attest key with another DPoP key", try await lab.exchange(cloned, by: other), [400],
                    ["attestation_failed"])
            }
        },
    ]

    /// An enrolment with other evidence, where there is a ticket for it.
    private static func enrolment(
        _ probe: String, _ lab: Lab, _ score: Score, _ errors: [String], _ edit: (inout EvidenceWish?) -> Void
    ) async throws(ProbeFault) {
        do throws(ProbeFault) {
            let answer = try await lab.enrol(ticket: try await lab.ticket()) { edit(&$0.evidence) }
            score.refused("an enrolment \(probe)", answer, [400], errors)
        } catch .missing(let what) {
            score.skip("an enrolment \(probe): \(what)")
        }
    }

    private static func staleChallenge(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let challenge = try await lab.challenge()
        do throws(ProbeFault) {
            try await lab.later(by: lab.setup.profile.lifetimes.attestationChallenge + 1) {
                () async throws(ProbeFault) in
                let start = try await lab.vouchedStart(challenge: challenge)
                score.refused(
                    "a challenge that is too old", try await lab.exchange(start), [400],
                    ["use_attestation_challenge", "attestation_failed"])
            }
        } catch .missing(let what) {
            score.skip("a challenge that is too old: \(what)")
        }
    }

    /// What a start is bound to.
    private typealias Bound = (client: String, code: String, jkt: String)

    /// Genuine evidence for a good challenge, and yet made for another request.
    private static func binding(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let stranger = try lab.own("a key") { try P256.PrivateKey.generate(lab.setup.entropy) }
        let (jkt, code) = (JWK.p256(stranger.publicKey).thumbprint, lab.setup.entropy.token(32))
        try await lab.enforcing { () async throws(ProbeFault) in
            try await misbound("another DPoP key", lab, score) { bound in
                .start(clientID: bound.client, codeChallenge: bound.code, jkt: jkt)
            }
            try await misbound("another code challenge", lab, score) { bound in
                .start(clientID: bound.client, codeChallenge: code, jkt: bound.jkt)
            }
            try await misbound("another client", lab, score) { bound in
                .start(clientID: bound.client + "x", codeChallenge: bound.code, jkt: bound.jkt)
            }
            try await misbound("an enrolment", lab, score) { _ in .enrolment(kid: lab.phone.kid) }
            try await enrolment("with evidence bound to another key", lab, score, ["attestation_failed"]) { wish in
                wish?.format = lab.setup.vouching?.enrolmentFormat
                wish?.data.request = .enrolment(kid: jkt)
            }
        }
    }

    private static func misbound(
        _ name: String, _ lab: Lab, _ score: Score, _ request: (Bound) -> ClientData.Request
    ) async throws(ProbeFault) {
        let start = try await lab.vouchedStart { wish in
            wish.format = lab.firstEvidence
            guard case .start(let client, let code, let jkt) = wish.data.request else { return }
            wish.data.request = request((client, code, jkt))
        }
        score.refused("evidence bound to \(name)", try await lab.exchange(start), [400], ["attestation_failed"])
    }
}

extension Lab {
    /// The format an install's first evidence has; App Attest's assertions have a counter, which is another rule's.
    var firstEvidence: EvidenceFormat { setup.vouching?.startFormat ?? .appAttest }
}
