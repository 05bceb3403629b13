import Device
import Encoding
import Engine
import HTTP
import SignIn
import Testing

@testable import Control

@Suite("Explaining a flow that is over") struct TraceTests {
    /// The trace of a flow, asked for as a person does.
    private func trace(_ house: House, _ flow: FlowView) async throws -> JSON {
        let api = ControlAPI(engine: house.engine, version: "test")
        api.add(house.idp.served)
        let response = await api.respond(to: HTTPRequest(method: "GET", target: "/v1/flows/\(flow.id.rawValue)/trace"))
        #expect(response.status == 200)
        return try JSON(parsing: response.body, depthLimit: 48)
    }

    private func sentences(_ trace: JSON) -> String {
        (trace["explanation"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
    }

    @Test("a wrong clock is named with both times, the difference and the window", arguments: [90, -200] as [Int64])
    func skew(seconds: Int64) async throws {
        // One standing clock behind both, so that no time passes between an answer and its reading.
        let clock = WorldClock(at: Instant(seconds: 1_795_996_800))
        var configuration = IdPService.Configuration()
        configuration.clock = clock
        let house = try await House.open(idp: try await IdPService.start(configuration), clock: clock)
        let phone = try await house.phone()
        _ = try await house.engine.updateDevice(phone) { $0.clock = .offset(seconds: seconds) }
        let trace = try await trace(house, try await house.signIn(phone))
        let refusal = try #require(trace["refusal"])
        #expect(refusal["rule"]?.string?.hasPrefix("dpop.iat") == true)
        #expect(refusal["skew"]?["seconds"]?.int == seconds)
        let direction = seconds > 0 ? "ahead of" : "behind"
        #expect(sentences(trace).contains("s \(direction) the server's"))
        #expect(sentences(trace).contains("that is what was refused: the server takes"))
        #expect(refusal["proved"]?.array?.first?["claims"]?["iat"] != nil)
    }

    @Test(
        "each wrong is explained by the rule that refused it",
        arguments: [
            ("wrong-ceremony-flipped-bit:completion", "completion"), ("wrong-htu-path:start", "dpop.htu"),
            ("wrong-replayed-proof:token", "dpop"), ("wrong-verifier-wrong:token", "code"),
        ]) func wrongs(fault: String, rule: String) async throws
    {
        let house = try await House.open()
        let phone = try await house.phone()
        let trace = try await trace(house, try await house.signIn(phone, faults: [fault, fault, fault, fault]))
        let refusal = try #require(trace["refusal"])
        let named = try #require(refusal["rule"]?.string, "\(trace.text)")
        #expect(!named.isEmpty)
        #expect(refusal["expected"]?.string != nil && refusal["actual"]?.string != nil)
        #expect(sentences(trace).contains(named))
        #expect(sentences(trace).contains("a fault as asked: \(fault.split(separator: ":")[0])"))
    }

    @Test("a lost reply that parks a flow is told as lost") func parked() async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        let flow = try await house.signIn(phone, faults: ["lose-reply:completion:2"])
        let trace = try await trace(house, flow)
        #expect(trace["outcome"]?.string?.hasPrefix("parked") == true)
        #expect(trace["refusal"]?["lost"] != nil)
        #expect(sentences(trace).contains("completion call 2 was lost"))
    }

    @Test("a good sign-in has no refusal, and a decision of the phone none either") func nothingRefused() async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        let good = try await trace(house, try await house.signIn(phone))
        #expect(good["refusal"] == nil)
        #expect(sentences(good).contains("no call was refused for good"))
        let cancelled = try await trace(house, try await house.signIn(phone, scans: [.cancel]))
        #expect(cancelled["refusal"] == nil)
        #expect(sentences(cancelled).contains("the phone decided it"))
    }

    @Test("no token, code or session handle is in a trace") func secrets() async throws {
        let house = try await House.open()
        let phone = try await house.phone()
        let flow = try await house.signIn(phone, faults: ["status-503:token:3"])
        let text = try await trace(house, flow).text
        let forms = try house.exchanges.forms(to: "/oauth2/challenge")
        let handles = forms.compactMap { $0["auth_session"] } + forms.compactMap { $0["face_token"] }
        #expect(!handles.isEmpty)
        for handle in handles { #expect(!text.contains(handle)) }
    }
}
