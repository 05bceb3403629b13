/// Why a DPoP proof was refused (RFC 9449 section 4.3).
///
/// Carries what is needed to tell the sender, and nothing secret: no token, no nonce, no signature.
public enum DPoPRefusal: Error, Sendable, Hashable {
    /// Not exactly one `DPoP` header, or several joined by commas.
    case headerCount(Int)
    /// The value is no sound JWS, its key is no sound public key, or its signature does not fit.
    case jws(JOSEError)
    /// The header's `typ` is not exactly `dpop+jwt`.
    case type(String?)
    /// A claim that is missing, of another kind, or out of bounds.
    case claim(String, expected: String, actual: String)
    /// `htm` is not the method of the request.
    case method(expected: String, actual: String)
    /// `htu` is not the URL of the request.
    case url(expected: String, actual: String)
    /// The request carries an access token, and `ath` is missing or not its hash.
    case accessTokenHash(missing: Bool)
    /// A nonce is wanted and the proof has none.
    case nonceMissing
    /// The nonce is not one given out of late by this server.
    case nonceStale
    /// `iat` is further back than allowed; both in seconds.
    case tooOld(age: Int64, limit: Int64)
    /// `iat` is further ahead than allowed; both in seconds.
    case fromTheFuture(lead: Int64, limit: Int64)
    /// The proof was seen before.
    case replayed

    /// The code for the OAuth error body or the challenge: `use_dpop_nonce` when another try with a
    /// fresh nonce would do, otherwise `invalid_dpop_proof`.
    public var oauthError: String {
        switch self {
        case .nonceMissing, .nonceStale: "use_dpop_nonce"
        default: "invalid_dpop_proof"
        }
    }

    /// A stable dotted name of the rule that was broken.
    public var rule: String {
        switch self {
        case .headerCount: "dpop.header.count"
        case .jws(let error): "dpop.\(error.code)"
        case .type: "dpop.typ"
        case .claim(let name, _, _): "dpop.claim.\(name)"
        case .method: "dpop.htm"
        case .url: "dpop.htu"
        case .accessTokenHash: "dpop.ath"
        case .nonceMissing: "dpop.nonce.missing"
        case .nonceStale: "dpop.nonce.stale"
        case .tooOld: "dpop.iat.old"
        case .fromTheFuture: "dpop.iat.future"
        case .replayed: "dpop.jti.replayed"
        }
    }

    /// The same as `rule`, under the name errors have it.
    public var code: String { rule }

    /// What was expected, for a person.
    public var expected: String {
        switch self {
        case .headerCount: "exactly one DPoP header"
        case .jws(let error): error.expected
        case .type: "typ dpop+jwt"
        case .claim(_, let expected, _): expected
        case .method(let expected, _): "htm \(shortened(expected))"
        case .url(let expected, _): "htu \(shortened(expected))"
        case .accessTokenHash: "ath as the base64url SHA-256 of the access token sent"
        case .nonceMissing: "the nonce this server gave"
        case .nonceStale: "a nonce this server gave a short while ago"
        case .tooOld(_, let limit): "iat at most \(limit) s back"
        case .fromTheFuture(_, let limit): "iat at most \(limit) s ahead"
        case .replayed: "a proof not seen before"
        }
    }

    /// What was found instead, for a person; never a secret.
    public var actual: String {
        switch self {
        case .headerCount(let count): count == 0 ? "none" : "\(count)"
        case .jws(let error): error.actual
        case .type(let type): type.map { "typ \(shortened($0))" } ?? "no typ"
        case .claim(_, _, let actual): shortened(actual)
        case .method(_, let actual): "htm \(shortened(actual))"
        case .url(_, let actual): "htu \(shortened(actual))"
        case .accessTokenHash(let missing): missing ? "no ath" : "another ath"
        case .nonceMissing: "no nonce"
        case .nonceStale: "another or an older nonce"
        case .tooOld(let age, _): "\(age) s back"
        case .fromTheFuture(let lead, _): "\(lead) s ahead"
        case .replayed: "the same jti again"
        }
    }
}

extension DPoPRefusal: CustomStringConvertible {
    /// The rule, what was expected and what was found.
    public var description: String { "\(rule): expected \(expected), found \(actual)" }
}
