public import Encoding

/// A sign-in at any standard authorization server as a value: authorization code, PKCE, DPoP.
///
/// Like ``SenseCryptSignIn`` it does no I/O, reads no clock, draws nothing and never touches a private key, and
/// everything it knows is in its stored form. Source: RFC 6749 section 4.1, RFC 7636, RFC 9449, RFC 9207, RFC 8252.
public struct AuthorizationCodeSignIn: Codable, Sendable, Equatable {
    /// What the app asked for.
    public let config: SignInConfig
    /// How the way through the browser is gone.
    public let door: BrowserDoor

    var phase: Phase = .idle
    private var effectsIssued = 0

    /// Makes a flow that has not started.
    public init(config: SignInConfig, door: BrowserDoor) {
        self.config = config
        self.door = door
    }

    /// What the app sees.
    public var state: SignInState { phase.state }

    /// Whether nothing more will come of this flow: it is terminal, and its tidying up is done.
    public var isFinished: Bool {
        switch phase {
        case .signedIn: true
        case .failed(let over): over.grant == nil
        case .idle, .discovering, .opening, .visiting, .waiting, .redeeming, .committing: false
        }
    }

    /// Takes one event and returns what is to be done, in order.
    ///
    /// `now` is the device's clock. An event that does not fit the state, or answers an effect that is not awaited, is
    /// late or a duplicate: it changes nothing and returns nothing.
    public mutating func handle(_ event: Event, at now: Instant) -> [Effect] {
        if let answered = event.effect, answered != phase.awaited { return [] }
        switch phase {
        case .idle: return idle(event)
        case .discovering(let phase): return discovering(phase, event, at: now)
        case .opening(let phase): return opening(phase, event)
        case .visiting(let phase): return visiting(phase, event, at: now)
        case .waiting(let phase): return waiting(phase, event)
        case .redeeming(let phase): return redeeming(phase, event, at: now)
        case .committing(let phase): return committing(phase, event)
        case .signedIn: return []
        case .failed(let phase): return over(phase, event)
        }
    }

    /// Takes up a stored flow after a kill and returns what is to be done.
    ///
    /// A network effect that was under way counts as a lost reply. A browser that was out has to go again: the place
    /// it would have come back to was this process. A session that was being stored is stored again.
    public mutating func resume(at now: Instant) -> [Effect] {
        let detail = "the flow was interrupted"
        switch phase {
        case .idle, .signedIn: return []
        case .discovering(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .visiting(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .redeeming(let phase): return handle(.lost(phase.sending.effect, detail: detail), at: now)
        case .opening(let phase): return open(phase.visit)
        case .waiting(let phase): return open(phase.visit)
        case .committing(let phase): return store(phase.tokens, phase.summary, phase.server)
        case .failed(let phase): return phase.grant.map { handle(.lost($0.effect, detail: detail), at: now) } ?? []
        }
    }

    /// Numbers an effect.
    mutating func emit(_ action: Action) -> Effect {
        effectsIssued += 1
        return Effect(id: EffectID(rawValue: effectsIssued), action: action)
    }
}

extension AuthorizationCodeSignIn: CustomStringConvertible, CustomReflectable {
    /// Issuer and state; the rest is often secret.
    public var description: String { "OAuth sign-in at \(config.issuer), \(state.name)" }

    /// Hides the stored properties from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["flow": description]) }
}

/// How a sign-in gets through the authorization server's pages.
public enum BrowserDoor: Codable, Sendable, Hashable {
    /// The phone asks for the pages itself and follows redirects on the server's own origin.
    ///
    /// That is enough for a server that approves by itself. One that shows a page needs a browser.
    case direct(redirectURI: String)
    /// A person opens the address in a browser, which comes back to a loopback address of this machine (RFC 8252
    /// section 7.3); a redirect URI without a port, or none at all, stands for a port the system picks.
    case browser(redirectURI: String?)

    /// Where the phone itself is sent back to where nobody says.
    public static let standardRedirectURI = "http://127.0.0.1:7429/callback"
    /// Where a browser is sent back to where nobody says: any port.
    public static let anyPort = "http://127.0.0.1/callback"
}
