/// A durable record that a request wrote or removed, for whoever keeps them.
///
/// Sessions, codes, remembered proofs and mails are not durable: none outlives minutes, and a phone that
/// meets `invalid_session` starts again. Grants are, since a refresh token lives for weeks.
public struct RecordChange: Sendable, Hashable {
    /// What the record is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A tenant with its switches and policy. Key: tenant.
        case tenant
        /// An application. Key: tenant, `/`, client id.
        case application
        /// A user. Key: tenant, `/`, user id.
        case user
        /// An enrolled device with its face token. Key: tenant, `/`, key thumbprint.
        case device
        /// An unused enrolment ticket, as a hash. Key: tenant, `/`, hash.
        case ticket
        /// What a sign-in issued, tokens as hashes. Key: tenant, `/`, grant id.
        case grant
        /// An access token that was revoked alone. Key: tenant, `/`, `jti`.
        case revokedToken = "revoked_token"
        /// The server's clock. Key: empty.
        case clock
        /// A signing key of the edge; the value is secret. Key: algorithm.
        case signingKey = "signing_key"
    }

    /// What the record is.
    public let kind: Kind
    /// Its key, unique within the kind.
    public let key: String
    /// Its JSON, or nil where the record is gone.
    public let value: [UInt8]?

    /// Makes a change, or a stored record to restore from.
    public init(kind: Kind, key: String, value: [UInt8]?) {
        self.kind = kind
        self.key = key
        self.value = value
    }
}

extension RecordChange: CustomStringConvertible {
    /// The kind and key; values may hold signing keys and sealed face tokens.
    public var description: String { "\(kind.rawValue) \(key): \(value.map { "\($0.count) bytes" } ?? "removed")" }
}
