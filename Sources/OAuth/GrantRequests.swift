public import Encoding

/// The kinds of token a revocation names as a hint (RFC 7009 section 2.1).
public enum TokenKind: String, Sendable, Hashable, Codable {
    /// `access_token`.
    case accessToken = "access_token"
    /// `refresh_token`.
    case refreshToken = "refresh_token"
}

/// The forms of the requests that go to the token and revocation endpoints, without client authentication.
public enum GrantRequests {
    /// Redeems a code from an authorization challenge endpoint: no `redirect_uri`, since nothing was redirected
    /// (draft-ietf-oauth-first-party-apps section 6).
    public static func code(_ code: String, verifier: String, clientID: String) -> FormFields {
        FormFields([
            ("grant_type", "authorization_code"), ("code", code), ("code_verifier", verifier),
            ("client_id", clientID),
        ])
    }

    /// Redeems a code that came with a redirect, which the server compares with the one it was issued for (RFC 6749
    /// section 4.1.3); `resource` as in RFC 8707 section 2.2.
    public static func code(
        _ code: String, verifier: String, clientID: String, redirectURI: RedirectURI, resource: String?
    ) -> FormFields {
        var form = self.code(code, verifier: verifier, clientID: clientID)
        form.append("redirect_uri", redirectURI.text)
        if let resource { form.append("resource", resource) }
        return form
    }

    /// Redeems a refresh token (RFC 6749 section 6).
    public static func refresh(_ refreshToken: String, clientID: String) -> FormFields {
        FormFields([
            ("grant_type", "refresh_token"), ("refresh_token", refreshToken), ("client_id", clientID),
        ])
    }

    /// Revokes a token (RFC 7009 section 2.1).
    public static func revocation(_ token: String, kind: TokenKind, clientID: String) -> FormFields {
        FormFields([("token", token), ("token_type_hint", kind.rawValue), ("client_id", clientID)])
    }
}
