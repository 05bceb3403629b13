import Encoding
import JOSE
import Profiles

/// A client's assertion about itself (RFC 7523 section 3, FAPI 2.0 section 5.3.2.1), well-formed.
///
/// What it says is for the rules to judge: they know the time, and what was seen before.
struct ClientAssertion: Sendable {
    /// The `client_assertion_type` of a JWT.
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// What an assertion may be signed with.
    static let algorithms: [JWSAlgorithm] = [.es256, .ps256]
    /// Their names.
    static var algorithmNames: [String] { algorithms.map(\.rawValue) }

    /// What is known of the signature.
    enum Signature: Sendable, Hashable {
        /// It was made by this key, which was one of the client's when the request was read.
        case good(JWK)
        case bad
    }

    let signature: Signature
    let issuer: String
    let subject: String
    /// As it was written: a string is another thing than an array with one string in it.
    let audience: JSON
    let expiresAt: Instant
    let issuedAt: Instant?
    let notBefore: Instant?
    let jti: String

    /// Reads the two parameters of a request by `client`, or by whoever `sub` names where it is nil.
    init(_ compact: String?, type: String?, of client: String?, _ reading: Reading) throws(CredentialFault) {
        guard type == Self.type else {
            throw CredentialFault("type", expected: Self.type, actual: type ?? "nothing")
        }
        guard let compact else { throw CredentialFault("missing", expected: "client_assertion", actual: "nothing") }
        let jws = try Self.jws(compact, reading)
        let algorithm = try Self.algorithm(of: jws)
        let claims = try AssertionClaims(jws)
        issuer = try claims.text("iss")
        subject = try claims.text("sub")
        audience = try claims.required("aud")
        expiresAt = try claims.requiredInstant("exp")
        issuedAt = try claims.instant("iat")
        notBefore = try claims.instant("nbf")
        jti = try claims.text("jti")
        let key = try Self.key(of: jws, algorithm, among: reading.context.clientKeys(reading.tenant, client ?? subject))
        let verified = try? jws.verify(key, algorithms: [algorithm])
        signature = verified == nil ? .bad : .good(key)
    }

    private static func jws(_ compact: String, _ reading: Reading) throws(CredentialFault) -> JWS {
        do {
            return try JWS(compact: compact, limit: reading.limits.jwsBytes)
        } catch {
            throw CredentialFault("jws", expected: error.expected, actual: error.actual)
        }
    }

    /// The `alg`, before any key is looked at: a MAC "verified" with a public key is the oldest trick.
    private static func algorithm(of jws: JWS) throws(CredentialFault) -> JWSAlgorithm {
        guard let algorithm = JWSAlgorithm(rawValue: jws.algorithm), algorithms.contains(algorithm) else {
            throw CredentialFault(
                "alg", expected: algorithmNames.joined(separator: " or "), actual: jws.algorithm)
        }
        return algorithm
    }

    /// The one registered key the assertion can be signed with.
    ///
    /// Without a `kid` there must be no choice (RFC 7515 section 4.1.4).
    private static func key(
        of jws: JWS, _ algorithm: JWSAlgorithm, among keys: JWKSet?
    ) throws(CredentialFault) -> JWK {
        guard let keys else {
            throw CredentialFault("kid", expected: "a client with registered keys", actual: "one without")
        }
        let candidates = keys.candidates(keyID: jws.keyID, algorithm: algorithm)
        guard let key = candidates.first, candidates.count == 1 else {
            let wanted = candidates.isEmpty ? "a key for \(algorithm.rawValue)" : "the kid of one of the keys"
            throw CredentialFault("kid", expected: "\(wanted) that is registered", actual: jws.keyID ?? "no kid")
        }
        return key
    }
}

/// The claims of a client assertion, read one by one.
private struct AssertionClaims {
    private let claims: JSONObject

    init(_ jws: JWS) throws(CredentialFault) {
        guard let claims = (try? JSON(parsing: jws.payload))?.object else {
            throw CredentialFault("payload", expected: "a JSON object", actual: "something else")
        }
        self.claims = claims
    }

    func required(_ name: String) throws(CredentialFault) -> JSON {
        guard let value = claims[name] else { throw CredentialFault(name, expected: "\(name)", actual: "nothing") }
        return value
    }

    func text(_ name: String) throws(CredentialFault) -> String {
        let value = try required(name)
        guard let text = value.string, (1...256).contains(text.utf8.count) else {
            throw CredentialFault(name, expected: "a string of 1 to 256 bytes", actual: value.string ?? value.kind)
        }
        return text
    }

    func requiredInstant(_ name: String) throws(CredentialFault) -> Instant {
        guard let instant = try instant(name) else {
            throw CredentialFault(name, expected: "\(name)", actual: "nothing")
        }
        return instant
    }

    /// A NumericDate, which may have a fraction (RFC 7519 section 2).
    func instant(_ name: String) throws(CredentialFault) -> Instant? {
        let bound: Int64 = 1 << 40
        switch claims[name] {
        case nil: return nil
        case .int(let seconds) where (0...bound).contains(seconds): return Instant(seconds: seconds)
        case .double(let seconds) where (0...Double(bound)).contains(seconds):
            return Instant(milliseconds: Int64(seconds * 1000))
        case let other?: throw CredentialFault(name, expected: "seconds since 1970", actual: other.kind)
        }
    }
}
