public import Encoding

/// What the IdP takes for the time: the wall clock, the wall clock moved, or one instant for good.
public enum ServerClock: Sendable, Hashable {
    /// The wall clock.
    case real
    /// The wall clock and this many seconds.
    case offset(seconds: Int64)
    /// Always this instant.
    case frozen(at: Instant)

    /// The server's time when the wall clock shows `wall`.
    public func now(wall: Instant) -> Instant {
        switch self {
        case .real: wall
        case .offset(let seconds): wall.adding(seconds: seconds)
        case .frozen(let instant): instant
        }
    }

    /// The clock moved by seconds, back for a negative number; it saturates at the ends of time.
    func advanced(bySeconds seconds: Int64) -> ServerClock {
        switch self {
        case .real: .offset(seconds: seconds)
        case .offset(let already):
            .offset(seconds: already.addingReportingOverflow(seconds).overflow ? already : already + seconds)
        case .frozen(let instant): .frozen(at: instant.adding(seconds: seconds))
        }
    }
}
