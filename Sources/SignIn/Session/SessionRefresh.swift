public import Device
public import Encoding
internal import OAuth

/// One refresh of a stored session as a value: events in, effects out.
///
/// It does no I/O, reads no clock and never touches a private key. It has no stored form: a refresh that is killed is
/// simply gone, since what is stored changes in one step, from the old pair of tokens to the new one.
///
/// One refresh runs at a time for an install; the edge sees to that. Here, a refresh token is sent again only as the
/// answer to a nonce challenge, and one that is known to be spent is forgotten.
/// Source: SenseCrypt description, "Session length and refresh"; the wire is `docs/sensecrypt-wire.md`, section 7.
public struct SessionRefresh: Sendable, Equatable {
    /// The session to renew.
    public let session: TokenSession

    private let refreshToken: String
    private let installThumbprint: String
    private var phase: Phase = .idle
    private var effectsIssued = 0

    private enum Phase: Sendable, Equatable {
        case idle
        /// Waits for the answer to the refresh call.
        case calling(EffectID, nonceAnswered: Bool)
        /// Waits for the successor to be stored.
        case storing(EffectID, TokenSession)
        /// Waits for what failed to be written down, then fails.
        case failing(EffectID, RefreshError)
        case finished

        /// The effect whose answer is awaited.
        var awaited: EffectID? {
            switch self {
            case .idle, .finished: nil
            case .calling(let id, _), .storing(let id, _), .failing(let id, _): id
            }
        }
    }

    /// Makes a refresh that has not begun; nil for a session without refresh token, which ends with its access token.
    public init?(of session: TokenSession, installThumbprint: String) {
        guard let refreshToken = session.refreshToken else { return nil }
        self.session = session
        self.refreshToken = refreshToken
        self.installThumbprint = installThumbprint
    }

    /// Whether nothing more will come of it.
    public var isFinished: Bool { phase == .finished }

    /// Takes one event and returns what is to be done, in order.
    ///
    /// `now` is the device's clock. An event that does not fit, or answers an effect that is not awaited, is late or a
    /// duplicate: it changes nothing and returns nothing.
    public mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshEffect] {
        if let answered = event.effect, answered != phase.awaited { return [] }
        switch (phase, event) {
        case (.idle, .start): return send(nonceAnswered: false)
        case (.calling(_, let nonceAnswered), .responded(_, let response)):
            return answered(response, nonceAnswered: nonceAnswered, at: now)
        case (.calling, .lost(_, let detail)):
            return fail(.network(message: "no answer to the refresh: \(DisplayText.shortened(detail))"))
        case (.calling, .keyUnavailable):
            return end(
                .signInRequired(message: "the install key, which the session is bound to, cannot be used any more"))
        case (.storing(_, let successor), .stored): return finish(.renewed(successor))
        case (.storing(_, let successor), .superseded): return discard(successor, .superseded)
        case (.storing(_, let successor), .notStored):
            return discard(successor, .failed(.server(message: "the renewed session could not be stored")))
        case (.failing(_, let error), .stored), (.failing(_, let error), .notStored): return fail(error)
        case (.failing, .superseded): return finish(.superseded)
        default: return []
        }
    }
}

extension SessionRefresh {
    private mutating func send(nonceAnswered: Bool) -> [RefreshEffect] {
        let form = GrantRequests.refresh(refreshToken, clientID: session.clientID)
        let effect = emit(
            .call(
                Call(
                    purpose: .refresh, attempt: 1, url: session.tokenEndpoint, body: .form(form), needsDPoP: true,
                    bestEffort: false)))
        phase = .calling(effect.id, nonceAnswered: nonceAnswered)
        return [effect]
    }

    private mutating func answered(
        _ response: CallResponse, nonceAnswered: Bool, at now: Instant
    ) -> [RefreshEffect] {
        if let trouble = response.trouble(at: now) { return fail(.server(message: "refresh: \(trouble.message)")) }
        guard response.status == 200 else { return refused(response, nonceAnswered: nonceAnswered) }
        let tokens: TokenResponse
        do {
            tokens = try TokenResponse(status: response.status, mediaType: response.mediaType, body: response.body)
        } catch {
            return mistrust(response, rule: error.description)
        }
        let check = TokenCheck(
            issuer: session.issuer, clientID: session.clientID, installThumbprint: installThumbprint,
            nonce: .notExpected, subject: session.subject)
        do throws(TokenRefusal) {
            return store(tokens, try check.claims(of: tokens, at: now), at: now)
        } catch {
            return mistrust(response, rule: error.rule)
        }
    }

