/// The name of one virtual device, such as `pixel-7`.
///
/// One to 64 characters: lower-case letters, digits, `.`, `_` and `-`, beginning with a letter or digit, so that it
/// can stand in a path, a URL and a log line as it is.
public struct DeviceID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The most characters an identifier has.
    public static let longest = 64

    /// The identifier as text.
    public let rawValue: String

    /// Takes the identifier, or `nil` when it is empty, too long or holds another character.
    public init?(rawValue: String) {
        let bytes = rawValue.utf8
        guard bytes.count <= Self.longest, let first = bytes.first, Self.isAlphanumeric(first) else { return nil }
        guard bytes.allSatisfy({ Self.isAlphanumeric($0) || Self.punctuation.contains($0) }) else { return nil }
        self.rawValue = rawValue
    }

    /// The identifier as text.
    public var description: String { rawValue }

    /// Identifiers are ordered by their bytes, the order they are listed in.
    public static func < (left: DeviceID, right: DeviceID) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    private static let punctuation = Array("._-".utf8)

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
