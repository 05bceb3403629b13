import Encoding
import Engine
import HTTP

/// What is wrong about the phones.
extension ControlAPI {
    func examine() async throws(ControlProblem) -> HTTPResponse {
        let report = try await controlling { () async throws(EngineError) in try await engine.examine() }
        return .json([
            "diagnoses": .array(report.diagnoses.map(\.json)), "devices": .int(Int64(report.devices)),
            "partial": .bool(report.isPartial),
        ])
    }
}
