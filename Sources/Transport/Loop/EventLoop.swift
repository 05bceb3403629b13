import Glibc
import Synchronization

/// One thread that waits for sockets, timers and jobs, and runs what they ask for in order.
///
/// Whatever belongs to a loop (connections, pools, timers) is touched on its thread only; `assertInside` is
/// how that is enforced, and it is why those classes need no locks. Everything that runs here must not block.
///
/// Sendable by hand: `execute` and `isInside` are for any thread and guarded; the rest asserts the thread.
final class EventLoop: @unchecked Sendable {
    typealias Job = @Sendable () -> Void

    private struct Inbox {
        var jobs: [Job] = []
        var isAsleep = false
        var isStopping = false
    }

    private let inbox = Mutex(Inbox())
    private let threadID = Atomic<UInt>(0)
    private let poller = Poller()
    private var timers = TimerHeap()

    /// The time at which the loop last woke; good enough for timers and free to read.
    private(set) var now = MonotonicClock.now()

    /// Where sockets of this loop read into, one at a time: the bytes are gone when the next read begins.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)

    /// Where TLS puts plain text, on the same terms as `readBuffer`.
    let plainBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)

    deinit {
        readBuffer.deallocate()
        plainBuffer.deallocate()
    }

    // MARK: - For any thread

    /// True on the loop's own thread.
    var isInside: Bool { threadID.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Queues a job; jobs run in the order they were queued, after the events being handled now.
    ///
    /// A job given to a loop that has stopped is dropped.
    func execute(_ job: @escaping Job) {
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.isAsleep = false }
            return inbox.isAsleep
        }
        if mustWake { poller.wake() }
    }

    /// Runs a job at once when called on the loop's thread, and queues it otherwise.
    func executeNow(_ job: @escaping Job) {
        if isInside { job() } else { execute(job) }
    }

    /// Ends the loop after the jobs queued so far; its sockets are closed and its thread ends.
    func stop() {
        execute { [self] in inbox.withLock { $0.isStopping = true } }
    }

    /// Starts the loop's thread; called once by the group.
    func start(name: String) {
        Threads.start(name: name) { self.run() }
    }

    // MARK: - For the loop's thread

    /// Stops the program when called on another thread: state of a loop is touched on its thread only.
    func assertInside() {
        precondition(isInside, "state of an event loop touched on another thread")
    }

    /// Watches a socket; see `Poller.register`.
    func register(_ descriptor: Int32, _ handler: any ReadinessHandler) -> Bool {
        assertInside()
        return poller.register(descriptor, handler)
    }

    /// Stops watching a socket; call before closing it.
    func remove(_ descriptor: Int32) {
        assertInside()
        poller.remove(descriptor)
    }

    /// Sets or moves a timer.
    ///
    /// - Parameter milliseconds: from now.
    func set(_ timer: LoopTimer, milliseconds: Int) {
        assertInside()
        timers.set(timer, due: now + MonotonicClock.nanoseconds(milliseconds: milliseconds))
    }

    /// Switches a timer off.
    func clear(_ timer: LoopTimer) {
        assertInside()
        timers.clear(timer)
    }

    private func run() {
        threadID.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            let (mayWait, isStopping) = inbox.withLock { inbox in
                inbox.isAsleep = inbox.jobs.isEmpty
                return (inbox.isAsleep, inbox.isStopping)
            }
            if isStopping { break }
            poller.poll(timeout: mayWait ? timeUntilNextTimer() : 0) { now = MonotonicClock.now() }
            while let action = timers.popDue(now: now) { action() }
            let jobs = inbox.withLock { inbox in
                inbox.isAsleep = false
                let jobs = inbox.jobs
                inbox.jobs = []
                return jobs
            }
            for job in jobs { job() }
        }
        for handler in poller.handlers { handler.loopStopped() }
        timers = TimerHeap()  // Actions of timers may hold the loop.
        inbox.withLock { $0.jobs = [] }
    }

    /// The wait for `epoll_wait`, rounded up so that a timer is due when it returns.
    private func timeUntilNextTimer() -> Int32? {
        guard let next = timers.next else { return nil }
        guard next > now else { return 0 }
        return Int32(min((next - now + 999_999) / 1_000_000, 60_000))
    }
}
