import Synchronization

/// Counts the exchanges under way, those nobody waits for included: a process that ends would cut them off.
final class UnderWay: Sendable {
    private let count = Mutex(0)

    /// An exchange is about to begin.
    func begin() { count.withLock { $0 += 1 } }

    /// An exchange has ended.
    func end() { count.withLock { $0 -= 1 } }

    /// How many are under way.
    var number: Int { count.withLock { $0 } }

    /// Whether no exchange is under way.
    var isNone: Bool { number == 0 }
}
