import Store
import Synchronization

/// Keeps the store's ended flows bounded: the oldest are removed after every so many that end.
final class EndedFlows: Sendable {
    /// How many ended flows are kept.
    static let kept = 10_000
    /// How many end between two removals.
    static let interval = 256

    private let count = Mutex(0)

    /// Counts one that ended; when it is time, removes the oldest beyond those kept.
    func note(in store: Store) {
        let isDue = count.withLock { count in
            count += 1
            return count % Self.interval == 0
        }
        guard isDue else { return }
        // What cannot be removed now is removed the next time.
        _ = try? store.write { try $0.pruneTerminalFlows(keeping: Self.kept) }
    }
}
