import Conformance
import Encoding
import Synchronization

/// The conformance runs of this process: those under way, and the newest that are done.
final class ConformanceRuns: Sendable {
    /// The most runs that are remembered.
    static let limit = 8

    /// A run as it stands.
    struct Run: Sendable {
        var rows: [RowResult] = []
        var outcome: Outcome?
    }

    /// How a run ended.
    enum Outcome: Sendable {
        case judged(Matrix)
        case notJudged(ProbeFault)
    }

    private struct State {
        var runs: [String: Run] = [:]
        var order: [String] = []
    }

    private let state = Mutex(State())

    /// Whether a run is under way.
    var isBusy: Bool { state.withLock { $0.runs.values.contains { $0.outcome == nil } } }

    /// Remembers a new run; the oldest gives way.
    func open(_ id: String) {
        state.withLock { state in
            state.runs[id] = Run()
            state.order.append(id)
            if state.order.count > Self.limit { state.runs[state.order.removeFirst()] = nil }
        }
    }

    /// Adds a row.
    func add(_ row: RowResult, to id: String) { state.withLock { $0.runs[id]?.rows.append(row) } }

    /// Ends a run.
    func end(_ id: String, _ outcome: Outcome) { state.withLock { $0.runs[id]?.outcome = outcome } }

    /// A run, or nil for one nobody remembers.
    subscript(id: String) -> Run? { state.withLock { $0.runs[id] } }
}
