import Crypto
import Encoding
import JOSE
import Profiles

/// Call 1, well-formed.
struct StartRequest: Sendable {
    let client: ClientClaim
    /// As asked, each scope once, in order.
    let scope: [String]
    let resource: String?
    let loginHint: String?
    let nonce: String
    let codeChallenge: String
    /// RFC 9449 section 10: must name the proof's key where it is given.
    let dpopJKT: String?
    /// Evidence about the calling app, as far as it was looked at.
    let attestation: EvidenceInput
    let proof: ProofInput
}

/// Call 3, well-formed.
struct CompletionRequest: Sendable {
    let client: ClientClaim
    /// H(`auth_session`).
    let sessionKey: String
    let ceremony: CeremonyJWS
    let faceToken: [UInt8]
    let proof: ProofInput
}

/// Reads requests of the authorization challenge endpoint: with `auth_session` a completion, else a start.
enum ChallengeIntake {
    /// Parameters only a start has.
    private static let startParameters = [
        "code_challenge", "code_challenge_method", "scope", "resource", "login_hint", "nonce", "dpop_jkt",
    ]

    static func read(_ reading: Reading) throws(Refusal) -> Intake.Content {
        let form = try StrictForm(reading)
        try form.fixed("response_type", "code")
        if let session = try form.optional("auth_session") {
            try refuse(startParameters, in: form, of: "a completion", reading)
            return .completion(try completion(form, session: session, reading))
        }
        let name = reading.members.challengeForm
        try refuse([name.ceremonyProof, name.faceToken], in: form, of: "a start", reading)
        return .start(try start(form, reading))
    }

    private static func refuse(
        _ names: [String], in form: StrictForm, of call: String, _ reading: Reading
    ) throws(Refusal) {
        guard let name = form.firstPresent(of: names) else { return }
        throw reading.malformed(
            "request.mixed", expected: "either a start or a completion", actual: "\(call) with \(name)")
    }

    private static func start(_ form: StrictForm, _ reading: Reading) throws(Refusal) -> StartRequest {
        let client = try ClientClaim(form, reading)
        let codeChallenge = try codeChallenge(form, reading)
        let proof = reading.context.proof(origin: reading.settings.origin)
        return StartRequest(
            client: client,
            scope: ScopeText.list(try form.optional("scope") ?? "openid"),
            resource: try form.optional("resource"),
            loginHint: try form.optional("login_hint"),
            nonce: try form.required("nonce", limit: 256),
            codeChallenge: codeChallenge,
            dpopJKT: try form.optional("dpop_jkt"),
            attestation: reading.evidence(
                inForm: try form.optional(reading.members.challengeForm.attestation, limit: .max)
            ) { challenge in
                guard let jkt = try? proof.get().jkt else { return nil }
                return .start(challenge: challenge, clientID: client.id, codeChallenge: codeChallenge, jkt: jkt)
            },
            proof: proof)
    }

    /// RFC 7636: S256 alone, and a missing method would mean `plain`.
    private static func codeChallenge(_ form: StrictForm, _ reading: Reading) throws(Refusal) -> String {
        if reading.skips(.startCodeChallenge) { return try form.optional("code_challenge") ?? "" }
        try form.fixed("code_challenge_method", "S256")
        let challenge = try form.required("code_challenge")
        guard challenge.utf8.count == 43, (try? Base64URL.decode(challenge)) != nil else {
            throw reading.malformed(
                "request.code_challenge", expected: "43 characters of base64url",
                actual: "\(challenge.utf8.count) characters")
        }
        return challenge
    }

    private static func completion(
        _ form: StrictForm, session: String, _ reading: Reading
    ) throws(Refusal) -> CompletionRequest {
        let limits = reading.limits
        let name = reading.members.challengeForm
        return CompletionRequest(
            client: try ClientClaim(form, reading),
            sessionKey: storedHash(session),
            ceremony: try CeremonyJWS(
                compact: try form.required(name.ceremonyProof, limit: limits.jwsBytes),
                act: reading.settings.profile.ceremony.acts.complete, reading),
            faceToken: try form.bytes(name.faceToken, limit: limits.faceTokenBytes),
            proof: reading.context.proof(origin: reading.settings.origin))
    }
}

/// A `scope` value as a list.
enum ScopeText {
    /// Each scope once, in order of first occurrence.
    static func list(_ text: String) -> [String] {
        var scopes: [String] = []
        for scope in text.split(separator: " ").prefix(64) where !scopes.contains(String(scope)) {
            scopes.append(String(scope))
        }
        return scopes
    }
}
