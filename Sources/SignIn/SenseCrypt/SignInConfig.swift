/// What an app passes when its user taps Sign in.
///
/// Source: SenseCrypt description, "Starting the flow".
public struct SignInConfig: Codable, Sendable, Hashable {
    /// The tenant's issuer, as its metadata spells it.
    public var issuer: String
    /// The opted-in application.
    public var clientID: String
    /// The audience of the app's own API, or nil for the issuer's default.
    public var resource: String?
    /// The scopes to ask for; empty means `openid`.
    public var scopes: [String]
    /// The address to sign in, or nil for the key enrolled for this app.
    public var loginHint: String?
    /// Whether an issuer on loopback may be plain `http`.
    ///
    /// Off for anything but a reference server.
    public var allowPlainHTTPOnLoopback: Bool
    /// The names of the wire.
    public var wire: SignInWire
    /// A key operation to run with the face scan, in a tenant with Face PKI.
    public var pki: SignInPKIRequest?

    /// Makes a configuration; it is checked when the flow starts.
    public init(
        issuer: String, clientID: String, resource: String? = nil, scopes: [String] = [], loginHint: String? = nil,
        allowPlainHTTPOnLoopback: Bool = false, pki: SignInPKIRequest? = nil, wire: SignInWire = .builtIn
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.resource = resource
        self.scopes = scopes
        self.loginHint = loginHint
        self.allowPlainHTTPOnLoopback = allowPlainHTTPOnLoopback
        self.wire = wire
        self.pki = pki
    }
}
