internal import Device
internal import Encoding
internal import OAuth

// Call 4: the token request, and the checks before anything is stored (SenseCrypt wire, section 7).

/// Waits for the answer to call 4.
struct Redeeming: Codable, Sendable, Equatable {
    let proof: Proof
    /// The authorization code, a secret.
    let code: String
    var sending: Sending
    /// How often the completion was sent again because the tokens did not come.
    let repairs: Int
}

/// Waits for the session to be stored.
///
/// From here on it is too late to cancel.
struct Committing: Codable, Sendable, Equatable {
    let tokens: TokenSession
    let summary: SignedInSummary
    let session: OpenSession
    var effect: EffectID
}

extension SenseCryptSignIn {
    mutating func redeem(_ code: String, _ proof: Proof, repairs: Int, nonceAnswered: Bool = false) -> [Effect] {
        let form = GrantRequests.code(
            code, verifier: proof.session.ground.secrets.codeVerifier, clientID: config.clientID)
        let effect = emit(
            .call(
                Call(
                    purpose: .token, attempt: repairs + 1, url: proof.session.endpoints.token, body: .form(form),
                    needsDPoP: true, bestEffort: false)))
        let sending = Sending(effect: effect.id, attempt: repairs + 1, nonceAnswered: nonceAnswered)
        phase = .redeeming(Redeeming(proof: proof, code: code, sending: sending, repairs: repairs))
        return [effect]
    }

    mutating func redeeming(_ phase: Redeeming, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .responded(_, let response): redeemed(phase, response, at: now)
        case .lost: repair(phase, .network)
        case .keyUnavailable: fail(.keyUnavailable, in: phase.proof.session)
        case .cancel: fail(.cancelled, in: phase.proof.session, awaitingTokens: phase.sending.effect)
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .ceremonySigned, .captured,
            .faceTokenOpened, .faceTokenNotOpened,
            .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            []
        }
    }

    /// The tokens did not come, though the code may be spent: the completion brings a code again.
    private mutating func repair(_ phase: Redeeming, _ cause: ParkCause) -> [Effect] {
        guard phase.repairs < Completing.repairLimit else { return park(phase.proof, cause) }
        return sendCompletion(phase.proof, repairs: phase.repairs + 1)
    }

    private mutating func redeemed(_ phase: Redeeming, _ response: CallResponse, at now: Instant) -> [Effect] {
        if let trouble = response.trouble(at: now) { return repair(phase, ParkCause(trouble)) }
        guard response.status == 200 else { return refusedTokens(phase, response) }
        let session = phase.proof.session
        let tokens: TokenResponse
        do {
            tokens = try TokenResponse(status: response.status, mediaType: response.mediaType, body: response.body)
        } catch {
            return fail(.server(message: "token: \(error.description)"), in: session, revoking: response.grant)
        }
        do throws(TokenRefusal) {
            let claims = try check(tokens, of: session.ground, at: now)
            return commit(tokens, claims, phase.proof, at: now)
        } catch {
            return fail(.invalidIdToken(message: error.rule), in: session, revoking: response.grant)
        }
    }

    private mutating func refusedTokens(_ phase: Redeeming, _ response: CallResponse) -> [Effect] {
        let session = phase.proof.session
        let error: OAuthErrorBody
        do { error = try OAuthErrorBody(refusal: response) } catch {
            return fail(.server(message: "token: \(error.description)"), in: session, revoking: response.grant)
        }
        guard error.code == .useDPoPNonce else {
            return fail(.refusal(of: .token, error, wire: config.wire), in: session)
        }
        if let reason = response.brokenNonceChallenge(answeredBefore: phase.sending.nonceAnswered) {
            return fail(.server(message: reason), in: session)
        }
        return redeem(phase.code, phase.proof, repairs: phase.repairs, nonceAnswered: true)
    }

    private func check(
        _ tokens: TokenResponse, of ground: Ground, at now: Instant
    ) throws(TokenRefusal) -> IDTokenClaims {
        let check = TokenCheck(
            issuer: config.issuer, clientID: config.clientID, installThumbprint: ground.installThumbprint,
            nonce: .mustBe(ground.secrets.nonce))
        guard let claims = try check.claims(of: tokens, at: now) else {
            throw TokenRefusal(rule: "the answer has no ID token")
        }
        return claims
    }

    private mutating func commit(
        _ tokens: TokenResponse, _ claims: IDTokenClaims, _ proof: Proof, at now: Instant
    ) -> [Effect] {
        let session = proof.session
        let order = EarnedSession.Order(
            issuer: config.issuer, clientID: config.clientID, resource: config.resource,
            scopes: config.requestedScopes, tokenEndpoint: session.endpoints.token,
            revocationEndpoint: session.endpoints.revocation)
        let earned = EarnedSession(tokens, claims, order, pki: proof.pki, at: now)
        return store(earned.stored, earned.summary, session)
    }

    mutating func store(_ tokens: TokenSession, _ summary: SignedInSummary, _ session: OpenSession) -> [Effect] {
        let effect = emit(.commit(tokens))
        phase = .committing(Committing(tokens: tokens, summary: summary, session: session, effect: effect.id))
        return [effect]
    }

    mutating func committing(_ phase: Committing, _ event: Event) -> [Effect] {
        switch event {
        case .committed:
            self.phase = .signedIn(phase.summary)
            return [emit(.done)]
        case .keyUnavailable:
            return fail(.keyUnavailable, in: phase.session, revoking: IssuedGrant(of: phase.tokens))
        // A cancel that comes while the session is being stored is too late.
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost,
            .ceremonySigned, .captured, .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .retry, .cancel:
            return []
        }
    }
}
