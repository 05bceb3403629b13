import Device
import Encoding
import Testing

@testable import SignIn

/// What goes wrong at one effect.
enum Fault: CaseIterable {
    case lost, unavailable, busy, killed, killedTwice, keyGone
}

/// A way through a sign-in.
struct Route: Sendable {
    let name: String
    /// Whether each live face opens the face token; true once these are used up.
    var opens: [Bool] = []
    /// What the camera sees; a live face once these are used up.
    var captures: [Capture] = []
    /// Completions answered 503, so that the flow parks.
    var failedCompletions = 0
    /// Token calls answered 503.
    var failedTokens = 0
    /// The effect at which the app cancels, by name.
    var cancelAt: String?
    /// Whether a key operation is asked for.
    var operates = false
    /// Whether the issuer looks at evidence about the app.
    var attests = false
    /// Starts refused with a challenge to make evidence for.
    var refusedStarts = 0
    /// Whether the tokens cannot be trusted.
    var badTokens = false
}

@Suite struct FaultLoopTests {
    static let routes = [
        Route(name: "straight"), Route(name: "two mismatches", opens: [false, false]),
        Route(name: "three mismatches", opens: [false, false, false]),
        Route(name: "liveness", captures: [.livenessFailed(reason: "photo"), .badCapture(.blurred)]),
        Route(name: "parked", failedCompletions: 1), Route(name: "parked twice", failedCompletions: 2),
        Route(name: "tokens late", failedTokens: 2), Route(name: "tokens parked", failedTokens: 3),
        Route(name: "bad tokens", badTokens: true), Route(name: "cancelled", cancelAt: "call(token)"),
        Route(name: "with a key operation", operates: true),
        Route(name: "with a key operation, parked", failedCompletions: 1, operates: true),
        Route(name: "with evidence", attests: true),
        Route(name: "with evidence on demand", refusedStarts: 1),
        Route(name: "with a stale challenge", attests: true, refusedStarts: 1),
        Route(name: "refused for its evidence", attests: true, refusedStarts: 2),
        Route(name: "cancelled at the camera", captures: [.closed]),
    ]

