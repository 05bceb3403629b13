import Encoding
import OAuth
import Testing

@testable import SignIn

@Suite struct StoredFormTests {
    @Test func `every event and effect of a sign-in comes back equal from its stored form`() throws {
        var script = Script()
        try script.start()
        for _ in 0..<30 where !script.flow.isFinished {
            let effect = try #require(script.open.first)
            #expect(try stored(effect) == effect)
            let event = try #require(try GoodWorld.answer(to: effect))
            #expect(try stored(event) == event)
            try script.send(event)
        }
        for event in Steps.everyEvent(about: EffectID(rawValue: 7)) { #expect(try stored(event) == event) }
        let odd = Event.discoveryFailed(EffectID(rawValue: 1), .invalid(.issuerMismatch(expected: "a", found: "b")))
        #expect(try stored(odd) == odd)
    }

    @Test func `a flow at any step comes back equal, and answers alike`() throws {
        for sample in try Steps.all() {
            #expect(try stored(sample.flow) == sample.flow)
            for event in Steps.everyEvent(about: sample.awaited) {
                var original = sample.flow
                var copy = try stored(sample.flow)
                #expect(original.handle(event, at: Phone.now) == copy.handle(event, at: Phone.now))
                #expect(original == copy)
            }
        }
    }

    @Test func `notes are bounded`() {
        var flow = SenseCryptSignIn(config: Phone.shared.config)
        for number in 0..<100 { flow.note(ProtocolNote(rule: "r", expected: "e", actual: "\(number)")) }
        #expect(flow.notes.count == SenseCryptSignIn.noteLimit)
    }
}
