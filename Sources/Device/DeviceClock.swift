public import Encoding

/// What a virtual device believes the time is; never the server's clock.
///
/// Its text form is what the command line and the database hold: `real`, `+90s`, `-2h`, `@1790000000`.
public enum DeviceClock: Sendable, Hashable {
    /// The wall clock.
    case real
    /// The wall clock, ahead (positive) or behind (negative) by whole seconds.
    case offset(seconds: Int64)
    /// Stopped at one instant until it is advanced.
    case frozen(at: Instant)

    /// The furthest a clock may stand from 1970 or from the wall clock, in seconds: 300 years of 365 days.
    public static let furthestSeconds: Int64 = 300 * 365 * 86_400

    /// The device's time when the wall clock shows `wall`.
    public func now(wall: Instant) -> Instant {
        switch self {
        case .real: wall
        case .offset(let seconds): wall.adding(seconds: seconds)
        case .frozen(let instant): instant
        }
    }

    /// The clock moved by `seconds`, which may be negative: a frozen one stays frozen at the later instant, a running
    /// one runs on with the changed offset.
    ///
    /// Throws `DeviceTextError.clockOutOfRange` when it would stand more than `furthestSeconds` away.
    public func advanced(bySeconds seconds: Int64) throws(DeviceTextError) -> DeviceClock {
        guard Self.range.contains(seconds) else { throw .clockOutOfRange("\(seconds)s") }
        let moved: DeviceClock =
            switch self {
            case .real: .offset(seconds: seconds)
            case .offset(let already): .offset(seconds: already + seconds)
            case .frozen(let instant): .frozen(at: instant.adding(seconds: seconds))
            }
        return try moved.inRange()
    }

    private static let range = -furthestSeconds...furthestSeconds

    /// The clock itself, if a person may set it: not centuries away, and not frozen before 1970.
    func inRange() throws(DeviceTextError) -> DeviceClock {
        let isInRange =
            switch self {
            case .real: true
            case .offset(let seconds): Self.range.contains(seconds)
            case .frozen(let instant): (0...Self.furthestSeconds).contains(instant.seconds)
            }
        guard isInRange else { throw .clockOutOfRange(text) }
        return self
    }
}
