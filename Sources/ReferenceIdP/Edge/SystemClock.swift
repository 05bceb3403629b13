public import Encoding
import Glibc

/// The clock on the wall of this machine.
public enum SystemClock {
    /// The present instant.
    public static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
