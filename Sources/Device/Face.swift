/// The face a virtual phone shows to its camera, reduced to the secret a match would recover from it.
///
/// A face token is sealed under a key derived from this secret, so another face is a secret that does not open it.
public struct Face: Sendable, Hashable {
    /// The length of the secret, in bytes.
    public static let secretLength = 32

    /// The secret, `secretLength` bytes; never shown, logged or sent.
    public let secret: [UInt8]

    /// Takes a secret, or `nil` when it has another length.
    public init?(secret: [UInt8]) {
        guard secret.count == Self.secretLength else { return nil }
        self.secret = secret
    }

    /// Takes a secret whose length is known.
    init(checked secret: [UInt8]) {
        precondition(secret.count == Self.secretLength)
        self.secret = secret
    }
}

extension Face: CustomStringConvertible, CustomReflectable {
    /// Says that there is a face, never which.
    public var description: String { "face (secret not shown)" }

    /// Hides the secret from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Face: Codable {
    /// Decodes a secret, refusing one of the wrong length.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let face = Face(secret: try container.decode([UInt8].self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a face secret has \(Self.secretLength) bytes")
        }
        self = face
    }

    /// Encodes the secret, for the phone's own storage only.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(secret)
    }
}
