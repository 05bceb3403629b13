/// A text or number from a person that names no device setting; the description says what is allowed.
public enum DeviceTextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not a scan outcome.
    case unknownScanOutcome(String)
    /// Not a cause of a bad capture.
    case unknownBadCapture(String)
    /// A liveness reason that is empty, too long or holds control characters.
    case unusableLivenessReason(String)
    /// More scans than the camera's queue holds.
    case cameraQueueFull(limit: Int)
    /// Not a clock.
    case unreadableClock(String)
    /// A clock centuries away.
    case clockOutOfRange(String)

    /// The stable dotted name of the rule.
    public var code: String {
        switch self {
        case .unknownScanOutcome: "device.scan.unknown"
        case .unknownBadCapture: "device.scan.badCapture"
        case .unusableLivenessReason: "device.scan.livenessReason"
        case .cameraQueueFull: "device.camera.queueFull"
        case .unreadableClock: "device.clock.unreadable"
        case .clockOutOfRange: "device.clock.range"
        }
    }

    /// The rule and the value given.
    public var description: String {
        switch self {
        case .unknownScanOutcome(let given):
            "'\(Self.shown(given))' is not a scan outcome; use match, mismatch, livenessFailed:REASON, "
                + "badCapture:CAUSE, cancel, hang, lockout, notEnrolled or unsupported"
        case .unknownBadCapture(let given):
            "'\(Self.shown(given))' is not a cause of a bad capture; use "
                + BadCapture.allCases.map(\.rawValue).joined(separator: ", ")
        case .unusableLivenessReason(let given):
            "'\(Self.shown(given))' is not a liveness reason; give 1 to \(ScanOutcome.longestReason) printable "
                + "characters, as in livenessFailed:photo"
        case .cameraQueueFull(let limit): "the camera's queue holds at most \(limit) scans"
        case .unreadableClock(let given):
            "'\(Self.shown(given))' is not a clock; use real, an offset such as +90s or -2h (s, m, h, d), or a fixed "
                + "time such as @1790000000"
        case .clockOutOfRange(let given):
            "'\(Self.shown(given))' is too far away; a clock stands at most \(DeviceClock.furthestSeconds) seconds off"
        }
    }

    /// The given text, short enough for an error line.
    private static func shown(_ given: String) -> String {
        given.count <= 80 ? given : given.prefix(80) + "…"
    }
}
