internal import Encoding
internal import OAuth

/// Every check of the tokens themselves before they are believed: bound, to our key, and an ID token that is ours.
///
/// Source: SenseCrypt description, "Using the tokens" and "Session length and refresh".
struct TokenCheck {
    let issuer: String
    let clientID: String
    let installThumbprint: String
    /// What is expected of the ID token's `nonce`.
    let nonce: IDTokenCheck.NonceRule
    /// The `sub` the ID token must repeat, when a session is refreshed.
    var subject: String?

    /// The claims of the ID token, or nil where the answer has none.
    ///
    /// Throws the first ``TokenRefusal``; what came is then to be discarded.
    func claims(of tokens: TokenResponse, at now: Instant) throws(TokenRefusal) -> IDTokenClaims? {
        guard tokens.isDPoPBound else { throw TokenRefusal(rule: "the token_type is not DPoP") }
        try checkBinding(of: tokens)
        guard let idToken = tokens.idToken else { return nil }
        let check = IDTokenCheck(
            issuer: issuer, clientID: clientID, nonce: nonce, accessToken: tokens.accessToken, subject: subject)
        do { return try check.claims(of: idToken, at: now) } catch {
            throw TokenRefusal(rule: error.description)
        }
    }

    private func checkBinding(of tokens: TokenResponse) throws(TokenRefusal) {
        switch AccessTokenBinding(of: tokens.accessToken) {
        case .unreadable: break
        case .unbound: throw TokenRefusal(rule: "the access token has no cnf.jkt")
        case .bound(let thumbprint):
            guard thumbprint.utf8.elementsEqual(installThumbprint.utf8) else {
                throw TokenRefusal(rule: "the access token's cnf.jkt names another key than this install's")
            }
        }
    }
}

/// Why tokens that came are not to be trusted.
struct TokenRefusal: Error {
    let rule: String
}
