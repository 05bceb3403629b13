import Encoding
import Testing

@testable import SignIn

/// Which kinds of event a step takes; every other pair is ignored.
enum Legality {
    static let table: [String: Set<String>] = [
        "idle": ["start", "cancel"],
        "discovering": ["discovered", "discoveryFailed", "lost", "keyUnavailable", "cancel"],
        "challenging": ["responded", "lost", "keyUnavailable", "cancel"],
        "attesting": ["attested", "attestationUnavailable", "keyUnavailable", "cancel"],
        "opening": ["responded", "lost", "keyUnavailable", "cancel"],
        "signingFetch": ["ceremonySigned", "keyUnavailable", "cancel"],
        "fetching": ["responded", "lost", "keyUnavailable", "cancel"],
        "capturing": ["captured", "keyUnavailable", "cancel"],
        "matching": ["faceTokenOpened", "faceTokenNotOpened", "faceTokenUnusable", "keyUnavailable", "cancel"],
        "operating": ["pkiRan", "pkiKeysNotReady", "faceTokenUnusable", "keyUnavailable", "cancel"],
        "signingReport": ["ceremonySigned", "keyUnavailable", "cancel"],
        "reporting": ["responded", "lost", "keyUnavailable", "cancel"],
        "rotating": ["faceTokenRotated", "faceTokenUnusable", "keyUnavailable", "cancel"],
        "signingProof": ["ceremonySigned", "keyUnavailable", "cancel"],
        "completing": ["responded", "lost", "keyUnavailable", "cancel"],
        "redeeming": ["responded", "lost", "keyUnavailable", "cancel"],
        "committing": ["committed", "keyUnavailable"],
        "parked": ["retry", "cancel"],
        "signedIn": [],
        "failed": ["ceremonySigned", "keyUnavailable"],
    ]

    static func fits(_ event: Event, _ phase: Phase) -> Bool { table[phase.name, default: []].contains(event.name) }
}

@Suite struct LegalityTests {
    @Test func `each step takes exactly the events of the table`() throws {
        let samples = try Steps.all()
        #expect(Set(samples.map(\.flow.phase.name)) == Set(Legality.table.keys))
        for sample in samples {
            let taken = Steps.everyEvent(about: sample.awaited).filter { event in
                var flow = sample.flow
                let effects = flow.handle(event, at: Phone.now)
                return !effects.isEmpty || flow != sample.flow
            }
            let step = sample.flow.phase.name
            #expect(Set(taken.map(\.name)) == Legality.table[step], "\(step)")
        }
    }

    @Test func `an answer about another effect is taken by no step`() throws {
        for sample in try Steps.all() {
            for event in Steps.everyEvent(about: EffectID(rawValue: 10_000)) where event.effect != nil {
                var flow = sample.flow
                #expect(flow.handle(event, at: Phone.now).isEmpty)
                #expect(flow == sample.flow, "\(event) at \(sample.flow.phase.name)")
            }
        }
    }
}
