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
    /// `Authorization` as sent, or nil where there is none. `off` names rules that are not applied: no real
    /// server has any.
    public static func check(
        headerValues: [String], method: String, url: String, accessToken: String? = nil, off: Set<DPoPRule> = []
    ) throws(DPoPRefusal) -> CheckedProof {
        let (key, claims, signature) = try verify(headerValues, off)
        let jwk = JWK.p256(key)
        let issuedAt = try issuedAt(claims, off)
        let proof = CheckedProof(
            key: key, jkt: jwk.thumbprint, jti: try jti(claims, signature, off), issuedAt: issuedAt ?? 0,
            isDated: issuedAt != nil, nonce: try nonce(claims, off))
        if !off.contains(.method) { try checkMethod(claims, method) }
        if !off.contains(.url) { try checkURL(claims, url, off) }
        if let accessToken, !off.contains(.tokenHash) { try checkTokenHash(claims, accessToken) }
        return proof
    }

    /// Decides on nonce and time of a checked proof.
    ///
    /// The nonce comes first: a stale one is answered with a fresh one whatever the `iat`. With a fresh
    /// one only the future bound holds, since the nonce dates the proof.
    public static func accept(
        _ proof: CheckedProof, now: Instant, nonce policy: NoncePolicy, times: ProofTimes = .standard,
        off: Set<DPoPRule> = []
    ) throws(DPoPRefusal) {
        let hasNonce = try hasFreshNonce(proof, now: now, policy: policy, off)
        guard proof.isDated else { return }
        let lead = proof.issuedAt - now.seconds
        let limit = hasNonce ? times.skewWithNonce : times.skew
        guard lead <= limit || off.contains(.notAhead) else { throw .fromTheFuture(lead: lead, limit: limit) }
        guard hasNonce || -lead <= times.window || off.contains(.notOld) else {
            throw .tooOld(age: -lead, limit: times.window)
        }
    }

    private static func hasFreshNonce(
        _ proof: CheckedProof, now: Instant, policy: NoncePolicy, _ off: Set<DPoPRule>
    ) throws(DPoPRefusal) -> Bool {
        let nonces: DPoPNonces
        switch policy {
        case .ignored: return false
        case .accepted(let given):
            guard proof.nonce != nil else { return false }
            nonces = given
        case .required(let given):
            guard proof.nonce != nil || off.contains(.noncePresent) else { throw .nonceMissing }
            nonces = given
        }
        guard let nonce = proof.nonce else { return false }
        guard nonces.isFresh(nonce, now: now) || off.contains(.nonceFresh) else { throw .nonceStale }
        return true
    }
}

extension DPoPVerifier {
    /// From the header fields to a verified key, its claims and the signature, cheap checks first.
    private static func verify(
        _ headerValues: [String], _ off: Set<DPoPRule>
    ) throws(DPoPRefusal) -> (P256.PublicKey, JSONObject, [UInt8]) {
        let value = try single(headerValues, off)
        let jws = try asRefusal { () throws(JOSEError) in try read(value, off) }
        guard jws.type == "dpop+jwt" || off.contains(.type) else { throw .type(jws.type) }
        return try asRefusal { () throws(JOSEError) in try verify(jws, sent: value, off) }
    }

    private static func single(_ headerValues: [String], _ off: Set<DPoPRule>) throws(DPoPRefusal) -> String {
        if off.contains(.single), let value = RepairedProof.first(of: headerValues) { return value }
        guard headerValues.count == 1, let value = headerValues.first else { throw .headerCount(headerValues.count) }
        // Some servers and proxies join repeated fields with commas, which no JWS contains.
        let commas = value.utf8.count { $0 == UInt8(ascii: ",") }
        guard commas == 0 else { throw .headerCount(commas + 1) }
        return value
    }

    private static func read(_ value: String, _ off: Set<DPoPRule>) throws(JOSEError) -> JWS {
        var text = value
        if off.contains(.algorithm) { text = RepairedProof.withSignature(text) }
        if off.contains(.encoding) { text = RepairedProof.reencoded(text) }
        return try JWS(compact: text)
    }

