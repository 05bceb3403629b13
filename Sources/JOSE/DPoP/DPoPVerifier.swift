import Crypto
public import Encoding

/// The server's checks of a DPoP proof (RFC 9449 section 4.3), in two steps.
///
/// `check` needs no state and holds the expensive signature, so it runs outside any lock; `accept` is
/// cheap and decides with the server's clock and nonces. Last of all, and only for a proof that passed
/// both, comes `ReplayCache.insert`: so nobody fills the cache without signing.
public enum DPoPVerifier {
    /// The longest `jti` accepted, in bytes.
    public static let jtiLimit = 256
    /// The longest `nonce` read, in bytes.
    public static let nonceLimit = 512
    /// The last second of the year 9999.
    ///
    /// An `iat` in milliseconds is far beyond it.
    private static let latest: Int64 = 253_402_300_799

    /// Checks form, key, signature, method, URL and token hash of the proof of one request.
    ///
    /// `headerValues` are the values of every `DPoP` field of the request, `url` the request's own URL
    /// made of the configured origin and the raw path (a query is ignored), `accessToken` the token in
    /// `Authorization` as sent, or nil where there is none.
    public static func check(
        headerValues: [String], method: String, url: String, accessToken: String? = nil
    ) throws(DPoPRefusal) -> CheckedProof {
        let (key, claims) = try verify(headerValues)
        let jwk = JWK.p256(key)
        let proof = CheckedProof(
            key: key, jkt: jwk.thumbprint, jti: try jti(claims), issuedAt: try issuedAt(claims),
            nonce: try nonce(claims))
        try checkRequest(claims, method: method, url: url)
        if let accessToken { try checkTokenHash(claims, accessToken) }
        return proof
    }

    /// Decides on nonce and time of a checked proof.
    ///
    /// The nonce comes first: a stale one is answered with a fresh one whatever the `iat`. With a fresh
    /// one only the future bound holds, since the nonce dates the proof.
    public static func accept(
        _ proof: CheckedProof, now: Instant, nonce policy: NoncePolicy, times: ProofTimes = .standard
    ) throws(DPoPRefusal) {
        let lead = proof.issuedAt - now.seconds
        if try hasFreshNonce(proof, now: now, policy: policy) {
            guard lead <= times.skewWithNonce else { throw .fromTheFuture(lead: lead, limit: times.skewWithNonce) }
            return
        }
        guard lead <= times.skew else { throw .fromTheFuture(lead: lead, limit: times.skew) }
        guard -lead <= times.window else { throw .tooOld(age: -lead, limit: times.window) }
    }

    private static func hasFreshNonce(
        _ proof: CheckedProof, now: Instant, policy: NoncePolicy
    ) throws(DPoPRefusal) -> Bool {
        switch policy {
        case .ignored:
            return false
        case .accepted(let nonces):
            guard let nonce = proof.nonce else { return false }
            guard nonces.isFresh(nonce, now: now) else { throw .nonceStale }
        case .required(let nonces):
            guard let nonce = proof.nonce else { throw .nonceMissing }
            guard nonces.isFresh(nonce, now: now) else { throw .nonceStale }
        }
        return true
    }
}

extension DPoPVerifier {
    /// From the header fields to a verified key and its claims, cheap checks first.
    private static func verify(_ headerValues: [String]) throws(DPoPRefusal) -> (P256.PublicKey, JSONObject) {
        guard headerValues.count == 1, let value = headerValues.first else { throw .headerCount(headerValues.count) }
        // Some servers and proxies join repeated fields with commas, which no JWS contains.
        let commas = value.utf8.count { $0 == UInt8(ascii: ",") }
        guard commas == 0 else { throw .headerCount(commas + 1) }
        let jws = try asRefusal { () throws(JOSEError) in try JWS(compact: value) }
        guard jws.type == "dpop+jwt" else { throw .type(jws.type) }
        return try asRefusal { () throws(JOSEError) in try verify(jws) }
    }

