import Device

/// Something that happens to a phone, named as a script asks for it.
public enum LifeEvent: String, Sendable, Hashable, Codable, CaseIterable {
    /// Another face is set up: the platform withdraws the keys that are bound to the faces it knew.
    case enrolmentChange = "enrolment-change"
    /// The app is deleted and installed anew: nothing of it is left, and the phone and its holder are the same.
    case reinstall
    /// A backup is put on other hardware, as another device: records come along, keys do not.
    case restore
    /// Everything is copied to another device, keys as well: what only a broken secure hardware makes possible.
    case clone
    /// Too many failed scans: the platform refuses to scan faces.
    case lockout
    /// The holder has typed the passcode: faces can be scanned again.
    case unlock
    /// The app's process ends: what it had in memory is gone.
    case kill
    /// The app is started: it takes up the flows its last process left under way.
    case relaunch
    /// The phone has no network: every call is lost.
    case offline
    /// The network is back.
    case online

    /// Whether it makes another device, which has to be named.
    public var makesAnother: Bool { self == .restore || self == .clone }
}

extension Platform {
    /// The keys that end when another face is set up.
    ///
    /// On iOS an access control of the current set of faces is on the device key alone; on Android the app's keys have
    /// one policy, which withdraws them all. Assumed, see `docs/fidelity.md`.
    var keysEndedByNewFace: [KeyPurpose] {
        switch self {
        case .ios: [.device]
        case .android: [.device, .dpop]
        }
    }
}

/// What an event came to.
public struct LifeReport: Sendable {
    /// The event.
    public let event: LifeEvent
    /// The device it happened to, as it is now.
    public let device: DeviceView
    /// The device it made.
    public var other: DeviceView?
    /// How many keys were withdrawn.
    public var keysWithdrawn = 0
    /// How many flows in memory were lost.
    public var flowsLost = 0
    /// How many flows were taken up.
    public var flowsTakenUp = 0

    init(_ event: LifeEvent, of device: DeviceView) {
        self.event = event
        self.device = device
    }
}
