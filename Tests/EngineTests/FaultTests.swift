import Crypto
import Device
import Encoding
import SignIn
import Testing

@testable import Engine

@Suite("Faults at the one gate", .serialized)
struct FaultTests {
    private static let calls = ["start", "faceToken", "attempt", "completion", "token"]
    private static let networkKinds = [
        "drop", "lose-reply", "reset", "truncate", "dribble", "delay-1", "status-503", "stale-nonce", "missing-nonce",
    ]

    @Test("every kind at every call fires exactly once, and leaves one session or none", arguments: networkKinds, calls)
    func everyKindEverywhere(kind: String, call: String) async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        let view = try await house.signIn(phone, scans: [.mismatch, .match], faults: ["\(kind):\(call)"])
        #expect(view.state.isTerminal || view.state.isParked, "\(view.state.name)")
        let fired = view.stepDocuments(after: 0).compactMap { step -> String? in
            guard step["kind"]?.string == "fault" else { return nil }
            return "\(step["fault"]?.string ?? ""):\(step["call"]?.string ?? "")"
        }
        #expect(fired == ["\(kind):\(call)"])
        let session = try await house.engine.session(of: phone)
        #expect((session != nil) == (view.state.name == "signedIn"))
    }

    @Test("the world's fault is armed from outside, used up by one call, and listed as spent")
    func armedFromOutside() async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        _ = try house.engine.armFaults([["id": "once", "on": ["call": "start"], "do": ["status": 503]]])
        let failed = try await house.signIn(phone)
        #expect(failed.state.name == "failed")
        #expect(house.engine.faults.armed.isEmpty)
        #expect(house.engine.faults.spent.map(\.id) == ["once"])
        let good = try await house.signIn(phone)
        #expect(good.state.name == "signedIn")
    }

    @Test("a fault for one phone never touches another") func isolated() async throws {
        let house = try await House.open()
        let (ada, bob) = (try await house.phone("ada"), try await house.phone("bob"))
        _ = try house.engine.armFaults([["on": ["device": "ada"], "do": "drop", "times": 100]])
        #expect(try await house.signIn(bob).state.name == "signedIn")
        #expect(try await house.signIn(ada).state.name == "failed")
    }

    @Test("probability 0 is never and 1 is always") func chances() async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        _ = try house.engine.armFaults([
            ["id": "never", "on": ["call": "start"], "do": "drop", "probability": 0],
            ["id": "always", "on": ["call": "token"], "do": ["delay": 0], "probability": 1],
        ])
        for _ in 1...3 { #expect(try await house.signIn(phone).state.name == "signedIn") }
        let fired = Dictionary(uniqueKeysWithValues: house.engine.faults.armed.map { ($0.id, $0.fired) })
        #expect(fired == ["never": 0, "always": 3])
    }

    @Test("dice of one seed fall the same") func seededDice() {
        let (first, second) = (FaultBook(dice: .init(seed: [1])), FaultBook(dice: .init(seed: [1])))
        let throwsOfFirst = (1...64).map { _ in first.roll() }
        #expect(throwsOfFirst == (1...64).map { _ in second.roll() })
        #expect(throwsOfFirst.allSatisfy { (0..<1).contains($0) })
    }

    @Test(
        "a crash at any deed or call ends in a legal state with at most one session",
        arguments: FaultPoint.all.map(\.name))
    func crashes(point: String) async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        _ = try house.engine.armFaults([["on": ["call": .string(point), "device": "ada"], "do": ["relaunch": true]]])
        let config = SignInConfig(
            issuer: house.issuer, clientID: "app_demo", resource: house.api, scopes: ["openid", "offline_access"],
            allowPlainHTTPOnLoopback: true)
        let started = try? await house.engine.startSignIn(
            SignInOrder(config: config, scans: [.mismatch]), device: phone)
        // A flow that was in memory alone is gone with the process.
        let state = if let started { (try? await house.rest(of: started))?.state.name } else { String?.none }
        await house.engine.settle(within: 5000)
        let session = try await house.engine.session(of: phone)
        #expect(state == nil || ["signedIn", "failed", "postingResultFailed"].contains(state), "\(state ?? "")")
        if state == "failed" { #expect(session == nil) }
        _ = house.engine.clearFaults()
        let again = try await house.signIn(phone)
        #expect(again.state.name == "signedIn", "\(again.state)")
    }

    @Test(
        "what is misspelled is refused, with the nearest word",
        arguments: [
            ("dorp:start", "drop"), ("drop:strat", "start"), ("store-full:token", "commit"),
            ("wrong-typ-jwt:capture", "typ-jwt"),
            ("status-99:token", "status-200"), ("drop:token:0", "1 to 100"),
        ]) func misspelled(text: String, hint: String)
    {
        let error = #expect(throws: EngineError.self) { try PlannedFault(text: text) }
        #expect("\(error.map { "\($0)" } ?? "")".contains(hint))
    }
}
