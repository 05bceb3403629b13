public import Crypto
import Encoding
import JOSE

/// One signed device ceremony on its way to a signature: claims, stamped with time and identifier.
///
/// Source: the SenseCrypt wire, section 2.
public struct CeremonyJWS: Sendable, Hashable {
    /// What is said.
    public let claims: CeremonyClaims
    /// `iat`: seconds on the device's clock.
    public let issuedAt: Int64
    /// `jti`: 22 or more base64url characters, fresh.
    public let jti: String

    /// Stamps claims.
    public init(claims: CeremonyClaims, issuedAt: Int64, jti: String) {
        precondition(jti.utf8.count >= 22, "a ceremony's jti has 22 or more characters")
        self.claims = claims
        self.issuedAt = issuedAt
        self.jti = jti
    }

    /// What the device key is to sign: header, with the key's thumbprint as `kid`, and claims.
    public func signingInput(key: P256.PublicKey) -> String {
        let header = JSONObject([
            ("typ", "device-ceremony+jwt"), ("alg", "ES256"), ("kid", .string(JWK.p256(key).thumbprint)),
        ])
        return JWS.signingInput(header: header, payload: JSON.object(payload).serialized())
    }

    /// The compact JWS: what was signed, and the 64 bytes of r and s.
    public static func assemble(signingInput: String, signature: [UInt8]) -> String {
        precondition(signature.count == 64, "an ES256 signature has 64 bytes")
        return JWS.assemble(signingInput: signingInput, signature: signature)
    }

    private var payload: JSONObject {
        JSONObject(
            [
                ("aud", .string(claims.issuer)), ("iat", .int(issuedAt)), ("jti", .string(jti)),
                ("act", .string(claims.act.name)), ("cer", .string(claims.ceremony)),
                ("chl", .string(claims.challenge)), ("ash", .string(claims.authSessionHash)),
                ("jkt", .string(claims.installThumbprint)),
            ] + claims.act.ownClaims)
    }
}

extension CeremonyAct {
    /// The claims that go with this act alone.
    fileprivate var ownClaims: [(String, JSON)] {
        switch self {
        case .faceToken: []
        case .attempt(let number): [("outcome", "mismatch"), ("n", .int(Int64(number)))]
        case .complete(let generation, let faceTokenHash):
            [("outcome", "match"), ("gen", .int(Int64(generation))), ("fth", .string(faceTokenHash))]
        case .abort(let reason): [("reason", .string(reason))]
        }
    }
}
