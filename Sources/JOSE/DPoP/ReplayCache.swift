import Crypto
public import Encoding

/// Which proofs were seen, until they could no longer be in time (RFC 9449 section 11.1).
///
/// Entries sit in stretches of time by the moment they may be forgotten, so forgetting is dropping a
/// whole stretch and never a search: one insertion costs the same however many are kept. A full cache
/// forgets the stretch that ends first, early, and counts what it forgot.
public struct ReplayCache: Sendable {
    /// How many proofs are kept at most.
    public let capacity: Int
    /// How many proofs are kept now.
    public private(set) var count = 0
    /// How many proofs were forgotten early for want of room; more than zero means a flood.
    public private(set) var forgottenEarly = 0

    private let bucketMilliseconds: Int64
    /// Sorted by end, few: the longest memory over the length of a stretch.
    private var buckets: [Bucket] = []

    private struct Bucket {
        let number: Int64
        var marks: Set<Mark> = []
    }

    /// 128 bits of SHA-256 of key and identifier: a fixed size, whatever the sender chose.
    private struct Mark: Hashable {
        let high: UInt64
        let low: UInt64

        init(jkt: String, jti: String) {
            // A thumbprint has no dot, so two pairs never read the same.
            let digest = SHA256.hash(ascii: jkt + "." + jti)
            high = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// An empty cache for `capacity` proofs, in stretches of `bucketSeconds`.
    public init(capacity: Int = 1_000_000, bucketSeconds: Int64 = 15) {
        precondition(capacity > 0 && bucketSeconds > 0)
        self.capacity = capacity
        bucketMilliseconds = bucketSeconds * 1000
    }

    /// Whether a proof was noted and is not forgotten; changes nothing.
    public func contains(jkt: String, jti: String) -> Bool {
        let mark = Mark(jkt: jkt, jti: jti)
        return buckets.contains { $0.marks.contains(mark) }
    }

    /// Notes a proof, and says whether it is new: false means a replay, which changes nothing.
    ///
    /// It is kept until `expires` (`CheckedProof.memoryDeadline`), rounded up to the end of its stretch.
    public mutating func insert(jkt: String, jti: String, expires: Instant, now: Instant) -> Bool {
        forget(before: now)
        let mark = Mark(jkt: jkt, jti: jti)
        guard !buckets.contains(where: { $0.marks.contains(mark) }) else { return false }
        makeRoom()
        let at = bucketIndex(number(expires))
        buckets[at].marks.insert(mark)
        count += 1
        return true
    }

    private func number(_ instant: Instant) -> Int64 { instant.milliseconds / bucketMilliseconds }

    private mutating func forget(before now: Instant) {
        let current = number(now)
        while let first = buckets.first, first.number < current {
            count -= first.marks.count
            buckets.removeFirst()
        }
    }

    private mutating func makeRoom() {
        guard count >= capacity, let first = buckets.first else { return }
        count -= first.marks.count
        forgottenEarly += first.marks.count
        buckets.removeFirst()
    }

    /// The place of the stretch with this number, made when it is not there yet.
    private mutating func bucketIndex(_ number: Int64) -> Int {
        let at = buckets.lastIndex { $0.number <= number }.map { $0 + 1 } ?? 0
        if at > 0, buckets[at - 1].number == number { return at - 1 }
        buckets.insert(Bucket(number: number), at: at)
        return at
    }
}
