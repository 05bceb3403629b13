internal import Device
internal import Encoding
internal import OAuth

// From the code to the session: the token request, the checks, the storage; and what an end leaves to tidy up.

extension AuthorizationCodeSignIn {
    mutating func redeem(_ code: String, _ visit: Visit, attempt: Int, nonceAnswered: Bool = false) -> [Effect] {
        let form = GrantRequests.code(
            code, verifier: visit.ground.secrets.codeVerifier, clientID: config.clientID,
            redirectURI: visit.redirectURI, resource: config.resource)
        let call = Call(
            purpose: .token, attempt: attempt, url: visit.server.token, body: .form(form), needsDPoP: true,
            bestEffort: false)
        let effect = emit(.call(call))
        let sending = Sending(effect: effect.id, attempt: attempt, nonceAnswered: nonceAnswered)
        phase = .redeeming(Redeeming(visit: visit, code: code, sending: sending))
        return [effect]
    }

    mutating func redeeming(_ phase: Redeeming, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .responded(_, let response): return redeemed(phase, response, at: now)
        case .lost(_, let detail):
            // The code may be spent, and may not be: sent again, it either brings the tokens or makes the server
            // revoke those that were lost (RFC 6749 section 4.1.2).
            guard phase.sending.attempt < 2 else { return fail(.network(lost: "token request", detail)) }
            return redeem(phase.code, phase.visit, attempt: phase.sending.attempt + 1)
        case .keyUnavailable: return fail(.keyUnavailable)
        case .cancel: return fail(.cancelled, at: phase.visit.server, awaitingTokens: phase.sending.effect)
        case .start, .discovered, .discoveryFailed, .listening, .visited, .redirected, .browserFailed, .committed:
            return []
        }
    }

    private mutating func redeemed(_ phase: Redeeming, _ response: CallResponse, at now: Instant) -> [Effect] {
        switch response.trouble(at: now) {
        case .rateLimited(let seconds): return fail(.rateLimited(retryAfterSeconds: seconds))
        case .unavailable(let status): return fail(.server(message: "the token request was answered \(status)"))
        case nil: break
        }
        guard response.status == 200 else { return refused(phase, response) }
        let server = phase.visit.server
        let tokens: TokenResponse
        do {
            tokens = try TokenResponse(
                status: response.status, mediaType: response.mediaType, body: response.body,
                assumedLifetime: Self.assumedLifetime)
        } catch {
            return fail(.server(message: "token: \(error.description)"), at: server, revoking: response.grant)
        }
        do throws(TokenRefusal) {
            return commit(tokens, try check(tokens, of: phase.visit.ground, at: now), server, at: now)
        } catch {
            return fail(.invalidIdToken(message: error.rule), at: server, revoking: response.grant)
        }
    }

    /// How long an access token is taken to live where the server does not say, in seconds: the API has the last word.
    static let assumedLifetime: Int64 = 3600

    private mutating func refused(_ phase: Redeeming, _ response: CallResponse) -> [Effect] {
        let error: OAuthErrorBody
        do { error = try OAuthErrorBody(refusal: response) } catch {
            let failure = SignInFailure.server(message: "token: \(error.description)")
            return fail(failure, at: phase.visit.server, revoking: response.grant)
        }
        if error.code == .useDPoPNonce {
            if let reason = response.brokenNonceChallenge(answeredBefore: phase.sending.nonceAnswered) {
                return fail(.server(message: reason))
            }
            return redeem(phase.code, phase.visit, attempt: phase.sending.attempt, nonceAnswered: true)
        }
        if error.code == .invalidGrant, phase.sending.attempt > 1 {
            return fail(.network(message: "the answer to the token request was lost, and the code was spent by it"))
        }
        return fail(.refusal(of: "token request", error.code, error.description))
    }

    /// An ID token is checked where one came; plain OAuth issues none, and then nobody is named.
    private func check(
        _ tokens: TokenResponse, of ground: Ground, at now: Instant
    ) throws(TokenRefusal) -> IDTokenClaims? {
        let check = TokenCheck(
            issuer: config.issuer, clientID: config.clientID, installThumbprint: ground.installThumbprint,
            nonce: .mustBe(ground.secrets.nonce))
        return try check.claims(of: tokens, at: now)
    }

    private mutating func commit(
        _ tokens: TokenResponse, _ claims: IDTokenClaims?, _ server: Server, at now: Instant
    ) -> [Effect] {
        let order = EarnedSession.Order(
            issuer: config.issuer, clientID: config.clientID, resource: config.resource, scopes: config.scopes,
            tokenEndpoint: server.token, revocationEndpoint: server.revocation)
        let earned = EarnedSession(tokens, claims, order, pki: nil, at: now)
        return store(earned.stored, earned.summary, server)
    }

    mutating func store(_ tokens: TokenSession, _ summary: SignedInSummary, _ server: Server) -> [Effect] {
        let effect = emit(.commit(tokens))
        phase = .committing(Committing(tokens: tokens, summary: summary, server: server, effect: effect.id))
        return [effect]
    }

    mutating func committing(_ phase: Committing, _ event: Event) -> [Effect] {
        switch event {
        case .committed:
            self.phase = .signedIn(phase.summary)
            return [emit(.done)]
        case .keyUnavailable:
            return fail(.keyUnavailable, at: phase.server, revoking: IssuedGrant(of: phase.tokens))
        // A cancel that comes while the session is being stored is too late.
        case .start, .discovered, .discoveryFailed, .listening, .visited, .redirected, .browserFailed, .responded,
            .lost, .cancel:
            return []
        }
    }
}

// A failure is final at once. What is left is a grant nobody will use.

extension AuthorizationCodeSignIn {
    /// Ends the flow; a grant is revoked, and a token request under way is waited for so that its grant can be.
    mutating func fail(
        _ failure: SignInFailure, at server: Server? = nil, revoking grant: IssuedGrant? = nil,
        awaitingTokens tokens: EffectID? = nil
    ) -> [Effect] {
        guard let url = server?.revocation else { return settle(Over(failure: failure)) }
        if let grant { return revoke(grant, url: url, failure) }
        return settle(Over(failure: failure, grant: tokens.map { .awaitingTokens($0, revocationURL: url) }))
    }

    /// Keeps the end, and says so once when nothing is awaited any more.
    private mutating func settle(_ over: Over) -> [Effect] {
        phase = .failed(over)
        return over.grant == nil ? [emit(.done)] : []
    }

    private mutating func revoke(_ grant: IssuedGrant, url: String, _ failure: SignInFailure) -> [Effect] {
        let form = GrantRequests.revocation(grant.token, kind: grant.kind, clientID: config.clientID)
        return send(
            Call(purpose: .revocation, attempt: 1, url: url, body: .form(form), needsDPoP: false, bestEffort: true),
            failure)
    }

    private mutating func send(_ revocation: Call, _ failure: SignInFailure) -> [Effect] {
        let effect = emit(.call(revocation))
        return [effect] + settle(Over(failure: failure, grant: .revoking(effect.id, revocation)))
    }

    mutating func over(_ phase: Over, _ event: Event) -> [Effect] {
        switch (phase.grant, event) {
        case (.awaitingTokens(_, let url), .responded(_, let response)):
            if let grant = response.grant { return revoke(grant, url: url, phase.failure) }
            return settle(Over(failure: phase.failure))
        case (.revoking(_, let call), .lost) where call.attempt < 2: return send(call.again(), phase.failure)
        case (.some, .responded), (.some, .lost), (.some, .keyUnavailable): return settle(Over(failure: phase.failure))
        // Terminal is terminal: commands and everything else come too late.
        default: return []
        }
    }
}
