/// The name of one flow: `f-` and 22 base64url characters, drawn when the flow starts.
public struct FlowID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The text of the name.
    public let rawValue: String

    /// Takes any text: an id nobody gave out is simply not found.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of the name.
    public var description: String { rawValue }
}
