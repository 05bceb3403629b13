import Encoding
import Engine
import HTTP

/// Faults of the whole world, armed while flows run.
extension ControlAPI {
    func listFaults() -> HTTPResponse {
        let faults = engine.faults
        return .json([
            "armed": .array(faults.armed.map(\.json)), "spent": .array(faults.spent.map(\.json)),
        ])
    }

    /// Arms one fault, or those in `faults`.
    func armFaults(_ request: HTTPRequest) throws(ControlProblem) -> HTTPResponse {
        let fields = try BodyFields(
            of: request, allowing: ["faults", "fault", "id", "on", "do", "times", "probability"])
        let documents: [JSON]
        if fields.has("faults") {
            documents = try fields.list("faults", most: 1000)
        } else if let text = fields.json("fault") {
            documents = [text]
        } else {
            let names = ["id", "on", "do", "times", "probability"]
            documents = [.object(names.compactMap { name in fields.json(name).map { (name, $0) } })]
        }
        let armed = try controllingNow { () throws(EngineError) in try engine.armFaults(documents) }
        return .json(["armed": .array(armed.map(\.json))], status: 201)
    }

    func disarmFault(_ id: String) throws(ControlProblem) -> HTTPResponse {
        guard engine.disarmFault(id) else { throw .notFound("no fault '\(id.prefix(80))' is armed") }
        return HTTPResponse(status: 204)
    }

    func clearFaults() -> HTTPResponse { .json(["cleared": .int(Int64(engine.clearFaults()))]) }
}