    /// Runs a route with a fault at the effect of this number; nil when the route has fewer effects.
    private func run(_ route: Route, _ fault: Fault, at number: Int) throws -> Script? {
        var route = route
        var script = Script(config: route.operates ? Phone.shared.signingConfig : Phone.shared.config)
        var referee = Referee()
        var before = script.flow
        try script.start()
        referee.watch(before, .start(Phone.shared.facts, Phone.shared.secrets), script.last, script.flow)
        var answered = 0
        var isHit = false
        var retries = 0
        for _ in 0..<200 where !script.flow.isFinished {
            before = script.flow
            let event: Event?
            if script.state.isParked {
                retries += 1
                event = retries > 5 ? .cancel : .retry
            } else {
                let effect = try #require(script.open.first, "the flow hangs: \(script.flow)")
                answered += 1
                if answered == number {
                    isHit = true
                    event = try faulty(effect, fault) ?? reply(effect, &route)
                    if fault == .killed || fault == .killedTwice {
                        try script.killAndResume()
                        referee.watch(before, nil, script.last, script.flow)
                        guard fault == .killedTwice else { continue }
                        before = script.flow
                        try script.killAndResume()
                        referee.watch(before, nil, script.last, script.flow)
                        continue
                    }
                } else if effect.action.name == route.cancelAt {
                    route.cancelAt = nil
                    event = .cancel
                } else {
                    event = try reply(effect, &route)
                }
            }
            try script.send(try #require(event))
            referee.watch(before, event, script.last, script.flow)
        }
        #expect(referee.broken.isEmpty, "\(route.name), \(fault) at \(number): \(referee.broken)")
        #expect(script.flow.isFinished, "\(route.name), \(fault) at \(number) hangs: \(script.flow)")
        return isHit ? script : nil
    }

    private func faulty(_ effect: Effect, _ fault: Fault) throws -> Event? {
        switch (fault, effect.action) {
        case (.lost, .discover), (.lost, .call): .lost(effect.id, detail: "gone")
        case (.unavailable, .discover): .discoveryFailed(effect.id, .unavailable(status: 503, retryAfter: nil))
        case (.busy, .discover): .discoveryFailed(effect.id, .unavailable(status: 429, retryAfter: nil))
        case (.unavailable, .call): .responded(effect.id, CallResponse(status: 503, mediaType: nil, body: []))
        case (.busy, .call): .responded(effect.id, CallResponse(status: 429, mediaType: nil, body: []))
        case (.keyGone, .call), (.keyGone, .attest), (.keyGone, .signCeremony), (.keyGone, .commit):
            .keyUnavailable(effect.id)
        default: nil
        }
    }

    private func reply(_ effect: Effect, _ route: inout Route) throws -> Event? {
        switch effect.action {
        case .capture where !route.captures.isEmpty: return .captured(effect.id, route.captures.removeFirst())
        case .openFaceToken where !route.opens.isEmpty:
            return route.opens.removeFirst() ? .faceTokenOpened(effect.id) : .faceTokenNotOpened(effect.id)
        case .call(let call) where call.purpose == .completion && route.failedCompletions > 0:
            route.failedCompletions -= 1
            return .responded(effect.id, CallResponse(status: 503, mediaType: nil, body: []))
        case .call(let call) where call.purpose == .token && route.failedTokens > 0:
            route.failedTokens -= 1
            return .responded(effect.id, CallResponse(status: 503, mediaType: nil, body: []))
        case .call(let call) where call.purpose == .token && route.badTokens:
            return .responded(effect.id, Replies.bearerTokens)
        case .call(let call) where call.purpose == .start && route.refusedStarts > 0:
            route.refusedStarts -= 1
            return .responded(effect.id, Replies.challengeStale)
        default: return try GoodWorld.answer(to: effect, route.attests ? Phone.attestingMetadata : Phone.goodMetadata)
        }
    }

    /// Loses, fails and kills at every effect of every route, one at a time.
    @Test(arguments: routes) func `a fault at any effect ends signed in or in a stated failure`(route: Route) throws {
        for fault in Fault.allCases {
            var number = 1
            while try run(route, fault, at: number) != nil { number += 1 }
            #expect(number > 6, "the route \(route.name) was walked")
        }
    }

    @Test func `one loss or kill anywhere on the straight way still signs in`() throws {
        for fault in [Fault.lost, .killed] {
            var number = 1
            while let script = try run(Self.routes[0], fault, at: number) {
                #expect(script.state.name == "signedIn", "\(fault) at \(number): \(script.state)")
                number += 1
            }
            #expect(number == 12)
        }
    }

    @Test func `a kill while parked or after leaves the proof as it was`() throws {
        for number in 1...20 {
            guard let script = try run(Self.routes[4], .killed, at: number) else { break }
            #expect(script.state.name == "signedIn", "at \(number)")
            #expect(Set(script.calls(.completion).map(\.body)).count == 1)
        }
        var parked = Script()
        try parked.advance(to: "call(completion)")
        try parked.respond(CallResponse(status: 503, mediaType: nil, body: []))
        #expect(try parked.killAndResume().isEmpty)
        #expect(parked.state == .postingResultFailed(.server(status: 503)))
        #expect(try parked.send(.retry) == ["call(completion)"])
        #expect(parked.calls(.completion)[0].body == parked.calls(.completion)[1].body)
    }

    @Test func `a loss or kill anywhere on the way of a key operation still signs in with its result`() throws {
        for route in Self.routes where route.operates {
            for fault in [Fault.lost, .killed] {
                var number = 1
                while let script = try run(route, fault, at: number) {
                    guard case .signedIn(let summary) = script.state else { throw Unexpected.state(script.state.name) }
                    #expect(summary.pki?.output == Phone.shared.output, "\(fault) at \(number)")
                    number += 1
                }
                #expect(number >= 13)
            }
        }
    }

    @Test func `a face that was being looked at when the process died is asked for again at no cost`() throws {
        for name in ["openFaceToken", "runPKI(sign)", "rotateFaceToken"] {
            var script = Script(config: name == "runPKI(sign)" ? Phone.shared.signingConfig : Phone.shared.config)
            try script.advance(to: name)
            #expect(try script.killAndResume() == ["capture"])
            #expect(script.state == .awaitingFace(attemptsLeft: 3, lastOutcome: nil))
            try script.finish()
            #expect(script.state.name == "signedIn")
        }
    }

    @Test func `an open camera is asked again under the same number`() throws {
        var script = Script()
        try script.advance(to: "capture")
        try script.capture(.badCapture(.blurred))
        guard case .capture(let number) = try #require(script.last.last).action else { throw Unexpected.body }
        try script.killAndResume()
        #expect(script.last.map(\.action) == [.capture(number: number)])
        #expect(script.state == .awaitingFace(attemptsLeft: 3, lastOutcome: .badCapture(.blurred)))
    }

    @Test func `a kill while tidying up sends a lost revocation once more and lets an abort go`() throws {
        var revoking = Script()
        try revoking.advance(to: "call(token)")
        try revoking.respond(Replies.tokens(["token_type": "Bearer"]))
        #expect(try revoking.killAndResume() == ["call(revocation)"])
        #expect(try revoking.killAndResume() == ["done"])

        var aborting = Script()
        try aborting.advance(to: "capture")
        try aborting.send(.cancel)
        #expect(try aborting.killAndResume() == ["signCeremony(abort)"])
        try aborting.send(.ceremonySigned(aborting.awaited(), jws: "j.w.s"))
        #expect(try aborting.killAndResume() == ["done"])
        #expect(try aborting.killAndResume().isEmpty)
    }

    @Test func `an idle flow stays idle over a kill`() throws {
        var script = Script()
        #expect(try script.killAndResume().isEmpty)
        #expect(script.state == .idle)
    }
}
