public import Encoding
import Glibc

/// Where the program learns what time it is; device clocks and the clocks of reference IdPs stand on top of it.
public protocol WallClock: Sendable {
    /// The present instant.
    func now() -> Instant

    /// Time that only ever moves forward, from no particular beginning: what durations are measured with.
    var elapsed: Duration { get }

    /// Returns once so much time has passed on this clock, in milliseconds.
    ///
    /// Throws where the task is cancelled before.
    func sleep(milliseconds: Int64) async throws(CancellationError)
}

/// The machine's own clock.
public struct SystemClock: WallClock {
    private static let beginning = ContinuousClock.now

    /// Makes the clock.
    public init() {}

    /// The present instant, from the real-time clock of the system.
    public func now() -> Instant {
        var time = timespec()
        let status = clock_gettime(CLOCK_REALTIME, &time)
        precondition(status == 0, "the real-time clock can always be read")
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Time that only ever moves forward, from the system's steady clock.
    public var elapsed: Duration { ContinuousClock.now - Self.beginning }

    /// Waits on the system's steady clock.
    public func sleep(milliseconds: Int64) async throws(CancellationError) {
        do {
            try await Task.sleep(for: .milliseconds(milliseconds))
        } catch {
            throw CancellationError()
        }
    }
}

/// A clock that stands still until it is moved: a world's clock that was frozen from the beginning.
public typealias ManualClock = WorldClock
