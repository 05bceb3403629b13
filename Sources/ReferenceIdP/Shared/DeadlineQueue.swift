import Encoding

/// Keys waiting for their deadline, cheap enough to hold everything the IdP forgets by itself.
///
/// Keys lie in buckets of ``bucketMilliseconds``; a binary heap orders the buckets that hold anything. A
/// key costs one append, and one pop when its time has come; the heap is touched once a bucket, so the
/// price of a key does not grow with how many wait. A key may lie in several buckets (its deadline was
/// moved): the owner of the queue knows which deadline holds and puts an early one back.
struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private static var bucketMilliseconds: Int64 { 4096 }

    private var buckets: [Int64: [Key]] = [:]
    private var heap: [Int64] = []
    /// How many keys wait, repeated ones counted each time.
    private(set) var count = 0

    /// Adds a key to be popped once its deadline has passed.
    mutating func push(_ key: Key, deadline: Instant) {
        let bucket = deadline.milliseconds / Self.bucketMilliseconds
        count += 1
        if buckets[bucket]?.append(key) == nil {
            buckets[bucket] = [key]
            heap.append(bucket)
            siftUp()
        }
    }

    /// Takes a key whose bucket has passed whole, or nil where none has.
    mutating func popPassed(now: Instant) -> Key? {
        guard let bucket = heap.first, bucket < now.milliseconds / Self.bucketMilliseconds else { return nil }
        return pop(bucket)
    }

    /// Takes a key of the earliest bucket, passed or not, or nil where the queue is empty.
    mutating func popEarliest() -> Key? {
        guard let bucket = heap.first else { return nil }
        return pop(bucket)
    }

    private mutating func pop(_ bucket: Int64) -> Key? {
        let key = buckets[bucket]?.popLast()
        count -= 1
        if buckets[bucket]?.isEmpty ?? true {
            buckets[bucket] = nil
            removeTop()
        }
        return key
    }

    private mutating func siftUp() {
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func removeTop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
