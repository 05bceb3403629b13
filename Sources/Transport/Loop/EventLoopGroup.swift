import Glibc
import Synchronization

/// A few event loops, one thread each, that clients and servers share.
///
/// A connection lives on one loop for its whole life. Handlers of a server run on these threads and must not
/// block. The threads end when the group is released and nothing uses it any more.
public final class EventLoopGroup: Sendable {
    /// The group everybody uses who names no other: one loop per core, at most four.
    public static let shared = EventLoopGroup(threads: min(4, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))))

    let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Starts the threads.
    ///
    /// - Parameter threads: how many, at least 1.
    public init(threads: Int) {
        precondition(threads > 0, "a group needs a thread")
        loops = (0..<threads).map { _ in EventLoop() }
        for (index, loop) in loops.enumerated() { loop.start(name: "understudy-io-\(index)") }
    }

    deinit {
        for loop in loops { loop.stop() }
    }

    /// The next loop in turn.
    func next() -> EventLoop {
        let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
    }
}
