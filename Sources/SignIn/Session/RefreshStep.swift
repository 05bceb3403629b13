public import Device

/// Something that happened to a refresh: its start, or the answer to an effect.
public enum RefreshEvent: Sendable, Hashable {
    /// Begin.
    case start
    /// The call was answered, whatever the status.
    case responded(EffectID, CallResponse)
    /// The call was not answered: unreachable, timed out, closed early, or no client assertion could be had.
    case lost(EffectID, detail: String)
    /// The install key cannot sign any more.
    case keyUnavailable(EffectID)
    /// The store did what it was asked.
    case stored(EffectID)
    /// The store holds another session by now, or none: somebody signed in or out meanwhile. It changed nothing.
    case superseded(EffectID)
    /// The store failed and changed nothing.
    case notStored(EffectID)

    /// The effect this answers.
    var effect: EffectID? {
        switch self {
        case .start: nil
        case .responded(let id, _), .lost(let id, _), .keyUnavailable(let id), .stored(let id), .superseded(let id),
            .notStored(let id):
            id
        }
    }
}

/// Something a refresh wants done.
public struct RefreshEffect: Sendable, Hashable {
    /// The name the answer quotes.
    public let id: EffectID
    /// What to do.
    public let action: RefreshAction
}

/// What an effect of a refresh does.
public enum RefreshAction: Sendable, Hashable {
    /// Make an HTTP call: ``RefreshEvent/responded(_:_:)``, ``RefreshEvent/lost(_:detail:)`` or
    /// ``RefreshEvent/keyUnavailable(_:)``.
    case call(Call)
    /// Put this session in the place of the one that is refreshed, in one step and only where that one is still
    /// stored: ``RefreshEvent/stored(_:)``, ``RefreshEvent/superseded(_:)`` or ``RefreshEvent/notStored(_:)``.
    case replace(with: TokenSession)
    /// Forget the session that is refreshed, under the same condition and with the same answers.
    case end
    /// Make this call and do not wait for it; it has no answer.
    case revoke(Call)
    /// Nothing more is needed. Comes once, last, and has no answer.
    case finish(RefreshOutcome)

    /// The action's name.
    public var name: String {
        switch self {
        case .call(let call): "call(\(call.purpose.rawValue))"
        case .replace: "replace"
        case .end: "end"
        case .revoke: "revoke"
        case .finish: "finish"
        }
    }
}

/// What a refresh came to.
public enum RefreshOutcome: Sendable, Hashable {
    /// This session is stored and may be used.
    case renewed(TokenSession)
    /// Somebody signed in or out meanwhile: what is stored now counts.
    case superseded
    /// It was not renewed.
    case failed(RefreshError)
}

extension RefreshEvent: CustomStringConvertible, CustomReflectable {
    /// The event's name and effect; a response often holds secrets.
    public var description: String {
        let name =
            switch self {
            case .start: "start"
            case .responded(_, let response): "responded(\(response))"
            case .lost: "lost"
            case .keyUnavailable: "keyUnavailable"
            case .stored: "stored"
            case .superseded: "superseded"
            case .notStored: "notStored"
            }
        return effect.map { "\(name) \($0)" } ?? name
    }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }
}

extension RefreshAction: CustomStringConvertible, CustomReflectable {
    /// The name; the payloads hold tokens.
    public var description: String { name }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["action": name]) }
}
