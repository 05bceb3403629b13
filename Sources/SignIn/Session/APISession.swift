public import Device
public import Encoding
internal import HTTP
internal import JOSE
internal import OAuth

/// The stored session as an HTTP stack asks it: what to send with a call of the app's API, and what to make of the
/// answer.
///
/// All answers are decisions on values. The edge signs proofs, keeps nonces by origin and refreshes.
/// Source: SenseCrypt description, "Using the tokens".
public struct APISession: Sendable, Hashable {
    /// The stored session that counts at a moment, or nil: the request then goes out unchanged, so that the API's 401
    /// tells the app to sign in.
    ///
    /// A session without refresh token ends with its access token.
    public static func current(_ stored: TokenSession?, at now: Instant) -> APISession? {
        guard let stored, stored.refreshToken != nil || !stored.isExpired(at: now) else { return nil }
        return APISession(tokens: stored)
    }

    /// The stored session.
    public let tokens: TokenSession

    /// Whether there is a refresh token.
    public var canRefresh: Bool { tokens.refreshToken != nil }

    /// Whether to refresh before the next request: there is a refresh token, and the access token has ended or ends
    /// within 30 seconds.
    public func needsRefresh(at now: Instant) -> Bool {
        canRefresh && tokens.needsRefresh(at: now)
    }

    /// Whether a request may still go out when a refresh could not be served: the access token has not ended.
    public func isUsable(at now: Instant) -> Bool { !tokens.isExpired(at: now) }

    /// What one attempt at a request carries; ask again for every attempt, with another `jti`.
    ///
    /// `nonce` is the newest one of ``APIOrigin/of(_:)``. Throws ``APICallError/url`` where the URL is not absolute
    /// http or https.
    public func authorize(
        method: String, url: String, jti: String, nonce: String?, at now: Instant
    ) throws(APICallError) -> RequestAuthorization {
        _ = try APIOrigin.of(url)
        let proof = DPoPProof(
            method: method, url: url, jti: jti, issuedAt: now.seconds, accessToken: tokens.accessToken, nonce: nonce)
        return RequestAuthorization(accessToken: tokens.accessToken, proof: proof)
    }
}

/// What to make of an answer of the app's API.
public enum APIAnswer {
    /// Looks at an answer: the nonce to keep for its origin, and whether to repeat the request once with it.
    ///
    /// It is to be repeated when the status is 401, a `DPoP` challenge says `use_dpop_nonce`, and the answer brought a
    /// nonce (RFC 9449 section 9). The caller repeats a request once, and never one whose body cannot be sent again.
    /// Throws ``APICallError/url`` where the URL is not absolute http or https.
    public static func observeResponse(
        url: String, status: Int, wwwAuthenticate: [String], dpopNonce: [String]
    ) throws(APICallError) -> Observation {
        let origin = try APIOrigin.of(url)
        let nonce = DPoPNonceField.nonce(dpopNonce)
        let asks = status == 401 && (challenges(wwwAuthenticate)?.wantDPoPNonce ?? false)
        return Observation(
            origin: origin, nonce: nonce, isToBeRepeated: asks && nonce != nil,
            shouldRefresh: shouldRefreshAfter(status: status, wwwAuthenticate: wwwAuthenticate))
    }

    /// Whether to refresh once and repeat once: a 401 whose challenge says `invalid_token`.
    ///
    /// Any other 401 or 403 is the API's own verdict and goes to the app as it is.
    public static func shouldRefreshAfter(status: Int, wwwAuthenticate: [String]) -> Bool {
        status == 401 && (challenges(wwwAuthenticate)?.sayInvalidToken ?? false)
    }

    /// A field that cannot be read asks for nothing.
    private static func challenges(_ fields: [String]) -> AuthChallenges? {
        try? AuthChallenges(fields: fields)
    }

    /// What an answer tells the edge.
    public struct Observation: Sendable, Hashable {
        /// The origin the nonce belongs to.
        public let origin: String
        /// The nonce to keep for that origin from now on, when the answer brought one.
        public let nonce: String?
        /// Whether to repeat the request once, with that nonce.
        public let isToBeRepeated: Bool
        /// Whether to refresh the session once and repeat the request once.
        public let shouldRefresh: Bool
    }
}

/// The origin a nonce belongs to (RFC 9449 section 8.2).
public enum APIOrigin {
    /// Scheme, host and port of a URL, such as `https://api.acme.example`.
    ///
    /// Throws ``APICallError/url`` where the URL is not absolute http or https.
    public static func of(_ url: String) throws(APICallError) -> String {
        do { return try HTTPURL(url).origin } catch { throw .url }
    }
}

/// Why a call of the app's API cannot be made.
public enum APICallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The URL is not absolute http or https.
    case url

    /// A stable name for this error, for reports and tests.
    public var code: String { "session.call.url" }

    /// The rule that was broken.
    public var description: String { "the URL must be absolute, with scheme http or https" }
}
