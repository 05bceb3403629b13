import Synchronization

/// Something that happens once, and can be waited for.
final class Signal<Value: Sendable>: Sendable {
    private enum State {
        case pending([CheckedContinuation<Value, Never>])
        case fired(Value)
    }

    private let state = Mutex(State.pending([]))

    /// Lets everybody go who waits; only the first value counts.
    func fire(_ value: Value) {
        let waiters = state.withLock { state in
            guard case .pending(let waiters) = state else { return [CheckedContinuation<Value, Never>]() }
            state = .fired(value)
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits until it has happened.
    func wait() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = state.withLock { state in
                switch state {
                case .fired(let value): return value
                case .pending(let waiters):
                    state = .pending(waiters + [continuation])
                    return nil
                }
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

extension Signal where Value == Void {
    func fire() { fire(()) }
}
