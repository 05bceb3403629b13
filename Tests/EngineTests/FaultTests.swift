import Crypto
import Device
import Encoding
import HTTP
import SignIn
import Testing

@testable import Engine

@Suite("Faults at the one gate", .serialized)
struct FaultTests {
    private static let calls = ["start", "faceToken", "attempt", "completion", "token"]
    private static let networkKinds = [
        "drop", "lose-reply", "reset", "truncate", "dribble", "delay-1", "status-503", "stale-nonce", "missing-nonce",
        "key-refused",
    ]
    private static let pairs = networkKinds.flatMap { kind in calls.map { (kind, $0) } }.filter { kind, call in
        // What carries no proof has no nonce to be wrong and no key to refuse.
        !["stale-nonce", "missing-nonce", "key-refused"].contains(kind) || !["faceToken", "attempt"].contains(call)
    }

    @Test("every kind at every call fires exactly once, and leaves one session or none", arguments: pairs)
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

    /// What a sign-in with a mismatch and a key operation comes through.
    private static let way = [
        "discovery", "start", "faceToken", "attempt", "completion", "token", "sign", "capture", "open-face-token",
        "pki",
        "rotate", "commit",
    ]

    @Test("a crash anywhere on the way of a sign-in ends in a legal state with at most one session", arguments: way)
    func crashes(point: String) async throws {
        let house = try await House.open()
        try house.manage("PATCH", "/tenants/acme", ["pki_enabled": true])
        let phone = try await house.phone()
        // Keys are in the face token after one plain sign-in; the metadata are asked for anew by a new process.
        #expect(try await house.signIn(phone).state.name == "signedIn")
        try await house.engine.signOut(phone)
        try await house.engine.live(.kill, on: phone)
        _ = try house.engine.armFaults([["on": ["call": .string(point)], "do": ["relaunch": true]]])
        let config = SignInConfig(
            issuer: house.issuer, clientID: "app_demo", resource: house.api, scopes: ["openid", "offline_access"],
            allowPlainHTTPOnLoopback: true, pki: SignInPKIRequest(kind: .publicKeys, context: [1]))
        let started = try? await house.engine.startSignIn(
            SignInOrder(config: config, scans: [.mismatch]), device: phone)
        // A flow that was in memory alone is gone with the process.
        let state = if let started { (try? await house.rest(of: started))?.state.name } else { String?.none }
        await house.engine.settle(within: 5000)
        #expect(house.engine.faults.armed.isEmpty, "the crash at \(point) did not take place")
        let session = try await house.engine.session(of: phone)
        #expect(state == nil || ["signedIn", "failed", "postingResultFailed"].contains(state), "\(state ?? "")")
        if state == "failed" { #expect(session == nil) }
        let again = try await house.signIn(phone)
        #expect(again.state.name == "signedIn", "\(again.state)")
    }

    @Test("a crash without a new process leaves the flow behind, and nobody waits for it") func leftBehind()
        async throws
    {
        let house = try await House.open()
        let phone = try await house.phone()
        let order = SignInOrder(
            config: SignInConfig(
                issuer: house.issuer, clientID: "app_demo", scopes: ["openid"], allowPlainHTTPOnLoopback: true),
            faults: [try PlannedFault(text: "crash:token")])
        let started = try await house.engine.startSignIn(order, device: phone)
        let view = try await house.engine.flow(started.id, after: 0, waiting: 60, untilRest: true)
        #expect(!view.rests)
        #expect(!view.isDriven)
        try await house.engine.live(.relaunch, on: phone)
        #expect(try await house.rest(of: view).state.name == "signedIn")
    }

    @Test(
        "a crash outside of sign-ins ends the call with an error of its own",
        arguments: ["enroll", "discovery", "fetch", "refresh"])
    func crashOutside(point: String) async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        #expect(try await house.signIn(phone).state.name == "signedIn")
        _ = try house.engine.armFaults([["on": ["call": .string(point)], "do": "crash"]])
        let user = try house.manage("POST", "/tenants/acme/users", ["email": "eve@acme.test", "ticket": true])
        let ticket = try #require(user["ticket"]?.string)
        let error = await #expect(throws: EngineError.self) {
            switch point {
            case "fetch":
                _ = try await house.engine.fetch(APIRequest(url: try HTTPURL(house.api + "/accounts")), device: phone)
            case "refresh": _ = try await house.engine.refreshSession(of: phone)
            default:
                let fresh = try #require(DeviceID(rawValue: "eve"))
                _ = try house.engine.createDevice(fresh)
                _ = try await house.engine.enrol(.ticket(ticket), issuer: house.issuer, device: fresh)
            }
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("process of device"))
        #expect(house.engine.faults.armed.isEmpty)
        #expect(try house.manage("GET", "/findings")["findings"] != nil)
    }

    @Test("what is armed is shown in a form that can be armed again") func shownWhole() async throws {
        let house = try await House.open()
        let documents: [JSON] = [
            [
                "id": "a", "on": ["call": "token"],
                "do": ["status": 503, "body": "{}", "retry_after": 5, "headers": [["X-A", "b"]]],
            ],
            ["id": "b", "on": ["device": "d", "attempt": 2], "do": ["dribble": 3, "pause": 7], "times": 4],
            ["id": "c", "on": [:], "do": "lose-reply", "probability": .double(0.5)],
        ]
        let first = try house.engine.armFaults(documents).map(\.json)
        let second = try house.engine.armFaults(
            first.map { shown in
                .object((shown.object?.members ?? []).filter { $0.name != "fired" }.map { ($0.name, $0.value) })
            }
        ).map(\.json)
        #expect(first == second)
        #expect(house.engine.faults.armed.count == 3)
    }

    @Test(
        "a fault that contradicts itself, or could never happen, is refused",
        arguments: [
            (#"{"do":{"status":503,"delay":3}}"#, "one thing"), (#"{"do":{"relaunch":"yes"}}"#, "true or false"),
            (#"{"on":{"system":"senscrypt"},"do":"drop"}"#, "sensecrypt"),
            (#"{"on":{"call":"faceToken"},"do":"stale-nonce"}"#, "no"),
            (#"{"on":{"cal":"token"},"do":"drop"}"#, "call"),
            (#"{"do":{"status":503,"headers":[["A\r","b"]]}}"#, "pairs"),
            (#"{"do":"drop","times":1,"probability":0.5}"#, "either"),
        ]) func contradictions(document: String, hint: String) async throws
    {
        let house = try await House.open()
        let error = try #require(throws: EngineError.self) { try house.engine.armFaults([try JSON(parsing: document)]) }
        #expect("\(error)".contains(hint), "\(error)")
        #expect(house.engine.faults.armed.isEmpty)
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
