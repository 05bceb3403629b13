internal import Crypto
public import Encoding
public import JOSE

/// The checks a client makes before it believes an ID token (OIDC Core section 3.1.3.7).
///
/// The signature may be left unchecked when the token came over TLS straight from the issuer's token endpoint; `none`
/// and HMAC are refused regardless.
public struct IDTokenCheck: Sendable {
    /// What is expected of `nonce`.
    public enum NonceRule: Sendable, Hashable {
        /// It must be there and be these bytes.
        case mustBe(String)
        /// It is not looked at: a refreshed ID token carries none.
        case notExpected
    }

    /// How far the two clocks may be apart, in seconds.
    public static let leewaySeconds: Int64 = 60
    /// How long ago a token that has just arrived may have been issued, in seconds.
    public static let ageLimitSeconds: Int64 = 86_400

    /// The issuer it must name.
    public var issuer: String
    /// The client it must be for.
    public var clientID: String
    /// What is expected of `nonce`.
    public var nonce: NonceRule
    /// The access token it came with, for `at_hash`.
    public var accessToken: String
    /// The `sub` it must repeat, when a session is refreshed.
    public var subject: String?
    /// The issuer's keys, when the signature is to be checked as well.
    public var keys: JWKSet?

    /// Makes a check; without `keys` the signature is not looked at.
    public init(
        issuer: String, clientID: String, nonce: NonceRule, accessToken: String, subject: String? = nil,
        keys: JWKSet? = nil
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.nonce = nonce
        self.accessToken = accessToken
        self.subject = subject
        self.keys = keys
    }

    /// Checks a compact ID token and returns its claims.
    ///
    /// Throws the first ``IDTokenRefusal``, in the order of the RFC's list. What came with the token is then to be
    /// discarded and the grant revoked.
    public func claims(of compact: String, at now: Instant) throws(IDTokenRefusal) -> IDTokenClaims {
        let token: JWS
        do { token = try JWS(compact: compact) } catch { throw .malformed(rule: error.description) }
        try checkAlgorithm(of: token)
        try checkSignature(of: token)
        let claims = try ClaimReader(payload: token.payload)
        try checkParties(claims)
        try checkTimes(claims, at: now)
        try checkNonce(claims)
        try checkSubject(claims)
        try checkAccessTokenHash(claims, algorithm: token.algorithm)
        return try IDTokenClaims(claims)
    }

    private func checkAlgorithm(of token: JWS) throws(IDTokenRefusal) {
        let name = token.algorithm.lowercased()
        guard name != "none", !name.hasPrefix("hs") else { throw .algorithm(token.algorithm) }
    }

    private func checkSignature(of token: JWS) throws(IDTokenRefusal) {
        guard let keys else { return }
        guard let algorithm = JWSAlgorithm(rawValue: token.algorithm) else { throw .signature }
        let candidates = keys.candidates(keyID: token.keyID, algorithm: algorithm)
        let isVerified = candidates.contains { (try? token.verify($0, algorithms: [algorithm])) != nil }
        guard isVerified else { throw .signature }
    }

    private func checkParties(_ claims: ClaimReader) throws(IDTokenRefusal) {
        let found = try claims.string("iss")
        guard found.hasSameBytes(as: issuer) else {
            throw .issuer(expected: issuer, found: DisplayText.shortened(found))
        }
        let audiences = try claims.audiences()
        guard audiences.contains(where: { $0.hasSameBytes(as: clientID) }) else {
            throw .audience(expected: clientID, found: audiences.prefix(4).map(DisplayText.shortened))
        }
        let party = try claims.optionalString("azp")
        guard party != nil || audiences.count > 1 else { return }
        guard let party, party.hasSameBytes(as: clientID) else {
            throw .authorizedParty(expected: clientID, found: party.map(DisplayText.shortened))
        }
    }

    private func checkTimes(_ claims: ClaimReader, at now: Instant) throws(IDTokenRefusal) {
        let end = try claims.date("exp")
        guard now < end.adding(seconds: Self.leewaySeconds) else { throw .expired(at: end, now: now) }
        let issued = try claims.date("iat")
        guard issued <= now.adding(seconds: Self.leewaySeconds), issued >= now.adding(seconds: -Self.ageLimitSeconds)
        else { throw .issuedAt(issued, now: now) }
    }

    private func checkNonce(_ claims: ClaimReader) throws(IDTokenRefusal) {
        switch nonce {
        case .mustBe(let expected):
            guard let found = try claims.optionalString("nonce"), found.hasSameBytes(as: expected) else {
                throw .nonce
            }
        case .notExpected: break
        }
    }

    private func checkSubject(_ claims: ClaimReader) throws(IDTokenRefusal) {
        let found = try claims.string("sub")
        guard let subject else { return }
        guard found.hasSameBytes(as: subject) else { throw .subject }
    }

    private func checkAccessTokenHash(_ claims: ClaimReader, algorithm: String) throws(IDTokenRefusal) {
        guard let found = try claims.optionalString("at_hash") else { return }
        guard let expected = AccessTokenHash.value(of: accessToken, algorithm: algorithm),
            found.hasSameBytes(as: expected)
        else { throw .accessTokenHash }
    }
}

/// The left half of the access token's hash (OIDC Core section 3.1.3.6).
enum AccessTokenHash {
    /// The `at_hash` for an ID token of this `alg`; nil where the alg's hash is not known here.
    static func value(of accessToken: String, algorithm: String) -> String? {
        let bytes = Array(accessToken.utf8)
        let hash: [UInt8]
        switch algorithm.suffix(3) {
        case "256": hash = SHA256.hash(bytes)
        case "384": hash = SHA384.hash(bytes)
        case "512": hash = SHA512.hash(bytes)
        default: return nil
        }
        return Base64URL.encode(hash.prefix(hash.count / 2))
    }
}
