import Encoding
import OAuth
import SignIn

/// The machine of one flow, whichever system it signs in at.
enum FlowMachine: Codable, Sendable {
    case senseCrypt(SenseCryptSignIn)
    case oauth(AuthorizationCodeSignIn)

    /// What the flow was asked to do.
    var config: SignInConfig {
        switch self {
        case .senseCrypt(let machine): machine.config
        case .oauth(let machine): machine.config
        }
    }

    /// What the app sees.
    var state: SignInState {
        switch self {
        case .senseCrypt(let machine): machine.state
        case .oauth(let machine): machine.state
        }
    }

    /// The system's name, as the control API spells it.
    var system: String {
        switch self {
        case .senseCrypt: "sensecrypt"
        case .oauth: "oauth"
        }
    }

    /// Takes one event and returns what is to be done, in order.
    mutating func handle(_ event: FlowEvent, at now: Instant) -> [FlowEffect] {
        switch self {
        case .senseCrypt(var machine):
            let effects = event.forSenseCrypt.map { machine.handle($0, at: now) } ?? []
            self = .senseCrypt(machine)
            return effects.map(FlowEffect.init)
        case .oauth(var machine):
            let effects = event.forOAuth.map { machine.handle($0, at: now) } ?? []
            self = .oauth(machine)
            return effects.map(FlowEffect.init)
        }
    }

    /// Takes up a stored flow after a kill and returns what is to be done.
    mutating func resume(at now: Instant) -> [FlowEffect] {
        switch self {
        case .senseCrypt(var machine):
            let effects = machine.resume(at: now)
            self = .senseCrypt(machine)
            return effects.map(FlowEffect.init)
        case .oauth(var machine):
            let effects = machine.resume(at: now)
            self = .oauth(machine)
            return effects.map(FlowEffect.init)
        }
    }
}

/// Something to tell a flow: what every machine understands, or what one of them does.
enum FlowEvent: Sendable {
    case discovered(EffectID, ServerMetadata)
    case discoveryFailed(EffectID, DiscoveryFailure)
    case responded(EffectID, CallResponse)
    case lost(EffectID, detail: String)
    case keyUnavailable(EffectID)
    case committed(EffectID)
    case retry
    case cancel
    case senseCrypt(Event)
    case oauth(AuthorizationCodeSignIn.Event)

    fileprivate var forSenseCrypt: Event? {
        switch self {
        case .discovered(let id, let metadata): .discovered(id, metadata)
        case .discoveryFailed(let id, let failure): .discoveryFailed(id, failure)
        case .responded(let id, let response): .responded(id, response)
        case .lost(let id, let detail): .lost(id, detail: detail)
        case .keyUnavailable(let id): .keyUnavailable(id)
        case .committed(let id): .committed(id)
        case .retry: .retry
        case .cancel: .cancel
        case .senseCrypt(let event): event
        case .oauth: nil
        }
    }

    fileprivate var forOAuth: AuthorizationCodeSignIn.Event? {
        switch self {
        case .discovered(let id, let metadata): .discovered(id, metadata)
        case .discoveryFailed(let id, let failure): .discoveryFailed(id, failure)
        case .responded(let id, let response): .responded(id, response)
        case .lost(let id, let detail): .lost(id, detail: detail)
        case .keyUnavailable(let id): .keyUnavailable(id)
        case .committed(let id): .committed(id)
        case .cancel: .cancel
        case .oauth(let event): event
        // It never parks, so there is nothing to retry.
        case .retry, .senseCrypt: nil
        }
    }
}

/// Something a flow wants done.
struct FlowEffect: Sendable {
    /// What is to be done, in the words of its machine.
    enum Action: Sendable {
        case senseCrypt(SignIn.Action)
        case oauth(AuthorizationCodeSignIn.Action)
    }

    let id: EffectID
    let action: Action

    init(_ effect: Effect) {
        id = effect.id
        action = .senseCrypt(effect.action)
    }

    init(_ effect: AuthorizationCodeSignIn.Effect) {
        id = effect.id
        action = .oauth(effect.action)
    }
}
