import Glibc
import Synchronization

/// The order to stop, from a signal or from the control API: the first one drains, a second signal quits.
final class StopSignal: Sendable {
    private struct State {
        var isGiven = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Gives the order.
    ///
    /// - Returns: whether this was the first time.
    @discardableResult
    func give() -> Bool {
        let (first, waiting) = state.withLock { state in
            defer {
                state.isGiven = true
                state.waiting = []
            }
            return (!state.isGiven, state.waiting)
        }
        waiting.forEach { $0.resume() }
        return first
    }

    /// Waits for the order.
    func wait() async {
        await withCheckedContinuation { continuation in
            let given = state.withLock { state in
                if !state.isGiven { state.waiting.append(continuation) }
                return state.isGiven
            }
            if given { continuation.resume() }
        }
    }

    /// The order as SIGTERM and SIGINT give it from now on, for as long as the process runs; a second signal ends
    /// the process at once.
    static func fromSystem() -> StopSignal {
        let stop = StopSignal()
        // Without a descriptor left a signal ends the process as it would any other.
        SignalListener()?.tell { number in
            guard stop.give() else { _exit(128 + number) }
        }
        return stop
    }
}
