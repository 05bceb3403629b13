public import Encoding

/// Something that happened outside of any flow: to a device, or to the whole world.
public struct JournalEvent: Sendable {
    /// The kind's name in the journal, such as `clock`.
    public let kind: String
    /// What the entry says, in order; never a secret.
    public let members: [(String, JSON)]

    /// Describes what happened.
    public init(kind: String, _ members: [(String, JSON)]) {
        self.kind = kind
        self.members = members
    }
}
