public import Device
public import Encoding

/// One thing that happened, as the journal keeps it.
public struct JournalEntry: Sendable, Hashable {
    /// Its place in the journal, beginning with 1 and without gaps.
    public var sequence: Int64
    /// When it happened, on the wall clock.
    public var at: Instant
    /// The device it happened to, if one.
    public var device: DeviceID?
    /// The flow it belongs to, if one.
    public var flow: String?
    /// What happened, as a stable dotted name.
    public var kind: String
    /// The details, in whatever coding their writer chose; without secrets, since journals are shown.
    public var body: [UInt8]

    /// Makes an entry that has its place.
    public init(sequence: Int64, at: Instant, device: DeviceID?, flow: String?, kind: String, body: [UInt8]) {
        self.sequence = sequence
        self.at = at
        self.device = device
        self.flow = flow
        self.kind = kind
        self.body = body
    }
}
