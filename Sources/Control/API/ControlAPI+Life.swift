import Device
import Encoding
import Engine
import HTTP

/// What happens to a phone itself.
extension ControlAPI {
    func live(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(of: request, allowing: ["event", "as"])
        let word = try fields.string("event", "what happens to the phone")
        guard let event = LifeEvent(rawValue: word) else {
            let known = LifeEvent.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("event", "one of \(known)", got: .string(word))
        }
        var other: DeviceID?
        if let text = try fields.optionalString("as") { other = try deviceID(text, field: "as") }
        let named = other
        let report = try await controlling { () throws(EngineError) in
            try await engine.live(event, on: device, as: named)
        }
        return .json(report.json)
    }
}

extension LifeReport {
    /// The report as the control API shows it.
    fileprivate var json: JSON {
        var members: [(String, JSON)] = [
            ("event", .string(event.rawValue)), ("keys_withdrawn", .int(Int64(keysWithdrawn))),
            ("flows_lost", .int(Int64(flowsLost))), ("flows_taken_up", .int(Int64(flowsTakenUp))),
            ("device", device.json),
        ]
        if let other { members.append(("as", other.json)) }
        return .object(members)
    }
}
