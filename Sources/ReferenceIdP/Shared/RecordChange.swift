import Encoding

/// A durable record that a request wrote or removed, for whoever keeps them.
///
/// A sign-in under way is durable like everything else, so that a phone whose proof is parked can complete it at an IdP
/// that was started again. Remembered proofs and the counts of rate limits are not: neither outlives an hour.
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
        /// A sign-in under way. Key: tenant, `/`, H(`auth_session`).
        case session
        /// An authorization code, as a hash. Key: tenant, `/`, hash.
        case code
        /// A code sent by mail, as a hash. Key: tenant, `/`, address.
        case signupCode = "signup_code"
        /// A mail of the inbox. Key: tenant, `/`, its number.
        case mail
        /// What a tenant's authorization codes are drawn from; the value is secret. Key: tenant, `/`.
        case codeSecret = "code_secret"
        /// An App Attest key a tenant knows. Key: tenant, `/`, key id.
        case attestedKey = "attested_key"
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
    ///
    /// Written out when asked for: under the state's lock a record is only put together.
    public var value: [UInt8]? {
        switch content {
        case .bytes(let bytes): bytes
        case .json(let json): json.serialized()
        case nil: nil
        }
    }

    private let content: Content?

    private enum Content: Sendable {
        case bytes([UInt8])
        case json(JSON)
    }

    /// Makes a change, or a stored record to restore from.
    public init(kind: Kind, key: String, value: [UInt8]?) {
        self.kind = kind
        self.key = key
        content = value.map(Content.bytes)
    }

    /// Makes a change from a record yet to be written out.
    init(kind: Kind, key: String, json: JSON) {
        self.kind = kind
        self.key = key
        content = .json(json)
    }

    /// The same kind, key and bytes.
    public static func == (left: RecordChange, right: RecordChange) -> Bool {
        left.kind == right.kind && left.key == right.key && left.value == right.value
    }

    /// By kind and key: records of one key are few.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(key)
    }
}

extension RecordChange: CustomStringConvertible {
    /// The kind and key; values may hold signing keys and sealed face tokens.
    public var description: String { "\(kind.rawValue) \(key): \(value.map { "\($0.count) bytes" } ?? "removed")" }
}
