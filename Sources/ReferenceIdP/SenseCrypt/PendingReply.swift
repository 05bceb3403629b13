public import Encoding
public import HTTP

/// An answer that is whole but for signatures, which the edge adds outside its lock.
public struct PendingReply: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields, in order.
    public var fields: HTTPFields
    /// What the body will be.
    public var body: Body

    /// What the body of an answer will be.
    public enum Body: Sendable {
        /// No body.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// A JSON object whose members named here are signed tokens to be put in.
        case signed(JSONObject, tokens: [(member: String, token: UnsignedJWT)])
        /// The key set, with the RSA key where a client of the tenant wants RS256.
        case keySet(withRSA: Bool)
    }
}

/// A token that lacks only its signature.
public struct UnsignedJWT: Sendable {
    /// How a token is to be signed.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// ECDSA on P-256 with SHA-256.
        case es256 = "ES256"
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = "RS256"
    }

    /// How to sign it.
    public let algorithm: Algorithm
    /// The `typ` header.
    public let type: String
    /// The claims, in order.
    public let claims: JSONObject
}

extension PendingReply {
    static func json(_ status: Int, _ body: JSON) -> PendingReply {
        PendingReply(
            status: status, fields: HTTPFields([("Content-Type", "application/json")]), body: .bytes(body.serialized()))
    }

    static func empty(_ status: Int) -> PendingReply {
        PendingReply(status: status, fields: HTTPFields(), body: .none)
    }
}
