import Synchronization

/// Counts the exchanges under way, those nobody waits for included: a process that ends would cut them off.
final class UnderWay: Sendable {
    private let count = Mutex(0)

    /// An exchange is about to begin.
    func begin() { count.withLock { $0 += 1 } }

    /// An exchange has ended.
    func end() { count.withLock { $0 -= 1 } }

    /// Whether no exchange is under way.
    var isNone: Bool { count.withLock { $0 == 0 } }
}
