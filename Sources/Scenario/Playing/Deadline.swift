import Synchronization

/// Waits for work, but not for ever: on a clock that stands, somebody may sleep until somebody else moves it.
enum Deadline {
    private final class Wait<Value: Sendable>: Sendable {
        private let waiting = Mutex<CheckedContinuation<Value?, Never>?>(nil)

        func begin(_ continuation: CheckedContinuation<Value?, Never>) { waiting.withLock { $0 = continuation } }

        /// Whoever comes first is heard.
        func end(_ value: Value?) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(returning: value)
        }
    }

    /// What the work gave, or nil where it was not done within so many seconds of real time.
    static func value<Value: Sendable>(
        withinSeconds seconds: Int, _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let wait = Wait<Value>()
        return await withCheckedContinuation { continuation in
            wait.begin(continuation)
            let alarm = Task {
                guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                wait.end(nil)
            }
            Task {
                wait.end(await work())
                alarm.cancel()
            }
        }
    }
}
