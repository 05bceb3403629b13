public import Encoding
import Glibc
import Synchronization

/// Where the program learns what time it is; the only other clock is the reference IdP's.
public protocol WallClock: Sendable {
    /// The present instant.
    func now() -> Instant
}

/// The machine's own clock.
public struct SystemClock: WallClock {
    /// Makes the clock.
    public init() {}

    /// The present instant, from the real-time clock of the system.
    public func now() -> Instant {
        var time = timespec()
        let status = clock_gettime(CLOCK_REALTIME, &time)
        precondition(status == 0, "the real-time clock can always be read")
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// A clock that stands still until it is moved, for tests and simulations.
public final class ManualClock: WallClock {
    private let instant: Mutex<Instant>

    /// Makes a clock that stands at an instant.
    public init(at instant: Instant) { self.instant = Mutex(instant) }

    /// Where the clock stands.
    public func now() -> Instant { instant.withLock { $0 } }

    /// Moves the clock; a negative number moves it back.
    public func advance(seconds: Int64) { instant.withLock { $0 = $0.adding(seconds: seconds) } }
}
