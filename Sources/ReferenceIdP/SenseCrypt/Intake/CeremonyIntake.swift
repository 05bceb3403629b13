import Crypto
import Encoding
import HTTP
import JOSE
import Profiles

/// A signed device request, well-formed; its signature was checked as far as its key is known.
struct CeremonyJWS: Sendable {
    /// What is known of the signature.
    enum Signature: Sendable, Hashable {
        case good
        case bad
        /// Nobody enrolled the key, so there is nothing to check with.
        case unknownKey
    }

    /// The thumbprint of the key it claims to be signed with.
    let kid: String
    let signature: Signature
    let issuedAt: Instant
    let jti: String
    let ceremonyID: String
    let ceremonyChallenge: String
    /// The hash of `auth_session`, the key of the session.
    let sessionKey: String
    let jkt: String
    /// The number in a mismatch report.
    var number = 0
    /// The generation in a completion.
    var generation: Int64 = 0
    /// The hash of the face token in a completion.
    var faceTokenHash = ""
    /// The hash of the request, byte for byte.
    let proofHash: String

    init(compact: String, act: String, _ reading: Reading) throws(Refusal) {
        let jws = try reading.jws(reading.withSignature(compact))
        let words = reading.settings.profile.ceremony
        let name = words.claims
        let kid = try reading.deviceHeader(jws, type: words.type)
        let claims = try CeremonyClaims(jws, reading)
        if !reading.skips(.ceremonyAudience) { try claims.fixed("aud", reading.issuer) }
        if !reading.skips(.ceremonyAct) { try claims.fixed(name.act, act) }
        self.kid = kid
        issuedAt = Instant(seconds: try claims.integer("iat"))
        jti = try claims.text("jti", length: 22...256)
        ceremonyID = try claims.text(name.ceremony)
        ceremonyChallenge = try claims.text(name.challenge)
        sessionKey = try claims.text(name.authSessionHash, length: 43...43)
        jkt = try claims.text(name.installThumbprint, length: 43...43)
        proofHash = storedHash(compact)
        switch act {
        case words.acts.attempt:
            try claims.fixed(name.outcome, words.outcomes.mismatch)
            let limit = reading.limits.mismatches
            number = Int(try claims.integer(name.number, in: 1...Int64(limit)))
        case words.acts.complete:
            try claims.fixed(name.outcome, words.outcomes.match)
            generation = try claims.integer(name.generation, in: 1...Int64(Int32.max))
            faceTokenHash = try claims.text(name.faceTokenHash, length: 43...43)
        case words.acts.abort:
            _ = try claims.text(name.reason, length: 1...64)
        default: break
        }
        // Another alg is there only where the rule about it is off; then there is nothing to check by.
        signature = jws.algorithm == JWSAlgorithm.es256.rawValue ? reading.signature(of: jws, kid: kid) : .good
    }
}

/// Reads the calls of the ceremony endpoint.
enum CeremonyIntake {
    static func faceToken(_ reading: Reading) throws(Refusal) -> Intake.Content {
        .faceToken(try ceremony(reading, act: reading.settings.profile.ceremony.acts.faceToken))
    }

    static func attempt(_ reading: Reading) throws(Refusal) -> Intake.Content {
        .attempt(try ceremony(reading, act: reading.settings.profile.ceremony.acts.attempt))
    }

    static func abort(_ reading: Reading) throws(Refusal) -> Intake.Content {
        .abort(try ceremony(reading, act: reading.settings.profile.ceremony.acts.abort))
    }

    private static func ceremony(_ reading: Reading, act: String) throws(Refusal) -> CeremonyJWS {
        let body = try reading.jsonBody()
        return try CeremonyJWS(
            compact: try reading.text(reading.members.ceremonyRequest.request, of: body), act: act, reading)
    }
}

/// The claims of a signed device request, read one by one.
struct CeremonyClaims {
    private let claims: JSONObject
    private let reading: Reading
    /// What the names of the rules begin with.
    private let prefix: String

    init(_ jws: JWS, _ reading: Reading, rules prefix: String = "ceremony") throws(Refusal) {
        self.prefix = prefix
        guard let claims = (try? JSON(parsing: jws.payload))?.object else {
            throw reading.malformed("\(prefix).payload", expected: "a JSON object", actual: "something else")
        }
        self.claims = claims
        self.reading = reading
    }