    private static func verify(
        _ jws: JWS, sent: String, _ off: Set<DPoPRule>
    ) throws(JOSEError) -> (P256.PublicKey, JSONObject, [UInt8]) {
        let isES256 = jws.algorithm == JWSAlgorithm.es256.rawValue
        guard isES256 || off.contains(.algorithm) else {
            throw .algorithm(jws.algorithm, accepted: [JWSAlgorithm.es256.rawValue])
        }
        guard let embedded = jws.header["jwk"] else { throw .headerMember("jwk", expected: "a public key") }
        let jwk = off.contains(.key) ? try RepairedProof.publicKey(embedded) : try JWK(embedded)
        guard case .p256(let key) = jwk else {
            throw .algorithmOfOtherKey(jws.algorithm, keyType: jwk.keyType)
        }
        // Of another algorithm nothing can be checked: that is what taking any `alg` comes to.
        if isES256, !off.contains(.signature) {
            let isGood = off.contains(.encoding) && key.verify(jws.signature, of: signingInput(of: sent))
            if !isGood { _ = try jws.verify(jwk, algorithms: [.es256]) }
        }
        return (key, try JWS.object(jws.payload, .payload), jws.signature)
    }

    /// All before the last dot, as it was sent.
    private static func signingInput(of sent: String) -> [UInt8] {
        let end = sent.utf8.lastIndex(of: UInt8(ascii: ".")) ?? sent.utf8.endIndex
        return [UInt8](sent.utf8[..<end])
    }

    private static func asRefusal<Value>(_ body: () throws(JOSEError) -> Value) throws(DPoPRefusal) -> Value {
        do throws(JOSEError) {
            return try body()
        } catch {
            throw .jws(error)
        }
    }

    private static func checkMethod(_ claims: JSONObject, _ method: String) throws(DPoPRefusal) {
        let claimed = try string("htm", claims)
        guard claimed == method else { throw .method(expected: method, actual: claimed) }
    }

    private static func checkURL(_ claims: JSONObject, _ url: String, _ off: Set<DPoPRule>) throws(DPoPRefusal) {
        let claimed = try string("htu", claims)
        if off.contains(.normalization) {
            guard claimed == url else { throw .url(expected: HTU.withoutQuery(url), actual: HTU.withoutQuery(claimed)) }
            return
        }
        // The path of the request's own URL is the sender's too, and may be no path at all.
        guard let expected = try? HTU.normalized(url) else {
            throw .url(expected: HTU.withoutQuery(url), actual: HTU.withoutQuery(claimed))
        }
        let actual = try asRefusal { () throws(JOSEError) in try HTU.normalized(claimed) }
        guard actual == expected else { throw .url(expected: expected, actual: actual) }
    }

    private static func checkTokenHash(_ claims: JSONObject, _ accessToken: String) throws(DPoPRefusal) {
        guard let claimed = claims["ath"] else { throw .accessTokenHash(missing: true) }
        let expected = DPoPProof.hash(accessToken: accessToken)
        guard let claimed = claimed.string, HMAC.equal(Array(claimed.utf8), Array(expected.utf8)) else {
            throw .accessTokenHash(missing: false)
        }
    }

    private static func jti(
        _ claims: JSONObject, _ signature: [UInt8], _ off: Set<DPoPRule>
    ) throws(DPoPRefusal) -> String {
        if off.contains(.identifierForm) { return claims["jti"]?.string ?? Base64URL.encode(signature) }
        let jti = try string("jti", claims)
        let length = jti.utf8.count
        guard (1...jtiLimit).contains(length) else {
            throw .claim("jti", expected: "jti of 1 to \(jtiLimit) bytes", actual: "\(length) bytes")
        }
        return jti
    }

    /// Nil only where the rule on its form is off.
    private static func issuedAt(_ claims: JSONObject, _ off: Set<DPoPRule>) throws(DPoPRefusal) -> Int64? {
        do throws(DPoPRefusal) {
            return try issuedAt(claims)
        } catch {
            guard off.contains(.timeForm) else { throw error }
            return nil
        }
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

    private static func nonce(_ claims: JSONObject, _ off: Set<DPoPRule>) throws(DPoPRefusal) -> String? {
        guard claims["nonce"] != nil else { return nil }
        if off.contains(.nonceFresh) { return claims["nonce"]?.string ?? "" }
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
