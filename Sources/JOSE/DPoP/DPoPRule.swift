/// One rule about DPoP proofs, as a verifier may be told not to apply it.
///
/// Verifiers of real servers apply every rule. A reference server that shows what a conformance test finds leaves one out.
public enum DPoPRule: String, Sendable, Hashable, CaseIterable {
    /// There is a proof.
    case present = "dpop.header.missing"
    /// There is one proof and not several.
    case single = "dpop.header.count"
    /// The parts are base64url without padding.
    case encoding = "dpop.encoding"
    /// `typ` is `dpop+jwt`.
    case type = "dpop.typ"
    /// `alg` is ES256.
    case algorithm = "dpop.alg"
    /// `jwk` is a sound public key.
    case key = "dpop.jwk"
    /// The signature fits.
    case signature = "dpop.signature"
    /// `htm` is the method.
    case method = "dpop.htm"
    /// `htu` is the URL.
    case url = "dpop.htu"
    /// Other spellings of the same URL are the same URL.
    case normalization = "dpop.htu.normalization"
    /// `iat` is a plausible number of seconds.
    case timeForm = "dpop.claim.iat"
    /// `iat` is not long past.
    case notOld = "dpop.iat.old"
    /// `iat` is not far ahead.
    case notAhead = "dpop.iat.future"
    /// `jti` is there and not endless.
    case identifierForm = "dpop.claim.jti"
    /// The proof was not seen before.
    case fresh = "dpop.jti.replayed"
    /// `ath` is the hash of the access token.
    case tokenHash = "dpop.ath"
    /// There is a nonce where one is wanted.
    case noncePresent = "dpop.nonce.missing"
    /// The nonce is one of the server's, given of late.
    case nonceFresh = "dpop.nonce.stale"
}

extension DPoPRefusal {
    /// The rule that was broken; nil where the proof cannot even be read.
    public var broken: DPoPRule? {
        switch self {
        case .headerCount(0): .present
        case .headerCount: .single
        case .jws(let error): error.brokenRule
        case .type: .type
        case .claim("iat", _, _): .timeForm
        case .claim("jti", _, _): .identifierForm
        case .claim("htm", _, _), .method: .method
        case .claim("htu", _, _), .url: .url
        case .claim("nonce", _, _), .nonceStale: .nonceFresh
        case .claim: nil
        case .accessTokenHash: .tokenHash
        case .nonceMissing: .noncePresent
        case .tooOld: .notOld
        case .fromTheFuture: .notAhead
        case .replayed: .fresh
        }
    }
}

extension JOSEError {
    fileprivate var brokenRule: DPoPRule? {
        switch self {
        case .segmentPadding, .segmentEncoding: .encoding
        case .algorithm, .algorithmOfOtherKey, .headerMember("alg", _): .algorithm
        case .headerMember("jwk", _), .keyNotObject, .keyType, .keyMember, .keyPrivate, .keyCoordinate, .keyValue,
            .keyUse:
            .key
        case .signatureLength, .signature: .signature
        case .headerMember("typ", _): .type
        case .url: .url
        // Nothing in a proof but its jti is of any length.
        case .tooLong: .identifierForm
        case .segmentCount, .segmentEmpty, .segmentJSON, .segmentNotObject, .headerMember, .critical: nil
        }
    }
}
