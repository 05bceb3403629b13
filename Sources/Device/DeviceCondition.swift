/// What holds of a phone until somebody undoes it, and outlives every process that drives it.
public struct DeviceCondition: Sendable, Hashable, Codable {
    /// Whether nothing leaves the phone: every call is lost.
    public var isOffline: Bool
    /// Whether the platform refuses to scan faces after too many failures.
    public var isLockedOut: Bool

    /// A condition; a phone at first is online, and its face recognition is not locked.
    public init(isOffline: Bool = false, isLockedOut: Bool = false) {
        self.isOffline = isOffline
        self.isLockedOut = isLockedOut
    }
}
