import Encoding
import Testing

@testable import SignIn

@Suite struct InvariantTests {
    /// One flow through a random world, watched; returns how it ended.
    private func run(seed: UInt64) throws -> (broken: [String], state: String) {
        var world = RandomWorld(dice: Dice(seed: seed), luck: 60 + Int(seed % 40))
        var referee = Referee()
        // One in three asks for a key operation.
        var script = Script(config: seed % 3 == 0 ? Phone.shared.signingConfig : Phone.shared.config)
        var before = script.flow
        try script.start()
        referee.watch(before, .start(Phone.shared.facts, Phone.shared.secrets), script.last, script.flow)
        var encores = 5
        for _ in 0..<60 where referee.broken.isEmpty && encores > 0 {
            before = script.flow
            if before.isFinished { encores -= 1 }
            guard let event = try next(&world, script) else {
                try script.killAndResume()
                referee.watch(before, nil, script.last, script.flow)
                continue
            }
            try script.send(event)
            referee.watch(before, event, script.last, script.flow)
        }
        return (referee.broken, script.state.name)
    }

    /// The next thing that happens; nil is a kill.
    private func next(_ world: inout RandomWorld, _ script: Script) throws -> Event? {
        let roll = Int.random(in: 0..<100, using: &world.dice)
        let ids = script.effects.count + 2
        switch roll {
        case ..<2: return .cancel
        case ..<8: return .retry
        case ..<9: return .start(Phone.shared.facts, Phone.shared.secrets)
        case ..<12: return nil
        case ..<20:
            // Late, duplicate, or about an effect that never was; not one that is open, which has one answer.
            let id = EffectID(rawValue: Int.random(in: 0...ids, using: &world.dice))
            return script.open.contains { $0.id == id } ? .retry : world.anything(about: id)
        default:
            let open = script.open.filter { $0.action != .done }
            if script.state.isParked || open.isEmpty { return world.dice.chance(50) ? .retry : .cancel }
            return try world.answer(to: world.dice.pick(open))
        }
    }

    @Test(arguments: 0..<20) func `thousands of random flows keep every invariant`(batch: UInt64) throws {
        var ends: [String: Int] = [:]
        for seed in batch * 100..<(batch + 1) * 100 {
            let (broken, end) = try run(seed: seed)
            #expect(broken.isEmpty, "seed \(seed): \(broken)")
            ends[end, default: 0] += 1
        }
        // The dice reach both ends, or the invariants would hold for want of trying.
        #expect(ends["signedIn", default: 0] > 0)
        #expect(ends["failed", default: 0] > 0)
    }

    @Test func `an answer of the wrong kind to an open effect changes nothing`() throws {
        for seed in 0..<100 as Range<UInt64> {
            var world = RandomWorld(dice: Dice(seed: seed), luck: 95)
            var script = Script()
            try script.start()
            for _ in 0..<30 where !script.flow.isFinished {
                let effect = try #require(script.open.first)
                let before = script.flow
                let odd = world.anything(about: effect.id)
                if !Legality.fits(odd, before.phase) {
                    var probed = before
                    #expect(probed.handle(odd, at: script.now).isEmpty)
                    #expect(probed == before, "\(odd) at \(before.phase.name)")
                }
                try script.send(try #require(try GoodWorld.answer(to: effect)))
            }
            #expect(script.state.name == "signedIn")
        }
    }

    @Test func `the referee sees each kind of foul`() throws {
        var script = Script()
        try script.advance(to: "capture")
        let flow = script.flow
        var ended = script.flow
        _ = ended.handle(.cancel, at: script.now)
        let capture = Effect(id: EffectID(rawValue: 900), action: .capture(number: 1))

        var afterEnd = Referee()
        afterEnd.watch(ended, .cancel, [capture], flow)
        #expect(afterEnd.broken.contains("a terminal state is the last one"))
        #expect(afterEnd.broken.contains("after the end there is only tidying up"))

        var stale = Referee()
        stale.watch(flow, .retry, [Effect(id: EffectID(rawValue: 0), action: .done)], flow)
        #expect(stale.broken.contains("ids are fresh"))
        #expect(stale.broken.contains("done comes once, with the end"))

        var deaf = Referee()
        deaf.watch(flow, .cancel, [], flow)
        #expect(deaf.broken.contains("a cancel ends any flow under way"))

        var hung = Referee()
        let stuck = Effect(id: EffectID(rawValue: 1), action: .capture(number: 1))
        hung.watch(SenseCryptSignIn(config: Phone.shared.config), .retry, [stuck], flow)
        #expect(hung.broken.contains("a flow under way awaits one effect"))

        var thief = Referee()
        let tokens = try #require(try Steps.script(at: "commit").last.last)
        thief.watch(flow, .responded(EffectID(rawValue: 1), Replies.html), [tokens], flow)
        #expect(thief.broken.contains("only a valid token response is stored"))
    }
}
