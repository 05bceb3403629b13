internal import Device
internal import OAuth

// A failure is final at once. What is left is tidying up at the server, best effort: end the session, revoke a grant
// nobody will use. The flow is finished when that is done.

/// Over, not well; may still wait for the answers to its tidying up.
struct Ended: Codable, Sendable, Equatable {
    let failure: SignInFailure
    var abort: Abort?
    var grant: Grant?

    /// The way a session is ended.
    enum Abort: Codable, Sendable, Equatable {
        /// Waits for the signed request.
        case signing(EffectID, CeremonyClaims, key: CeremonyKey, url: String)
        /// Waits for the answer, which changes nothing.
        case sending(EffectID)
    }

    /// What is done about tokens that came too late or cannot be trusted.
    enum Grant: Codable, Sendable, Equatable {
        /// A token request was under way when the flow ended; its success is discarded and revoked.
        case awaitingTokens(EffectID, revocationURL: String)
        /// Waits for the answer to the revocation, which is sent once more when it is lost.
        case revoking(EffectID, Call)
    }

    var isFinished: Bool { abort == nil && grant == nil }

    func awaits(_ effect: EffectID) -> Bool {
        abort?.effect == effect || grant?.effect == effect
    }

    /// Whether this effect signs the abort, and so has no reply to wait for.
    func isSigning(_ effect: EffectID) -> Bool {
        if case .signing(effect, _, _, _) = abort { true } else { false }
    }
}

extension Ended.Abort {
    var effect: EffectID {
        switch self {
        case .signing(let effect, _, _, _): effect
        case .sending(let effect): effect
        }
    }
}

extension Ended.Grant {
    var effect: EffectID {
        switch self {
        case .awaitingTokens(let effect, _): effect
        case .revoking(let effect, _): effect
        }
    }
}

extension SenseCryptSignIn {
    /// Ends the flow.
    ///
    /// The session, where there is one, is aborted when the reason asks for it; `aborting` decides otherwise. A grant
    /// is revoked, and a token request under way is waited for so that its grant can be.
    mutating func fail(
        _ failure: SignInFailure, in session: OpenSession? = nil, aborting: Bool? = nil,
        revoking grant: IssuedGrant? = nil, awaitingTokens tokens: EffectID? = nil
    ) -> [Effect] {
        var ended = Ended(failure: failure)
        var effects: [Effect] = []
        if let session, aborting ?? failure.abortsSession {
            effects.append(signAbort(of: session, &ended))
        }
        if let url = session?.endpoints.revocation {
            if let grant {
                effects.append(revoke(grant, url: url, &ended))
            } else if let tokens {
                ended.grant = .awaitingTokens(tokens, revocationURL: url)
            }
        }
        return effects + settle(ended)
    }

    private mutating func signAbort(of session: OpenSession, _ ended: inout Ended) -> Effect {
        let claims = session.claims(.abort(reason: ended.failure.reason), issuer: config.issuer)
        let key = session.ground.key
        let effect = emit(.signCeremony(claims, key: key))
        ended.abort = .signing(effect.id, claims, key: key, url: session.endpoints.abort)
        return effect
    }

    private mutating func revoke(_ grant: IssuedGrant, url: String, _ ended: inout Ended) -> Effect {
        let form = GrantRequests.revocation(grant.token, kind: grant.kind, clientID: config.clientID)
        let call = Call(
            purpose: .revocation, attempt: 1, url: url, body: .form(form), needsDPoP: false, bestEffort: true)
        let effect = emit(.call(call))
        ended.grant = .revoking(effect.id, call)
        return effect
    }

    /// Keeps the end, and says so once when nothing is awaited any more.
    private mutating func settle(_ ended: Ended) -> [Effect] {
        phase = .failed(ended)
        return ended.isFinished ? [emit(.done)] : []
    }

    mutating func ended(_ phase: Ended, _ event: Event) -> [Effect] {
        switch event {
        case .ceremonySigned(let id, let jws): return abortSigned(phase, id, jws)
        case .keyUnavailable(let id): return tidied(phase, id)
        case .responded(let id, let response): return phase.isSigning(id) ? [] : tidied(phase, id, response)
        case .lost(let id, _): return phase.isSigning(id) ? [] : tidyingLost(phase, id)
        // Terminal is terminal: commands and everything else come too late.
        case .start, .discovered, .discoveryFailed, .attested, .attestationUnavailable, .captured, .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan,
            .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry, .cancel:
            return []
        }
    }

    private mutating func abortSigned(_ phase: Ended, _ id: EffectID, _ jws: String) -> [Effect] {
        guard case .signing(id, _, _, let url) = phase.abort else { return [] }
        var ended = phase
        let effect = emit(
            .call(.ceremony(.abort, attempt: 1, url: url, jws: jws, wire: config.wire, bestEffort: true)))
        ended.abort = .sending(effect.id)
        return [effect] + settle(ended)
    }

    /// One tidying step is over; tokens that came with it are revoked.
    private mutating func tidied(_ phase: Ended, _ id: EffectID, _ response: CallResponse? = nil) -> [Effect] {
        var ended = phase
        var effects: [Effect] = []
        if ended.abort?.effect == id {
            ended.abort = nil
        } else if case .awaitingTokens(id, let url) = ended.grant, let grant = response?.grant {
            effects.append(revoke(grant, url: url, &ended))
        } else {
            ended.grant = nil
        }
        return effects + settle(ended)
    }

    private mutating func tidyingLost(_ phase: Ended, _ id: EffectID) -> [Effect] {
        guard case .revoking(id, let call) = phase.grant, call.attempt < 2 else { return tidied(phase, id) }
        var ended = phase
        let again = call.again()
        let effect = emit(.call(again))
        ended.grant = .revoking(effect.id, again)
        return [effect] + settle(ended)
    }

    /// Asks again for what a kill interrupted; a lost revocation is sent once more, a lost abort is let go.
    mutating func resumeEnded(_ phase: Ended) -> [Effect] {
        var effects: [Effect] = []
        if let id = phase.grant?.effect { effects += tidyingLost(phase, id) }
        guard case .failed(var ended) = self.phase else { return effects }
        switch ended.abort {
        case .signing(_, let claims, let key, let url):
            let effect = emit(.signCeremony(claims, key: key))
            ended.abort = .signing(effect.id, claims, key: key, url: url)
            effects.append(effect)
        case .sending: ended.abort = nil
        case nil: return effects
        }
        return effects + settle(ended)
    }
}

extension SignInFailure {
    /// Whether a session this ends is told so.
    ///
    /// It is not where the server has ended it already, where it may linger, or where there is no key to sign with.
    var abortsSession: Bool {
        switch self {
        case .server, .livenessFailed, .cancelled, .faceTokenStale, .pkiNotAvailable, .invalidPkiRequest,
            .pkiScopeNotAllowed, .pkiKeysNotReady, .attestationFailed:
            true
        case .notEnrolled, .network, .rateLimited, .notAllowed, .faceMismatch, .sessionExpired, .keyUnavailable,
            .invalidConfig, .invalidIdToken, .browserNeeded, .invalidRedirect:
            false
        }
    }
}