    private mutating func refused(_ response: CallResponse, nonceAnswered: Bool) -> [RefreshEffect] {
        let error: OAuthErrorBody
        do { error = try OAuthErrorBody(refusal: response) } catch {
            return fail(.server(message: "refresh: \(error.description)"))
        }
        switch error.code {
        case .useDPoPNonce:
            if let reason = response.brokenNonceChallenge(answeredBefore: nonceAnswered) {
                return fail(.server(message: reason))
            }
            return send(nonceAnswered: true)
        case .invalidGrant: return end(.signInRequired(message: "the issuer ended the session: \(error)"))
        // Error codes are an open set; only invalid_grant speaks about the session itself.
        default: return fail(.server(message: "the refresh was refused: \(error)"))
        }
    }

    /// What the answer does not say stays as it was: a server that does not rotate sends no refresh token (RFC 6749
    /// section 6), and an ID token may be missing (OIDC Core section 12.2).
    private mutating func store(
        _ tokens: TokenResponse, _ claims: IDTokenClaims?, at now: Instant
    ) -> [RefreshEffect] {
        var successor = session
        successor.accessToken = tokens.accessToken
        successor.expiresAt = now.adding(seconds: tokens.expiresInSeconds)
        successor.refreshToken = tokens.refreshToken ?? refreshToken
        successor.scope = tokens.scope ?? session.scope
        successor.claims = claims?.json ?? session.claims
        successor.subject = session.subject ?? claims?.subject
        let effect = emit(.replace(with: successor))
        phase = .storing(effect.id, successor)
        return [effect]
    }

    /// An answer that cannot be believed changes nothing, but for one thing: a refresh token it shows to be spent.
    ///
    /// That one is forgotten, so that it is never presented again; the session then ends with its access token.
    private mutating func mistrust(_ response: CallResponse, rule: String) -> [RefreshEffect] {
        let error = RefreshError.server(message: "refresh: \(rule)")
        guard let grant = response.grant, grant.kind == .refreshToken, grant.token != refreshToken else {
            return fail(error)
        }
        var rest = session
        rest.refreshToken = nil
        return writeDown(.replace(with: rest), error)
    }

    private mutating func end(_ error: RefreshError) -> [RefreshEffect] { writeDown(.end, error) }

    private mutating func writeDown(_ action: RefreshAction, _ error: RefreshError) -> [RefreshEffect] {
        let effect = emit(action)
        phase = .failing(effect.id, error)
        return [effect]
    }

    /// A successor nobody will use is revoked, best effort.
    private mutating func discard(_ successor: TokenSession, _ outcome: RefreshOutcome) -> [RefreshEffect] {
        let revocation = successor.revocation.map { [emit(.revoke($0))] } ?? []
        return revocation + finish(outcome)
    }

    private mutating func fail(_ error: RefreshError) -> [RefreshEffect] { finish(.failed(error)) }

    private mutating func finish(_ outcome: RefreshOutcome) -> [RefreshEffect] {
        phase = .finished
        return [emit(.finish(outcome))]
    }

    private mutating func emit(_ action: RefreshAction) -> RefreshEffect {
        effectsIssued += 1
        return RefreshEffect(id: EffectID(rawValue: effectsIssued), action: action)
    }
}

extension SessionRefresh: CustomStringConvertible, CustomReflectable {
    /// Whose session is renewed; never a token.
    public var description: String { "refresh of the \(session)" }

    /// Hides the stored properties from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["refresh": description]) }
}

extension TokenSession {
    /// The call that ends this session's grant at its issuer, best effort; nil where the issuer has no place for it.
    ///
    /// A refresh token takes its access tokens with it (RFC 7009 section 2.1).
    public var revocation: Call? {
        guard let url = revocationEndpoint else { return nil }
        let (token, kind): (String, TokenKind) =
            if let refreshToken { (refreshToken, .refreshToken) } else { (accessToken, .accessToken) }
        let form = GrantRequests.revocation(token, kind: kind, clientID: clientID)
        return Call(
            purpose: .revocation, attempt: 1, url: url, body: .form(form), needsDPoP: false, bestEffort: true)
    }
}
