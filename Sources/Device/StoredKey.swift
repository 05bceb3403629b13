public import Encoding

/// A private key in the virtual phone's secure hardware.
public struct StoredKey: Codable, Sendable, Hashable {
    /// The name the rest of the program uses for the key.
    public let handle: KeyHandle
    /// What the key is for.
    public let purpose: KeyPurpose
    /// The P-256 private scalar, 32 bytes big-endian; never shown, logged or sent.
    public let scalar: [UInt8]
    /// When the key was made, on the device's clock.
    public let createdAt: Instant
    /// Whether the platform has withdrawn the key, as it does when biometrics are enrolled anew or the phone is wiped.
    public private(set) var invalidated: Bool

    /// Takes a key's parts.
    public init(
        handle: KeyHandle, purpose: KeyPurpose, scalar: [UInt8], createdAt: Instant, invalidated: Bool = false
    ) {
        self.handle = handle
        self.purpose = purpose
        self.scalar = scalar
        self.createdAt = createdAt
        self.invalidated = invalidated
    }

    /// Withdraws the key for good: no platform brings an invalidated key back.
    public mutating func invalidate() {
        invalidated = true
    }
}

extension StoredKey: CustomStringConvertible, CustomReflectable {
    /// Which key, for what, and whether it is usable; never the scalar.
    public var description: String {
        "\(purpose.rawValue) key \(handle)" + (invalidated ? ", invalidated" : "")
    }

    /// Hides the scalar from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["key": description]) }
}
