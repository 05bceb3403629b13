import Device
import Encoding
import Engine
import HTTP
import SignIn
import Testing

/// Every wrong at every call it can be done at, in whole sign-ins against the reference IdP.
@Suite struct WrongLoopTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let wrong: WrongOnPurpose
        let place: WrongOnPurpose.Place
        var testDescription: String { "\(wrong.rawValue) at \(place.rawValue)" }

        static let all = WrongOnPurpose.allCases.flatMap { wrong in
            WrongOnPurpose.Place.allCases.filter { wrong.applies(to: $0) }.map { Case(wrong: wrong, place: $0) }
        }
    }

    @Test(arguments: Case.all)
    func `a wrong call is answered as the table says, and the next right one goes through`(tested: Case) async throws {
        let (wrong, place) = (tested.wrong, tested.place)
        let world = try await WrongHouse.open()
        try await world.settle()
        let parked = wrong == .codeOfAnotherClient ? try await world.parkOtherClient() : nil
        let session = try await world.house.engine.session(of: world.ada)?.session
        let findings = try world.house.findings().count
        let outcome = try await world.run(wrong, at: place)
        let expectation = try #require(wrong.expectation(at: place))
        let rules = try world.house.findings().dropFirst(findings)

        if wrong == .htuPort {
            // The reference IdP of these tests listens at a port that no scheme has by itself.
            #expect(outcome.status == nil || outcome.flow != nil)
        } else {
            let status = try #require(outcome.status)
            #expect(expectation.allows(status: status, error: outcome.error), "\(status) \(outcome.error ?? "-")")
            if expectation.verdict != .accepted {
                #expect(status == expectation.statuses.first)
                #expect(outcome.error == expectation.errors.first)
                #expect(rules.contains(try #require(expectation.rule)), "\(rules)")
            } else {
                #expect(rules.filter { $0.hasPrefix("dpop.") && $0 != "dpop.nonce.missing" }.isEmpty)
            }
        }
        #expect(world.house.exchanges.all.allSatisfy { ($0.response?.status ?? 0) < 500 })

        if place == .refresh, outcome.error == "invalid_dpop_proof", wrong != .replayedProof {
            // Nothing was consumed: the same token goes through with a right proof.
            #expect(try await world.house.engine.session(of: world.ada)?.session == session)
            _ = try await world.house.engine.refreshSession(of: world.ada)
        }
        if place == .api {
            #expect(try await world.house.engine.fetch(try world.call, device: world.ada).response.status == 200)
        }
        if place != .refresh, place != .api, outcome.error == "use_dpop_nonce" {
            #expect(outcome.flow?.reason == nil || place == .abort, "one answer to a nonce challenge")
        }
        if let parked {
            // What another client was given still opens its own door.
            var flow = try await world.house.engine.retry(parked.id)
            flow = try await world.house.rest(of: flow)
            #expect(flow.reason == nil && !flow.state.isParked)
        }
        #expect(try await world.house.signIn(world.ada, scans: [.match]).reason == nil)
        #expect(try await world.house.engine.fetch(try world.call, device: world.ada).response.status == 200)
        #expect(world.house.exchanges.all.allSatisfy { ($0.response?.status ?? 0) < 500 })
    }

    @Test func `a wrong at a call that has no place for it names both`() throws {
        for wrong in WrongOnPurpose.allCases {
            for place in WrongOnPurpose.Place.allCases where !wrong.applies(to: place) {
                let error = #expect(throws: EngineError.self) {
                    try WrongOnPurpose.checked(wrong.rawValue, at: place.rawValue)
                }
                #expect(error?.description.contains("'\(place.rawValue)'") == true)
                #expect(error?.description.contains(wrong.rawValue) == true)
                #expect(wrong.expectation(at: place) == nil)
            }
        }
        #expect(throws: EngineError.self) { try WrongOnPurpose.checked("sunday", at: "start") }
        #expect(throws: EngineError.self) { try WrongOnPurpose.checked("alg-none", at: "sunday") }
    }

    @Test func `the table has a row for every wrong and an expectation for every place in it`() {
        for row in WrongOnPurpose.table {
            #expect(!row.source.isEmpty && !row.meaning.isEmpty && !row.places.isEmpty, "\(row.wrong.rawValue)")
            for place in row.places {
                let expectation = row.wrong.expectation(at: place)
                #expect(expectation != nil, "\(row.wrong.rawValue) at \(place.rawValue)")
                #expect((expectation?.verdict == .accepted) == (expectation?.rule == nil))
            }
        }
        let accepted = WrongOnPurpose.allCases.filter { $0.expectation(at: .start)?.verdict == .accepted }
        #expect(accepted == [.htuQuery, .htuPort, .htuUpperHost])
    }

    @Test func `an expectation tells a good answer from a bad one`() throws {
        let refusal = try #require(WrongOnPurpose.flippedBit.expectation(at: .token))
        #expect(refusal.allows(status: 400, error: "invalid_dpop_proof"))
        #expect(!refusal.allows(status: 200, error: nil))
        #expect(!refusal.allows(status: 500, error: "invalid_dpop_proof"))
        #expect(!refusal.allows(status: 400, error: "server_error"))
        #expect(!refusal.allows(status: 400, error: nil))
        let accepted = try #require(WrongOnPurpose.htuQuery.expectation(at: .start))
        #expect(accepted.allows(status: 403, error: "insufficient_authorization"))
        #expect(!accepted.allows(status: 400, error: "invalid_dpop_proof"))
        let open = try #require(WrongOnPurpose.iatFraction.expectation(at: .api))
        #expect(open.allows(status: 200, error: nil))
        #expect(open.allows(status: 401, error: "invalid_dpop_proof"))
        #expect(!open.allows(status: 503, error: nil))
    }
}
