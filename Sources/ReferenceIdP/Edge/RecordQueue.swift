import Synchronization

/// Durable changes on their way to the store, kept in the order they were made.
///
/// The state's lock is not held while the store works. Whoever comes next takes everything that waits
/// and stores it as one batch, so a change is stored before its own answer goes out, order is kept, and a
/// slow store makes bigger batches instead of longer queues.
final class RecordQueue: Sendable {
    private let waiting = Mutex<[RecordChange]>([])
    private let storing = Mutex<Void>(())
    private let store: (@Sendable ([RecordChange]) throws -> Void)?

    init(store: (@Sendable ([RecordChange]) throws -> Void)?) { self.store = store }

    /// Adds changes behind the others.
    ///
    /// Called under the state's lock, so that order is the state's order.
    func add(_ changes: [RecordChange]) {
        guard store != nil, !changes.isEmpty else { return }
        waiting.withLock { $0 += changes }
    }

    /// Stores everything that waits.
    ///
    /// What a failing store did not take waits on, for the next caller.
    func flush() throws {
        guard let store else { return }
        try storing.withLock { _ in
            let batch = waiting.withLock { waiting in
                let batch = waiting
                waiting = []
                return batch
            }
            guard !batch.isEmpty else { return }
            do {
                try store(batch)
            } catch {
                waiting.withLock { $0 = batch + $0 }
                throw error
            }
        }
    }
}
