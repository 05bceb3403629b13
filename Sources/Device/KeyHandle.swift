/// The opaque name of a private key that stays in the virtual phone's secure hardware.
public struct KeyHandle: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The name as text.
    public let rawValue: String

    /// Takes a name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The name as text; it is no secret.
    public var description: String { rawValue }
}

/// What a key of the virtual phone is for.
public enum KeyPurpose: String, Codable, Sendable, Hashable, CaseIterable {
    /// The install's DPoP key: one per install, outlives sessions.
    case dpop
    /// An enrolment's device key, which signs ceremonies: one per enrolment.
    case device
    /// The install's App Attest key: one per install, made when the first evidence is asked for.
    case appAttest
    /// The key of an attested instance of an OAuth client: one per issuer and client.
    case clientInstance
}
