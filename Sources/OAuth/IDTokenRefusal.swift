public import Encoding

/// Why an ID token is not believed.
///
/// No case carries the token, its nonce or another personal claim.
public enum IDTokenRefusal: Error, Hashable, Sendable, Codable {
    /// It is no compact JWS with a JSON object inside, for the rule named.
    case malformed(rule: String)
    /// `alg` is `none` or an HMAC, which anybody who knows the client could make.
    case algorithm(String)
    /// None of the issuer's keys verifies the signature.
    case signature
    /// A claim is missing or of the wrong type.
    case claim(name: String, rule: String)
    /// `iss` is not the issuer's bytes.
    case issuer(expected: String, found: String)
    /// `aud` does not contain the client.
    case audience(expected: String, found: [String])
    /// `azp` is missing beside several audiences, or names another client.
    case authorizedParty(expected: String, found: String?)
    /// `nonce` is missing or not the one this flow sent.
    case nonce
    /// `exp` has passed.
    case expired(at: Instant, now: Instant)
    /// `iat` lies too far ahead or too far back.
    case issuedAt(Instant, now: Instant)
    /// `sub` is not the one of the session that is refreshed.
    case subject
    /// `at_hash` does not fit the access token, or cannot be checked for this `alg`.
    case accessTokenHash

    /// A stable name for this error, for reports and tests.
    public var code: String {
        switch self {
        case .malformed: "oauth.id_token.malformed"
        case .algorithm: "oauth.id_token.alg"
        case .signature: "oauth.id_token.signature"
        case .claim: "oauth.id_token.claim"
        case .issuer: "oauth.id_token.iss"
        case .audience: "oauth.id_token.aud"
        case .authorizedParty: "oauth.id_token.azp"
        case .nonce: "oauth.id_token.nonce"
        case .expired: "oauth.id_token.exp"
        case .issuedAt: "oauth.id_token.iat"
        case .subject: "oauth.id_token.sub"
        case .accessTokenHash: "oauth.id_token.at_hash"
        }
    }
}

extension IDTokenRefusal: CustomStringConvertible {
    /// The rule that was broken and the value that broke it, where it is no secret.
    public var description: String {
        switch self {
        case .malformed(let rule): "the ID token is malformed: \(rule)"
        case .algorithm(let name): "the ID token's alg is \(DisplayText.shortened(name)), which is never accepted"
        case .signature: "no key of the issuer verifies the ID token's signature"
        case .claim(let name, let rule): "the ID token's \(name) \(rule)"
        case .issuer(let expected, let found): "the ID token's iss is \(found) where \(expected) was expected"
        case .audience(let expected, let found):
            "the ID token's aud is \(found.joined(separator: ", ")), without \(expected)"
        case .authorizedParty(let expected, let found):
            "the ID token's azp is \(found ?? "absent") where \(expected) was expected"
        case .nonce: "the ID token's nonce is not the one this sign-in sent"
        case .expired(let end, let now): "the ID token ended at \(end.seconds), and it is \(now.seconds)"
        case .issuedAt(let time, let now): "the ID token was issued at \(time.seconds), and it is \(now.seconds)"
        case .subject: "the ID token's sub is not the one of the session"
        case .accessTokenHash: "the ID token's at_hash does not fit the access token"
        }
    }
}
