import Device
import Encoding
import Engine
import HTTP

/// What concerns the daemon as a whole.
extension ControlAPI {
    func health() -> HTTPResponse { .json(["status": "ok"]) }

    func about() -> HTTPResponse {
        .json([
            "name": "understudy", "version": .string(version),
            "uptime_seconds": .int(SystemClock().now().seconds(since: startedAt)),
        ])
    }

    func listIdPs() -> HTTPResponse { .json(["idps": .array(idps.map(\.json))]) }

    func acceptStop() -> HTTPResponse {
        stop()
        return .json(["status": "stopping"], status: 202)
    }

    func journal(_ request: HTTPRequest) throws(ControlProblem) -> HTTPResponse {
        let query = try QueryFields(of: request, allowing: ["device", "flow", "after", "limit"])
        let limit = try query.number("limit", in: 1...10_000, or: 1000)
        let past = engine.journal(after: UInt64(try query.number("after", in: 0...Int.max, or: 0)))
        let entries = past.entries.lazy.filter { entry in
            (query["device"].map { $0 == entry.device?.rawValue } ?? true)
                && (query["flow"].map { $0 == entry.flow?.rawValue } ?? true)
        }
        return .json([
            "entries": .array(entries.prefix(limit).map(\.json)), "dropped": .int(Int64(past.dropped)),
        ])
    }
}

/// Runs engine work and names its refusal in the control API's terms.
func controlling<T>(_ work: () async throws(EngineError) -> T) async throws(ControlProblem) -> T {
    do throws(EngineError) { return try await work() } catch { throw ControlProblem(error) }
}

/// Runs engine work that does not wait and names its refusal in the control API's terms.
func controllingNow<T>(_ work: () throws(EngineError) -> T) throws(ControlProblem) -> T {
    do throws(EngineError) { return try work() } catch { throw ControlProblem(error) }
}
