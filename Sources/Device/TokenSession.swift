public import Encoding

/// What a finished sign-in leaves in the phone's secure storage; at most one per install.
///
/// Source: SenseCrypt description, "Using the tokens".
public struct TokenSession: Codable, Sendable, Hashable {
    /// How long before its expiry an access token counts as due for a refresh, in seconds.
    public static let refreshMarginSeconds: Int64 = 30

    /// The issuer that signed the user in.
    public var issuer: String
    /// The application the tokens were issued to.
    public var clientID: String
    /// The API the access token is for, when one was asked for.
    public var resource: String?
    /// The DPoP-bound access token.
    public var accessToken: String
    /// When the access token ends, on the device's clock.
    public var expiresAt: Instant
    /// The refresh token; only with `offline_access`.
    public var refreshToken: String?
    /// The scopes granted, in the order the server named them.
    public var scope: [String]
    /// The checked ID-token claims, as JSON text; nil where the server issued no ID token, as plain OAuth does.
    public var claims: String?
    /// The `sub` of those claims.
    public var subject: String?
    /// When the sign-in finished, on the device's clock.
    public var createdAt: Instant
    /// Where the session refreshes.
    public var tokenEndpoint: String
    /// Where a sign-out revokes, when the server has such a place.
    public var revocationEndpoint: String?

    /// Makes a session from checked answers of the server.
    public init(
        issuer: String, clientID: String, resource: String?, accessToken: String, expiresAt: Instant,
        refreshToken: String?, scope: [String], claims: String?, subject: String?, createdAt: Instant,
        tokenEndpoint: String, revocationEndpoint: String?
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.resource = resource
        self.accessToken = accessToken
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
        self.scope = scope
        self.claims = claims
        self.subject = subject
        self.createdAt = createdAt
        self.tokenEndpoint = tokenEndpoint
        self.revocationEndpoint = revocationEndpoint
    }

    /// Whether the access token has ended.
    public func isExpired(at now: Instant) -> Bool {
        expiresAt <= now
    }

    /// Whether the access token has ended or ends within `refreshMarginSeconds`.
    public func needsRefresh(at now: Instant) -> Bool {
        expiresAt <= now.adding(seconds: Self.refreshMarginSeconds)
    }
}

extension TokenSession: CustomStringConvertible, CustomReflectable {
    /// Who is signed in where; never a token or a claim.
    public var description: String {
        "session of \(subject ?? "a user without ID token") at \(issuer) for \(clientID), "
            + (refreshToken == nil ? "no refresh token" : "with refresh token")
    }

    /// Hides the stored properties from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["session": description]) }
}
