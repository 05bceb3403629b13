import Device
import Encoding
import Foundation
import OAuth
import SignIn
import Testing

/// A flow under test: events in, expected effects out, and after every event a copy from its stored form must be equal
/// and behave alike.
struct Script {
    private(set) var flow: SenseCryptSignIn
    private(set) var effects: [Effect] = []
    /// The effects nothing has answered yet.
    private(set) var open: [Effect] = []
    /// The effects of the last event.
    private(set) var last: [Effect] = []
    var now = Phone.now
    /// What the issuer says of itself.
    var metadata = Phone.goodMetadata

    init(config: SignInConfig = Phone.shared.config) { flow = SenseCryptSignIn(config: config) }

    var state: SignInState { flow.state }
    var failure: SignInFailure? {
        if case .failed(let failure) = flow.state { failure } else { nil }
    }
    var names: [String] { last.map(\.action.name) }
    /// The calls so far, by purpose.
    func calls(_ purpose: Call.Purpose) -> [Call] {
        effects.compactMap { effect in
            if case .call(let call) = effect.action, call.purpose == purpose { call } else { nil }
        }
    }

    /// Hands over one event and returns the names of the effects.
    @discardableResult
    mutating func send(_ event: Event) throws -> [String] {
        var twin = try stored(flow)
        try #require(twin == flow)
        last = flow.handle(event, at: now)
        let others = twin.handle(event, at: now)
        try #require(others == last)
        try #require(twin == flow)
        effects += last
        open.removeAll { $0.id == event.effect }
        open += last
        return names
    }

    /// Starts the flow on the usual phone.
    @discardableResult
    mutating func start(_ facts: DeviceFacts = Phone.shared.facts) throws -> [String] {
        try send(.start(facts, Phone.shared.secrets))
    }

    /// Kills the process and takes the flow up from its stored form.
    @discardableResult
    mutating func killAndResume() throws -> [String] {
        flow = try stored(flow)
        last = flow.resume(at: now)
        effects += last
        open = last
        return names
    }

    /// Answers the last effect with a response.
    @discardableResult
    mutating func respond(_ response: CallResponse) throws -> [String] {
        try send(.responded(try awaited(), response))
    }

    @discardableResult
    mutating func lose() throws -> [String] { try send(.lost(try awaited(), detail: "connection reset")) }

    @discardableResult
    mutating func capture(_ capture: Capture) throws -> [String] { try send(.captured(try awaited(), capture)) }

    /// The last effect's id.
    func awaited() throws -> EffectID { try #require(last.last).id }

    /// Answers effects well until one of this name is the last, and leaves it unanswered.
    mutating func advance(to name: String, captures: [Capture] = []) throws {
        if last.isEmpty, case .idle = flow.state { try start() }
        var captures = captures
        for _ in 0..<100 where names.last != name {
            let effect = try #require(last.last)
            let event: Event?
            if case .capture = effect.action, !captures.isEmpty {
                event = .captured(effect.id, captures.removeFirst())
            } else {
                event = try GoodWorld.answer(to: effect, metadata)
            }
            try send(try #require(event))
        }
        try #require(names.last == name)
    }

    /// Answers everything well until the flow is finished.
    mutating func finish() throws {
        for _ in 0..<100 where !flow.isFinished {
            let effect = try #require(open.first)
            try send(try #require(try GoodWorld.answer(to: effect, metadata)))
        }
        try #require(flow.isFinished)
    }
}

/// A value after a way through its stored form.
func stored<T: Codable>(_ value: T) throws -> T {
    try JSONDecoder().decode(T.self, from: JSONEncoder().encode(value))
}

/// A world where everything goes well.
enum GoodWorld {
    static func answer(to effect: Effect, _ metadata: ServerMetadata = Phone.goodMetadata) throws -> Event? {
        switch effect.action {
        case .discover: .discovered(effect.id, metadata)
        case .attest: .attested(effect.id, evidence: Secret.evidence)
        case .call(let call): .responded(effect.id, reply(to: call))
        case .signCeremony(let claims, _): .ceremonySigned(effect.id, jws: Secret.proof + "." + claims.act.name)
        case .capture: .captured(effect.id, .live(SampleID(rawValue: "self")))
        case .openFaceToken: .faceTokenOpened(effect.id)
        case .runPKI: .pkiRan(effect.id, Phone.shared.output)
        case .rotateFaceToken: .faceTokenRotated(effect.id, sealed: Phone.shared.rotated)
        case .commit: .committed(effect.id)
        case .done: nil
        }
    }

    static func reply(to call: Call) -> CallResponse {
        switch call.purpose {
        // No call of this machine's: the pages of a browser's way are effects of their own.
        case .authorize: Replies.html
        case .attestationChallenge: Replies.attestationChallenge
        case .start: Replies.started
        case .faceToken: Replies.faceToken(pki: Replies.facePKI)
        case .attempt: Replies.attemptsLeft(3)
        case .completion: Replies.code()
        case .token: Replies.goodTokens
        case .abort: Replies.aborted
        case .refresh: Replies.goodTokens
        case .revocation: Replies.revoked
        }
    }
}
