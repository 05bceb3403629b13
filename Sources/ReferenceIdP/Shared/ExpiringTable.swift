import Encoding

/// A value that is forgotten at an instant of its own.
protocol Expiring: Sendable {
    /// When the table may forget the value. It may move while the value is stored.
    var forgottenAt: Instant { get }
}

/// A dictionary that forgets: every value has a deadline, and there are never more than `capacity`.
///
/// Each insertion sweeps at most a few passed values, so no request pays for a crowd that left at once,
/// and yet the table shrinks twice as fast as it grows. Where it is full, a value of the earliest
/// deadlines makes room.
struct ExpiringTable<Key: Hashable & Sendable, Value: Expiring>: Sendable {
    /// How many passed values one insertion removes at most.
    private static var sweepSteps: Int { 4 }

    let capacity: Int
    private var values: [Key: Value] = [:]
    private var deadlines = DeadlineQueue<Key>()

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// How many values are stored, some of them perhaps past their deadline.
    var count: Int { values.count }

    /// How many places are queued, those of removed values included.
    var queuedKeys: Int { deadlines.count }

    /// Everything stored, in no order.
    ///
    /// For dumps: the walk costs as much as there is.
    var entries: [Key: Value] { values }

    /// The value of a key, changed in place; nil where there is none.
    ///
    /// Cannot insert: see ``insert``.
    subscript(key: Key) -> Value? {
        get { values[key] }
        _modify {
            let wasStored = values[key] != nil
            yield &values[key]
            precondition(wasStored == (values[key] != nil), "insert and remove have names of their own")
        }
    }

    /// Stores a value, and returns the keys that were forgotten for it.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key, now: Instant) -> [Key] {
        var forgotten = sweep(now: now)
        if values[key] == nil {
            while values.count >= capacity, let earliest = deadlines.popEarliest() {
                if values.removeValue(forKey: earliest) != nil { forgotten.append(earliest) }
            }
        }
        let isQueued = values.updateValue(value, forKey: key) != nil
        if !isQueued { deadlines.push(key, deadline: value.forgottenAt) }
        if deadlines.count > 2 * max(values.count, 512) { rebuildQueue() }
        return forgotten
    }

    /// Removes a value before its time; its place in the queue is dropped when it comes up.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? { values.removeValue(forKey: key) }

    /// Drops the places of values that were removed before their time; costs as much as insertions since.
    private mutating func rebuildQueue() {
        deadlines = DeadlineQueue()
        for (key, value) in values { deadlines.push(key, deadline: value.forgottenAt) }
    }

    /// Forgets a few values whose deadline has passed, and returns their keys.
    mutating func sweep(now: Instant) -> [Key] {
        var forgotten: [Key] = []
        for _ in 0..<Self.sweepSteps {
            guard let key = deadlines.popPassed(now: now) else { break }
            guard let value = values[key] else { continue }
            if value.forgottenAt <= now {
                values[key] = nil
                forgotten.append(key)
            } else {
                deadlines.push(key, deadline: value.forgottenAt)
            }
        }
        return forgotten
    }
}
