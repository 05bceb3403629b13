import Device
import Encoding
import Engine
import HTTP
import ReferenceIdP

/// The world's clock, and the clocks of devices that stand on it.
extension ControlAPI {
    func showClock() -> HTTPResponse { .json(clockDocument(engine.clockView)) }

    func moveClock(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let move = try move(request)
        let view = try await controlling { () throws(EngineError) in try await engine.moveClock(move) }
        guard var document = clockDocument(view).object else { preconditionFailure("a clock is an object") }
        document["woken"] = .int(Int64(view.woken))
        document["under_way"] = .int(Int64(view.underWay))
        return .json(.object(document))
    }

    func moveDeviceClock(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let move = try move(request)
        let view = try await controlling { () throws(EngineError) in try await engine.moveClock(of: device, move) }
        return .json(view.json)
    }

    private func clockDocument(_ view: ClockView) -> JSON {
        [
            "clock": .string(view.setting.text), "now": .int(view.now.seconds),
            "now_milliseconds": .int(view.now.milliseconds), "sleepers": .int(Int64(view.sleepers)),
            "idps": .array(
                hosts.map { host in
                    ["origin": .string(host.served.origin), "now": .int(host.idp.now.seconds)]
                }),
        ]
    }

    /// Reads one of `advance`, `set`, `freeze` and `real`.
    private func move(_ request: HTTPRequest) throws(ControlProblem) -> ClockMove {
        let fields = try BodyFields(of: request, allowing: ["advance", "set", "freeze", "real"])
        let isFrozen = try fields.flag("freeze")
        let isReal = try fields.flag("real")
        switch (try fields.optionalString("advance"), try fields.optionalString("set"), isFrozen, isReal) {
        case (let span?, nil, false, false):
            return try controllingNow { () throws(EngineError) in try ClockMove.advance(by: span, field: "advance") }
        case (nil, let text?, false, false): return .set(try clock(text))
        case (nil, nil, true, false): return .freeze
        case (nil, nil, false, true): return .set(.real)
        default: throw .missing("advance", "one of 'advance', 'set', 'freeze' and 'real'")
        }
    }

    private func clock(_ text: String) throws(ControlProblem) -> DeviceClock {
        do throws(DeviceTextError) {
            return try DeviceClock(text: text)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "set: \(error)", field: "set", rule: error.code)
        }
    }
}
