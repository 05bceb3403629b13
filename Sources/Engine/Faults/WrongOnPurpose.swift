/// One thing a phone does wrong on purpose, named as a script asks for it.
///
/// M1 to M23 are the rows of the catalogue in `docs/wrong-on-purpose.md`, which says of each what a good server answers.
public enum WrongOnPurpose: String, Sendable, Hashable, Codable, CaseIterable {
    // M1, M2: how many proofs.
    case noProof = "no-proof"
    case twoProofs = "two-proofs"
    // M3: `typ`.
    case typJWT = "typ-jwt"
    case typMissing = "typ-missing"
    case typOddCase = "typ-odd-case"
    // M4: `alg`.
    case algNone = "alg-none"
    case algHS256 = "alg-hs256"
    case algMismatch = "alg-mismatch"
    // M5: `jwk`.
    case jwkPrivate = "jwk-private"
    case jwkAbsent = "jwk-absent"
    case jwkOffCurve = "jwk-off-curve"
    case jwkShort = "jwk-short"
    // M6: the signature.
    case derSignature = "der-signature"
    case shortSignature = "short-signature"
    case longSignature = "long-signature"
    case flippedBit = "flipped-bit"
    case zeroSignature = "zero-signature"
    // M7: the alphabet.
    case padded = "padded"
    case standardAlphabet = "standard-alphabet"
    // M8: `htm`.
    case htmLower = "htm-lower"
    case htmOther = "htm-other"
    // M9: `htu`; a good server accepts the query, the port and the upper-case host.
    case htuQuery = "htu-query"
    case htuPort = "htu-port"
    case htuUpperHost = "htu-upper-host"
    case htuPath = "htu-path"
    case htuHost = "htu-host"
    case htuScheme = "htu-scheme"
    case htuSlash = "htu-slash"
    // M10: `iat`.
    case iatFuture = "iat-future"
    case iatOld = "iat-old"
    case iatMilliseconds = "iat-milliseconds"
    case iatString = "iat-string"
    case iatFraction = "iat-fraction"
    case iatNegative = "iat-negative"
    case iatHuge = "iat-huge"
    // M11: the request goes out, and again with the same proof; the second answer is the one that counts.
    case replayedProof = "replayed-proof"
    // M12 to M14: at an API.
    case athMissing = "ath-missing"
    case athOther = "ath-other"
    case athHex = "ath-hex"
    case otherKey = "other-key"
    case asBearer = "as-bearer"
    // M15 to M17 are `other-key` and `no-proof` at token, completion and refresh.
    // M18: nonces.
    case nonceMissing = "nonce-missing"
    case nonceOfAPI = "nonce-of-api"
    case nonceInvented = "nonce-invented"
    // M19.
    case jtiHuge = "jti-huge"
    // M20.
    case dpopJKTOther = "dpop-jkt-other"
    // M21: the code and its verifier.
    case codeTwice = "code-twice"
    case codeOther = "code-other"
    case codeOfAnotherClient = "code-of-another-client"
    case verifierWrong = "verifier-wrong"
    case verifierMissing = "verifier-missing"
    // M22.
    case clientOther = "client-other"
    // M23.
    case noCodeChallenge = "no-code-challenge"
    // The signed ceremony.
    case ashWrong = "ash-wrong"
    case challengeWrong = "challenge-wrong"
    case ceremonyOther = "ceremony-other"
    case ceremonyJKTOther = "ceremony-jkt-other"
    case generationOld = "generation-old"
    case faceTokenAltered = "face-token-altered"
    case replayedCeremony = "replayed-ceremony"
    case ceremonyOtherKey = "ceremony-other-key"
    case ceremonyFlippedBit = "ceremony-flipped-bit"
    case ceremonyDER = "ceremony-der"
    case ceremonyAlgNone = "ceremony-alg-none"
    case ceremonyTypOther = "ceremony-typ-other"
    case ceremonyActOther = "ceremony-act-other"
    case ceremonyAudienceOther = "ceremony-audience-other"
    case ceremonyIatOld = "ceremony-iat-old"
    case ceremonyIatFuture = "ceremony-iat-future"
    // A session another phone goes on with: one of the same user, and one of somebody else.
    case relayedSession = "relayed-session"
    case relayedSessionOtherUser = "relayed-session-other-user"
    /// A session handle nobody was given.
    case sessionInvented = "session-invented"
    // Refresh tokens.
    case refreshTokenOther = "refresh-token-other"
    case refreshTokenOld = "refresh-token-old"
}
