internal import Encoding
public import HTTP

/// A request to sign in by way of a browser (RFC 6749 section 4.1.1, with PKCE and DPoP).
public struct AuthorizationRequest: Sendable, Hashable {
    /// The client.
    public var clientID: String
    /// Where the browser is sent back to.
    public var redirectURI: RedirectURI
    /// The scopes to ask for; none leaves the choice to the server.
    public var scopes: [String]
    /// The API the token is for (RFC 8707).
    public var resource: String?
    /// Who is to sign in (OpenID Connect Core section 3.1.2.1).
    public var loginHint: String?
    /// What the redirect must repeat.
    public var state: String
    /// What an ID token must repeat.
    public var nonce: String
    /// The PKCE verifier; only its challenge is sent.
    public var codeVerifier: String
    /// The thumbprint of the key the code is bound to (RFC 9449 section 10).
    public var thumbprint: String

    /// Describes a request.
    public init(
        clientID: String, redirectURI: RedirectURI, scopes: [String], resource: String? = nil,
        loginHint: String? = nil, state: String, nonce: String, codeVerifier: String, thumbprint: String
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.resource = resource
        self.loginHint = loginHint
        self.state = state
        self.nonce = nonce
        self.codeVerifier = codeVerifier
        self.thumbprint = thumbprint
    }

    /// The address a browser opens; a query the endpoint has is kept (RFC 6749 section 3.1).
    public func url(at endpoint: HTTPURL) -> String {
        let query = String(decoding: form.encoded(), as: UTF8.self)
        return endpoint.text + (endpoint.query == nil ? "?" : "&") + query
    }

    private var form: FormFields {
        var form = FormFields([
            ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirectURI.text),
        ])
        if !scopes.isEmpty { form.append("scope", scopes.joined(separator: " ")) }
        form.append("state", state)
        form.append("nonce", nonce)
        form.append("code_challenge", PKCE.challenge(for: codeVerifier))
        form.append("code_challenge_method", PKCE.method)
        if let resource { form.append("resource", resource) }
        if let loginHint { form.append("login_hint", loginHint) }
        form.append("dpop_jkt", thumbprint)
        return form
    }
}

extension AuthorizationRequest: CustomStringConvertible, CustomReflectable {
    /// Client and scopes; the rest is secret until it is used.
    public var description: String { "authorization request of \(clientID) for \(scopes.joined(separator: " "))" }

    /// Hides the secrets from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
