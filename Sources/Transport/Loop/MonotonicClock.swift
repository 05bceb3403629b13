import Glibc

/// The clock every timer of a loop is measured on: it never jumps and knows nothing of wall time.
enum MonotonicClock {
    /// The time since some fixed moment in the past.
    ///
    /// - Returns: nanoseconds.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// A length of time as the loop counts it.
    ///
    /// - Returns: nanoseconds; a negative length counts as none, and the longest is about 300 years.
    static func nanoseconds(milliseconds: Int) -> UInt64 {
        UInt64(min(max(milliseconds, 0), Int(Int64.max / 1_000_000))) * 1_000_000
    }
}
