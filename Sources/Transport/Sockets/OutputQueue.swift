/// Bytes that wait for a socket to take them, in pieces as they were written.
///
/// Small pieces are joined so that one system call carries them; large ones are kept as they are, uncopied.
struct OutputQueue {
    private static let joinBelow = 16 * 1024

    private var pieces: [[UInt8]] = []
    private var head = 0
    private var offset = 0

    /// The number of bytes not sent yet.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Adds bytes at the end.
    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        if head < pieces.count, let last = pieces.last, last.count + bytes.count <= Self.joinBelow {
            pieces[pieces.count - 1].append(contentsOf: bytes)
        } else {
            pieces.append(bytes)
        }
    }

    /// The unsent part of the first piece.
    func withFirst<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        pieces[head].withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    }

    /// Drops bytes of the first piece that have been sent.
    mutating func drop(_ sent: Int) {
        count -= sent
        offset += sent
        guard offset == pieces[head].count else { return }
        pieces[head] = []
        head += 1
        offset = 0
        if head == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64, head > pieces.count / 2 {
            pieces.removeFirst(head)
            head = 0
        }
    }

    /// Forgets everything.
    mutating func removeAll() { self = OutputQueue() }
}
