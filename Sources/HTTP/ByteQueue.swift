import Glibc

/// Bytes that were fed and not yet used, with a place up to which no line end was found.
///
/// Used bytes are skipped by moving `head`; they are given back only once they make up at least half of the
/// storage, so every byte is moved at most once more on average. Looking for a line end goes on where the last
/// look stopped. Both keep feeding linear, however small the pieces are.
struct ByteQueue: Sendable {
    private(set) var storage: [UInt8] = []
    private var head = 0
    private var scanned = 0

    /// Storage larger than this is given back when it runs empty.
    private static let keptCapacity = 1 << 16

    var count: Int { storage.count - head }
    var isEmpty: Bool { head == storage.count }

    /// The next byte, which must be there.
    var first: UInt8 { storage[head] }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        compact()
        storage.append(contentsOf: bytes)
    }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if isEmpty {
            storage = bytes
            head = 0
            scanned = 0
        } else {
            compact()
            storage.append(contentsOf: bytes)
        }
    }

    private mutating func compact() {
        if isEmpty {
            storage.removeAll(keepingCapacity: storage.capacity <= Self.keptCapacity)
        } else if head > 0, head >= storage.count - head {
            storage.removeSubrange(..<head)
        } else {
            return
        }
        scanned = max(0, scanned - head)
        head = 0
    }

    /// Skips bytes that were used in place.
    mutating func skip(_ length: Int) {
        head += length
        scanned = max(scanned, head)
    }

    /// Takes the next `length` bytes out; hands the storage itself over when it holds little else.
    mutating func take(_ length: Int) -> [UInt8] {
        if head == 0, length == storage.count, length >= storage.capacity / 2 {
            let all = storage
            storage = []
            scanned = 0
            return all
        }
        let taken = Array(storage[head..<(head + length)])
        skip(length)
        return taken
    }

    mutating func removeAll() {
        storage = []
        head = 0
        scanned = 0
    }

    /// What looking for a line gave.
    enum Line {
        /// No line end yet, and still within the limit.
        case incomplete
        /// No line end within the limit.
        case tooLong
        /// A line that ends in LF alone.
        case bareLineFeed
        /// The place of a line in `storage`, without its CRLF.
        case line(Range<Int>)
    }

    /// Takes one line of at most `limit` octets plus CRLF.
    ///
    /// The range stays good until the next call that changes the queue. Whether a line is too long depends on its
    /// first `limit + 2` octets only, so the answer does not change with the way the bytes were fed.
    mutating func takeLine(limit: Int) -> Line {
        let window = limit < count - 2 ? head + limit + 2 : storage.count
        guard let end = lineFeed(in: scanned..<max(scanned, window)) else {
            scanned = max(scanned, window)
            return limit <= count - 2 ? .tooLong : .incomplete
        }
        guard end > head, storage[end - 1] == Byte.carriageReturn else { return .bareLineFeed }
        let line = head..<(end - 1)
        skip(end + 1 - head)
        return .line(line)
    }

    private func lineFeed(in range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        return storage.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = memchr(base + range.lowerBound, Int32(Byte.lineFeed), range.count)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
