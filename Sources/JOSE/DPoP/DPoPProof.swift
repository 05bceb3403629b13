public import Crypto
public import Encoding

/// A DPoP proof to be signed (RFC 9449 section 4.2).
///
/// It holds no key and signs nothing.
///
/// Make one for each request, at the moment it is sent: `issuedAt` ages while a person types.
public struct DPoPProof: Sendable, Hashable {
    /// The request's method, as sent.
    public var method: String
    /// The request's URL without query and fragment.
    public var url: String
    /// The identifier of this proof, never used before.
    public var jti: String
    /// When it is made, in seconds since 1970.
    public var issuedAt: Int64
    /// The hash of the access token it goes with, on calls of an API.
    public var accessTokenHash: String?
    /// The nonce the server asked for.
    public var nonce: String?

    /// A proof for one request; query and fragment of `url` are dropped, `accessToken` becomes `ath`.
    public init(
        method: String, url: String, jti: String, issuedAt: Int64, accessToken: String? = nil, nonce: String? = nil
    ) {
        self.method = method
        self.url = HTU.withoutQuery(url)
        self.jti = jti
        self.issuedAt = issuedAt
        accessTokenHash = accessToken.map(Self.hash(accessToken:))
        self.nonce = nonce
    }

    /// The value of `ath` for a token as sent: base64url of SHA-256 of its characters.
    public static func hash(accessToken: String) -> String {
        Base64URL.encode(SHA256.hash(ascii: accessToken))
    }

    /// The header of a proof by this key.
    public static func header(key: P256.PublicKey) -> JSONObject {
        JSONObject([("typ", "dpop+jwt"), ("alg", "ES256"), ("jwk", JWK.p256(key).json)])
    }

    /// The claims, in the order RFC 9449 lists them.
    public var claims: JSONObject {
        var claims = JSONObject([
            ("jti", .string(jti)), ("htm", .string(method)), ("htu", .string(url)), ("iat", .int(issuedAt)),
        ])
        if let accessTokenHash { claims["ath"] = .string(accessTokenHash) }
        if let nonce { claims["nonce"] = .string(nonce) }
        return claims
    }

    /// What the key signs; `JWS.assemble` makes the header value of it and the 64-byte signature.
    public func signingInput(key: P256.PublicKey) -> String {
        JWS.signingInput(header: Self.header(key: key), payload: JSON.object(claims).serialized())
    }

    /// The value of the `DPoP` header, signed at once where the key is at hand.
    public func signed(with key: P256.PrivateKey, nonce: P256.SigningNonce = .random) throws(CryptoError) -> String {
        let input = signingInput(key: key.publicKey)
        return JWS.assemble(signingInput: input, signature: try key.sign([UInt8](input.utf8), nonce: nonce))
    }
}