    private static func verify(_ jws: JWS) throws(JOSEError) -> (P256.PublicKey, JSONObject) {
        guard jws.algorithm == JWSAlgorithm.es256.rawValue else {
            throw .algorithm(jws.algorithm, accepted: [JWSAlgorithm.es256.rawValue])
        }
        guard let embedded = jws.header["jwk"] else { throw .headerMember("jwk", expected: "a public key") }
        let jwk = try JWK(embedded)
        guard case .p256(let key) = jwk else {
            throw .algorithmOfOtherKey(jws.algorithm, keyType: jwk.keyType)
        }
        return (key, try jws.verify(jwk, algorithms: [.es256]).claims())
    }

    private static func asRefusal<Value>(_ body: () throws(JOSEError) -> Value) throws(DPoPRefusal) -> Value {
        do throws(JOSEError) {
            return try body()
        } catch {
            throw .jws(error)
        }
    }

    private static func checkRequest(
        _ claims: JSONObject, method: String, url: String
    ) throws(DPoPRefusal) {
        let claimedMethod = try string("htm", claims)
        guard claimedMethod == method else { throw .method(expected: method, actual: claimedMethod) }
        let claimedURL = try string("htu", claims)
        // The path of the request's own URL is the sender's too, and may be no path at all.
        guard let expected = try? HTU.normalized(url) else {
            throw .url(expected: HTU.withoutQuery(url), actual: HTU.withoutQuery(claimedURL))
        }
        let actual = try asRefusal { () throws(JOSEError) in try HTU.normalized(claimedURL) }
        guard actual == expected else { throw .url(expected: expected, actual: actual) }
    }

    private static func checkTokenHash(_ claims: JSONObject, _ accessToken: String) throws(DPoPRefusal) {
        guard let claimed = claims["ath"] else { throw .accessTokenHash(missing: true) }
        let expected = DPoPProof.hash(accessToken: accessToken)
        guard let claimed = claimed.string, HMAC.equal(Array(claimed.utf8), Array(expected.utf8)) else {
            throw .accessTokenHash(missing: false)
        }
    }

    private static func jti(_ claims: JSONObject) throws(DPoPRefusal) -> String {
        let jti = try string("jti", claims)
        let length = jti.utf8.count
        guard (1...jtiLimit).contains(length) else {
            throw .claim("jti", expected: "jti of 1 to \(jtiLimit) bytes", actual: "\(length) bytes")
        }
        return jti
    }

    private static func issuedAt(_ claims: JSONObject) throws(DPoPRefusal) -> Int64 {
        let expected = "iat as whole seconds since 1970"
        guard let value = claims["iat"] else { throw .claim("iat", expected: expected, actual: "nothing") }
        guard let seconds = value.int else {
            if case .double = value { throw .claim("iat", expected: expected, actual: "a fraction or a huge number") }
            throw .claim("iat", expected: expected, actual: value.kind)
        }
        guard (0...latest).contains(seconds) else { throw .claim("iat", expected: expected, actual: "\(seconds)") }
        return seconds
    }

    private static func nonce(_ claims: JSONObject) throws(DPoPRefusal) -> String? {
        guard claims["nonce"] != nil else { return nil }
        let nonce = try string("nonce", claims)
        let length = nonce.utf8.count
        guard (1...nonceLimit).contains(length) else {
            throw .claim("nonce", expected: "nonce of 1 to \(nonceLimit) bytes", actual: "\(length) bytes")
        }
        return nonce
    }

    private static func string(_ name: String, _ claims: JSONObject) throws(DPoPRefusal) -> String {
        guard let value = claims[name] else { throw .claim(name, expected: "\(name) as a string", actual: "nothing") }
        guard let text = value.string else {
            throw .claim(name, expected: "\(name) as a string", actual: value.kind)
        }
        return text
    }
}
