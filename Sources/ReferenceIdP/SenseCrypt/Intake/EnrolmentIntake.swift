import Crypto
import Encoding
import JOSE
import Profiles

/// A request for a mail code, well-formed.
struct SignupRequest: Sendable {
    let email: String
}

/// A registration, well-formed, its proof of possession checked.
struct EnrolmentRequest: Sendable {
    /// By what right.
    enum Right: Sendable {
        /// A ticket of this hash, and whether it has the form of the tenant's own.
        case ticket(hash: String, looksLikeOurs: Bool)
        /// A code of this hash, sent to this address.
        case mailCode(address: String, hash: String)
    }

    let right: Right
    /// The thumbprint and X9.63 point of the device key.
    let kid: String
    let publicKey: [UInt8]
    let platform: String
    let issuedAt: Instant
    let faceToken: [UInt8]
    /// Evidence about the calling app, as far as it was looked at.
    let attestation: EvidenceInput
}

/// Reads the two calls of a registration.
enum EnrolmentIntake {
    static func signup(_ reading: Reading) throws(Refusal) -> Intake.Content {
        let body = try reading.jsonBody()
        return .signup(SignupRequest(email: try email(reading, body, reading.members.signup.email)))
    }

    static func enrolment(_ reading: Reading) throws(Refusal) -> Intake.Content {
        let body = try reading.jsonBody()
        let name = reading.members.enrollment
        let (right, secretHash) = try right(reading, body, name)
        let limit = reading.limits.faceTokenBytes
        let sealed = try reading.text(name.faceToken, of: body, limit: limit / 3 * 4 + 4)
        let faceToken = try reading.bytes(sealed, name: name.faceToken, limit: limit)
        let compact = try reading.text(name.enrollment, of: body)
        let jws = try reading.jws(reading.withSignature(compact, unless: .enrollAlgorithm), rules: "enroll")
        let key = try deviceKey(jws, reading)
        let claims = try CeremonyClaims(jws, reading, rules: "enroll")
        let words = reading.settings.profile.ceremony
        let claim = words.claims
        try fixed(.enrollAudience, "aud", reading.issuer, claims, reading)
        try fixed(.enrollAct, claim.act, words.acts.enroll, claims, reading)
        try fixed(.enrollTicketHash, claim.ticketHash, secretHash, claims, reading)
        try fixed(.enrollFaceToken, claim.faceTokenHash, Base64URL.encode(SHA256.hash(faceToken)), claims, reading)
        _ = try claims.text("jti", length: 22...256)
        let platform = try platform(claims, words, reading)
        let kid = JWK.p256(key).thumbprint
        let request = EnrolmentRequest(
            right: right, kid: kid, publicKey: key.x963, platform: platform,
            issuedAt: Instant(seconds: try claims.integer("iat")), faceToken: faceToken,
            attestation: reading.evidence(body[name.attestation]) { .enrolment(challenge: $0, kid: kid) })
        return .enrolment(request)
    }

    /// A claim that has one right value, unless the rule about it is off.
    private static func fixed(
        _ rule: RuleSwitch, _ name: String, _ wanted: String, _ claims: CeremonyClaims, _ reading: Reading
    ) throws(Refusal) {
        if !reading.skips(rule) { try claims.fixed(name, wanted) }
    }

    private static func platform(
        _ claims: CeremonyClaims, _ words: SenseCryptProfile.Ceremony, _ reading: Reading
    ) throws(Refusal) -> String {
        let (name, known) = (words.claims.platform, words.platforms)
        let platform = try claims.text(name)
        guard platform == known.ios || platform == known.android || reading.skips(.enrollPlatform) else {
            throw reading.malformed(
                "enroll.\(name)", expected: "\(known.ios) or \(known.android)", actual: Clipped.text(platform))
        }
        return platform
    }

    /// Either a ticket, or an address and the code that was sent to it.
    private static func right(
        _ reading: Reading, _ body: JSONObject, _ name: SenseCryptProfile.Members.Enrollment
    ) throws(Refusal) -> (EnrolmentRequest.Right, hash: String) {
        if body[name.ticket] != nil {
            guard body[name.email] == nil, body[name.code] == nil else {
                throw reading.malformed("request.\(name.ticket)", expected: "a ticket or a code", actual: "both")
            }
            let ticket = try reading.text(name.ticket, of: body, limit: reading.limits.parameterBytes)
            let hash = storedHash(ticket)
            let looksLikeOurs = (try? Base64URL.decode(ticket))?.count == 32
            return (.ticket(hash: hash, looksLikeOurs: looksLikeOurs), hash)
        }
        let address = AddressKey.of(try email(reading, body, name.email))
        let hash = storedHash(try reading.text(name.code, of: body, limit: reading.limits.parameterBytes))
        return (.mailCode(address: address, hash: hash), hash)
    }

    private static func email(_ reading: Reading, _ body: JSONObject, _ name: String) throws(Refusal) -> String {
        let email = try reading.text(name, of: body, limit: reading.limits.parameterBytes)
        guard EmailAddress.isPlausible(email) else {
            throw reading.malformed("request.\(name)", expected: "an email address", actual: "something else")
        }
        return email
    }

    /// The key in the header, once the signature has proved possession of it.
    private static func deviceKey(_ jws: JWS, _ reading: Reading) throws(Refusal) -> P256.PublicKey {
        try reading.header(
            jws, type: reading.settings.profile.ceremony.enrollmentType, rules: (.enrollType, .enrollAlgorithm))
        guard let member = jws.header["jwk"], case .p256(let key) = try? JWK(member) else {
            throw reading.malformed("enroll.jwk", expected: "a P-256 public key", actual: "something else")
        }
        // Another alg is there only where the rule about it is off; then there is nothing to check by.
        guard jws.algorithm == JWSAlgorithm.es256.rawValue, !reading.skips(.enrollSignature) else { return key }
        do throws(JOSEError) {
            _ = try jws.verify(.p256(key), algorithms: [.es256])
        } catch {
            throw reading.malformed(
                "enroll.signature", expected: "a signature by the key in the header", actual: error.actual)
        }
        return key
    }
}

/// What may be an email address: one `@` with something on both sides, no blanks, at most 254 bytes.
enum EmailAddress {
    static func isPlausible(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return text.utf8.count <= 254 && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }
}
