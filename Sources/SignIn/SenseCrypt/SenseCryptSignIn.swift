public import Encoding

/// The SenseCrypt in-app sign-in as a value: events in, effects out.
///
/// It does no I/O, reads no clock, draws nothing and never touches a private key. Everything it knows is in its stored
/// form, so a flow survives a kill: store it after every event, then ``resume(at:)``.
/// Source: SenseCrypt description; the wire is `docs/sensecrypt-wire.md`.
public struct SenseCryptSignIn: Codable, Sendable, Equatable {
    /// What the app asked for.
    public let config: SignInConfig
    /// Deviations of the server that did not stop the flow, oldest first; at most ``noteLimit``.
    public private(set) var notes: [ProtocolNote] = []

    var phase: Phase = .idle
    private var effectsIssued = 0

    /// The most notes a flow keeps.
    public static let noteLimit = 32

    /// Makes a flow that has not started.
    public init(config: SignInConfig) { self.config = config }

    /// What the app sees.
    public var state: SignInState { phase.state }

    /// Whether nothing more will come of this flow: it is terminal, and its tidying up is done.
    public var isFinished: Bool {
        switch phase {
        case .signedIn: true
        case .failed(let ended): ended.isFinished
        case .idle, .discovering, .challenging, .attesting, .opening, .signingFetch, .fetching, .capturing, .matching,
            .operating, .signingReport,
            .reporting,
            .rotating, .signingProof, .completing, .redeeming, .committing, .parked:
            false
        }
    }

    /// Takes one event and returns what is to be done, in order; seldom more than two effects.
    ///
    /// `now` is the device's clock. An event that does not fit the state, or answers an effect that is not awaited, is
    /// late or a duplicate: it changes nothing and returns nothing.
    public mutating func handle(_ event: Event, at now: Instant) -> [Effect] {
        if let answered = event.effect, !phase.awaits(answered) { return [] }
        switch phase {
        case .idle: return idle(event)
        case .discovering(let phase): return discovering(phase, event, at: now)
        case .challenging(let phase): return challenging(phase, event, at: now)
        case .attesting(let phase): return attesting(phase, event)
        case .opening(let phase): return opening(phase, event, at: now)
        case .signingFetch(let phase): return signingFetch(phase, event)
        case .fetching(let phase): return fetching(phase, event, at: now)
        case .capturing(let phase): return capturing(phase, event)
        case .matching(let phase): return matching(phase, event)
        case .operating(let phase): return operating(phase, event)
        case .signingReport(let phase): return signingReport(phase, event)
        case .reporting(let phase): return reporting(phase, event, at: now)
        case .rotating(let phase): return rotating(phase, event)
        case .signingProof(let phase): return signingProof(phase, event)
        case .completing(let phase): return completing(phase, event, at: now)
        case .redeeming(let phase): return redeeming(phase, event, at: now)
        case .committing(let phase): return committing(phase, event)
        case .parked(let phase): return parked(phase, event)
        case .signedIn: return []
        case .failed(let phase): return ended(phase, event)
        }
    }

    /// Numbers an effect.
    mutating func emit(_ action: Action) -> Effect {
        effectsIssued += 1
        return Effect(id: EffectID(rawValue: effectsIssued), action: action)
    }

    /// Keeps a note, as long as there is room.
    mutating func note(_ note: ProtocolNote) {
        if notes.count < Self.noteLimit { notes.append(note) }
    }
}

extension SenseCryptSignIn: CustomStringConvertible, CustomReflectable {
    /// Issuer and state; the rest is often secret.
    public var description: String { "SenseCrypt sign-in at \(config.issuer), \(state.name)" }

    /// Hides the stored properties from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["flow": description]) }
}

/// Something a server does otherwise than the text says, and that this client bears.
public struct ProtocolNote: Codable, Sendable, Hashable {
    /// A stable dotted name of the rule.
    public let rule: String
    /// What the rule demands.
    public let expected: String
    /// What came instead; never a secret.
    public let actual: String
}
