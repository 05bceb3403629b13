public import Device
public import Encoding

/// One sign-in flow as it is stored: what lists and recovery ask for in columns, the machine itself in opaque bytes.
public struct FlowRecord: Sendable, Hashable {
    /// The flow's identifier.
    public var id: String
    /// The device it runs on.
    public var device: DeviceID
    /// The name of the machine's state.
    public var phase: String
    /// Whether the flow is over.
    public var isTerminal: Bool
    /// Whether the flow waits for a retry.
    public var isParked: Bool
    /// When this record was made, on the wall clock.
    public var updatedAt: Instant
    /// The machine, in whatever coding its owner chose; may hold secrets.
    public var body: [UInt8]

    /// Makes a record of a flow.
    public init(
        id: String, device: DeviceID, phase: String, isTerminal: Bool, isParked: Bool, updatedAt: Instant,
        body: [UInt8]
    ) {
        self.id = id
        self.device = device
        self.phase = phase
        self.isTerminal = isTerminal
        self.isParked = isParked
        self.updatedAt = updatedAt
        self.body = body
    }
}

extension FlowRecord: CustomStringConvertible, CustomReflectable {
    /// Which flow, where and how far; never its body.
    public var description: String { "flow \(id) on \(device): \(phase)" }

    /// Hides the body from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["flow": description]) }
}