    func text(_ name: String, length: ClosedRange<Int> = 1...256) throws(Refusal) -> String {
        guard let value = claims[name]?.string else {
            throw wrong(name, "a string", claims[name]?.kind ?? "nothing")
        }
        guard length.contains(value.utf8.count) else {
            throw wrong(
                name, "\(length.lowerBound) to \(length.upperBound) characters", "\(value.utf8.count) characters")
        }
        return value
    }

    func integer(_ name: String, in range: ClosedRange<Int64> = 0...(1 << 40)) throws(Refusal) -> Int64 {
        guard let value = claims[name]?.int else {
            throw wrong(name, "an integer", claims[name]?.kind ?? "nothing")
        }
        guard range.contains(value) else {
            throw wrong(name, "\(range.lowerBound) to \(range.upperBound)", "\(value)")
        }
        return value
    }

    func fixed(_ name: String, _ wanted: String) throws(Refusal) {
        let value = try text(name, length: 1...2048)
        guard value == wanted else { throw wrong(name, wanted, Clipped.text(value)) }
    }

    private func wrong(_ name: String, _ expected: String, _ actual: String) -> Refusal {
        reading.malformed("\(prefix).\(name)", expected: expected, actual: actual)
    }
}

extension Reading {
    /// The JSON object of a body.
    func jsonBody() throws(Refusal) -> JSONObject {
        let request = context.request
        guard request.mediaType?.essence == "application/json" else {
            throw malformed("request.content_type", expected: "application/json", actual: "another content type")
        }
        let json: JSON
        do {
            json = try JSON(parsing: request.body)
        } catch {
            throw malformed("request.json", expected: "well-formed JSON", actual: error.description)
        }
        guard let object = json.object else {
            throw malformed("request.json", expected: "an object", actual: json.kind)
        }
        return object
    }

    /// A member that must be a string and not empty.
    func text(_ name: String, of object: JSONObject, limit: Int? = nil) throws(Refusal) -> String {
        guard let value = object[name]?.string, !value.isEmpty else {
            throw malformed("request.\(name)", expected: "a string", actual: object[name]?.kind ?? "nothing")
        }
        let limit = limit ?? limits.jwsBytes
        guard value.utf8.count <= limit else {
            throw malformed("request.\(name)", expected: "at most \(limit) bytes", actual: "\(value.utf8.count) bytes")
        }
        return value
    }

    /// A compact JWS, parsed but not verified.
    func jws(_ compact: String, rules prefix: String = "ceremony") throws(Refusal) -> JWS {
        do {
            return try JWS(compact: compact, limit: limits.jwsBytes)
        } catch {
            throw malformed("\(prefix).jws", expected: error.expected, actual: error.actual)
        }
    }

    /// A compact JWS with something in the place of the signature it lacks, where the rule about `alg` is off.
    func withSignature(_ compact: String, unless rule: RuleSwitch = .ceremonyAlgorithm) -> String {
        skips(rule) && compact.hasSuffix(".") ? compact + "AA" : compact
    }

    /// The `kid` of a JWS of this type, ES256.
    func deviceHeader(_ jws: JWS, type: String) throws(Refusal) -> String {
        try header(jws, type: type)
        guard let kid = jws.keyID, kid.utf8.count == 43 else {
            throw malformed("ceremony.kid", expected: "a key thumbprint", actual: "something else")
        }
        return kid
    }

    /// `typ` and `alg` of a signed device request, by the rules about ceremonies or about enrolments.
    func header(
        _ jws: JWS, type: String, rules: (type: RuleSwitch, algorithm: RuleSwitch) = (.ceremonyType, .ceremonyAlgorithm)
    ) throws(Refusal) {
        guard jws.type == type || skips(rules.type) else {
            throw malformed(rules.type.rawValue, expected: type, actual: Clipped.text(jws.type ?? "nothing"))
        }
        guard jws.algorithm == JWSAlgorithm.es256.rawValue || skips(rules.algorithm) else {
            throw malformed(rules.algorithm.rawValue, expected: "ES256", actual: Clipped.text(jws.algorithm))
        }
    }

    /// Checks a device signature.
    ///
    /// A key nobody enrolled costs as much as one somebody did: there is a verification either way, so that the clock
    /// does not tell which keys are known.
    func signature(of jws: JWS, kid: String) -> CeremonyJWS.Signature {
        let point = context.deviceKey(tenant, kid)
        let checked = try? P256.PublicKey(x963: point ?? settings.accessTokenKey.x963)
        let isGood = checked?.verify(jws.signature, of: jws.signingInput) ?? false
        return point == nil ? .unknownKey : isGood ? .good : .bad
    }
}
