public import Crypto
public import Encoding
public import JOSE

/// A client attestation: the word of a client's backend that a key belongs to an instance of the client.
///
/// Parsed, and checked as far as its holder can: whether its signer is trusted is for the server.
/// Source: draft-ietf-oauth-attestation-based-client-auth section 5.1.
public struct ClientAttestation: Sendable, Hashable {
    /// The header field an attestation travels in.
    public static let field = "OAuth-Client-Attestation"
    /// The `typ` of its header.
    public static let type = "oauth-client-attestation+jwt"
    /// The longest attestation that is taken, in bytes.
    public static let limit = 16_384

    /// The compact JWS.
    public let compact: String
    /// The client, the claim `sub`.
    public let clientID: String
    /// When it ends.
    public let expiresAt: Instant
    /// The key of the instance, the claim `cnf.jwk`.
    public let instanceKey: JWK

    /// Reads what an attester gave.
    ///
    /// Throws ``ClientAttestationError`` for another `typ`, for no signature algorithm of public keys, and for a claim
    /// that is missing or of the wrong type.
    public init(compact: String) throws(ClientAttestationError) {
        let jws: JWS
        do { jws = try JWS(compact: compact, limit: Self.limit) } catch { throw .unreadable(error.description) }
        guard jws.type == Self.type else { throw .member("typ", rule: "\(Self.type)") }
        guard jws.algorithm != "none", !jws.algorithm.hasPrefix("HS") else {
            throw .member("alg", rule: "a signature algorithm of public keys")
        }
        let claims: JSON
        do { claims = try JSON(parsing: jws.payload) } catch { throw .unreadable(error.description) }
        guard let clientID = claims["sub"]?.string, !clientID.isEmpty else {
            throw .member("sub", rule: "the client_id")
        }
        guard let expiry = claims["exp"]?.int else { throw .member("exp", rule: "whole seconds since 1970") }
        guard let key = claims["cnf"]?["jwk"] else { throw .member("cnf.jwk", rule: "the instance's public key") }
        do { instanceKey = try JWK(key) } catch { throw .member("cnf.jwk", rule: error.description) }
        self.compact = compact
        self.clientID = clientID
        expiresAt = Instant(seconds: expiry)
    }

    /// What an attester signs: the header and the payload.
    ///
    /// `lifetime` is in seconds.
    public static func message(
        clientID: String, instanceKey: P256.PublicKey, algorithm: JWSAlgorithm, keyID: String, issuedAt: Int64,
        lifetime: Int64
    ) -> (header: JSONObject, payload: [UInt8]) {
        let header = JSONObject([
            ("typ", .string(type)), ("alg", .string(algorithm.rawValue)), ("kid", .string(keyID)),
        ])
        let claims: JSON = [
            "sub": .string(clientID), "iat": .int(issuedAt), "exp": .int(issuedAt + lifetime),
            "cnf": ["jwk": JWK.p256(instanceKey).json],
        ]
        return (header, claims.serialized())
    }
}

extension ClientAttestation: CustomStringConvertible, CustomReflectable {
    /// Whose, and of which key; never the text itself.
    public var description: String { "attestation of \(clientID), key \(instanceKey.thumbprint)" }

    /// Hides the text from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["attestation": description]) }
}

/// Why a client attestation cannot be used.
public enum ClientAttestationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is no compact JWS with a JSON object inside, for this reason.
    case unreadable(String)
    /// A member of its header or payload is not what the rule demands.
    case member(String, rule: String)

    /// A stable dotted name of the rule.
    public var code: String {
        switch self {
        case .unreadable: "oauth.attestation.unreadable"
        case .member(let name, _): "oauth.attestation.\(name)"
        }
    }

    /// What is wrong, for a person.
    public var description: String {
        switch self {
        case .unreadable(let why): "the client attestation cannot be read: \(why)"
        case .member(let name, let rule): "the client attestation's \(name) must be \(rule)"
        }
    }
}

/// The proof, by a client instance, that it holds the key of its attestation: made anew for every attempt.
///
/// A value that signs nothing. Source: draft-ietf-oauth-attestation-based-client-auth section 5.2.
public struct ClientAttestationPoP: Sendable, Hashable {
    /// The header field a proof travels in.
    public static let field = "OAuth-Client-Attestation-PoP"
    /// The `typ` of its header.
    public static let type = "oauth-client-attestation-pop+jwt"

    /// The issuer it is for.
    public var audience: String
    /// A fresh name for this proof.
    public var jti: String
    /// When it is made, in seconds since 1970.
    public var issuedAt: Int64
    /// The server's newest challenge, where there is one.
    public var challenge: String?

    /// Describes a proof.
    public init(audience: String, jti: String, issuedAt: Int64, challenge: String? = nil) {
        self.audience = audience
        self.jti = jti
        self.issuedAt = issuedAt
        self.challenge = challenge
    }

    /// The signing input, for the instance's key (ES256).
    public var signingInput: String {
        var claims = JSONObject([("aud", .string(audience)), ("jti", .string(jti)), ("iat", .int(issuedAt))])
        claims["challenge"] = challenge.map(JSON.string)
        let header = JSONObject([("typ", .string(Self.type)), ("alg", "ES256")])
        return JWS.signingInput(header: header, payload: JSON.object(claims).serialized())
    }
}
