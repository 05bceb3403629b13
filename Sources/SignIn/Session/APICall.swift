public import Device
public import Encoding

/// One call of the app's API as the platform helper makes it: a value that is told what came and says what to do next.
///
/// Refresh first when due; one repeat for a nonce; one refresh and one repeat after `invalid_token`, with a nonce
/// repeat of its own; never a repeat of a one-shot body. Every other answer goes to the app as it is.
/// Source: SenseCrypt description, "Using the tokens".
public struct APICall: Sendable, Equatable {
    /// What to do next.
    public enum Next: Sendable, Equatable {
        /// Send the request with a fresh proof, authorized by this session, or unchanged where there is none; then
        /// tell with ``APICall/answered(_:at:)``.
        case send(APISession?)
        /// Refresh this session, or share a refresh of it, and tell with ``APICall/refreshed(_:at:)``.
        case refresh(TokenSession)
        /// Hand the newest answer to the app.
        case done
        /// Fail the call like a lost connection: the token has ended, and it could not be renewed right now.
        case fail(RefreshError)
    }

    /// What a refresh came to, for everybody who waited for it.
    public enum Refreshed: Sendable, Equatable {
        /// This session is stored now.
        case session(TokenSession)
        /// No session is stored any more: the user signed out meanwhile.
        case noSession
        /// It was not renewed.
        case failed(RefreshError)
    }

    private enum Phase: Sendable, Equatable {
        case idle
        case refreshingFirst(TokenSession)
        case sent(APISession?, nonceRepeated: Bool)
        case refreshingAfter(TokenSession)
        case over
    }

    /// Whether the body can be sent again; false for a stream.
    public let isReplayable: Bool

    private var phase: Phase = .idle
    private var hasRefreshedAfter = false

    /// Makes a call that has not begun.
    public init(isReplayable: Bool) { self.isReplayable = isReplayable }

    /// Begins, with the session that is stored.
    public mutating func start(with stored: TokenSession?, at now: Instant) -> Next {
        precondition(phase == .idle, "a call starts once")
        guard let session = APISession.current(stored, at: now) else { return send(nil) }
        guard session.needsRefresh(at: now) else { return send(session) }
        phase = .refreshingFirst(session.tokens)
        return .refresh(session.tokens)
    }

    /// Takes what a refresh came to.
    public mutating func refreshed(_ result: Refreshed, at now: Instant) -> Next {
        switch phase {
        case .refreshingFirst(let old): refreshedFirst(result, old, at: now)
        case .refreshingAfter(let old): refreshedAfter(result, old, at: now)
        case .idle, .sent, .over: preconditionFailure("no refresh was asked for")
        }
    }

    /// Takes what was observed in the answer to the request.
    public mutating func answered(_ answer: APIAnswer.Observation, at now: Instant) -> Next {
        guard case .sent(let session, let nonceRepeated) = phase else {
            preconditionFailure("no request was to be sent")
        }
        guard let session, isReplayable else { return finish() }
        if answer.isToBeRepeated, !nonceRepeated { return send(session, nonceRepeated: true) }
        guard answer.shouldRefresh, !hasRefreshedAfter, session.canRefresh else { return finish() }
        hasRefreshedAfter = true
        phase = .refreshingAfter(session.tokens)
        return .refresh(session.tokens)
    }
}

extension APICall {
    private mutating func refreshedFirst(_ result: Refreshed, _ old: TokenSession, at now: Instant) -> Next {
        switch result {
        case .session(let new): return send(APISession.current(new, at: now))
        // The API's 401 then tells the app to sign in.
        case .noSession, .failed(.signInRequired): return send(nil)
        case .failed(let error):
            guard let session = APISession.current(old, at: now), session.isUsable(at: now) else { return fail(error) }
            return send(session)
        }
    }

    /// Where the session could not be renewed, the API's answer stands; but an app is told to sign in only where the
    /// session has ended, and not for a server that could not be reached.
    private mutating func refreshedAfter(_ result: Refreshed, _ old: TokenSession, at now: Instant) -> Next {
        switch result {
        case .session(let new): return send(APISession.current(new, at: now))
        case .noSession, .failed(.signInRequired): return finish()
        case .failed(let error): return old.isExpired(at: now) ? fail(error) : finish()
        }
    }

    private mutating func send(_ session: APISession?, nonceRepeated: Bool = false) -> Next {
        phase = .sent(session, nonceRepeated: nonceRepeated)
        return .send(session)
    }

    private mutating func finish() -> Next {
        phase = .over
        return .done
    }

    private mutating func fail(_ error: RefreshError) -> Next {
        phase = .over
        return .fail(error)
    }
}
