public import Crypto
import Encoding
import JOSE
public import Profiles

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
    ///
    /// `names` are the wire's words for `typ` and `act`.
    public func signingInput(
        key: P256.PublicKey, names: SenseCryptProfile.Ceremony = SenseCryptProfile.builtIn.ceremony
    ) -> String {
        let header = JSONObject([
            ("typ", .string(names.type)), ("alg", "ES256"), ("kid", .string(JWK.p256(key).thumbprint)),
        ])
        return JWS.signingInput(header: header, payload: JSON.object(payload(names.acts)).serialized())
    }

    /// The compact JWS: what was signed, and the 64 bytes of r and s.
    public static func assemble(signingInput: String, signature: [UInt8]) -> String {
        precondition(signature.count == 64, "an ES256 signature has 64 bytes")
        return JWS.assemble(signingInput: signingInput, signature: signature)
    }

    private func payload(_ acts: SenseCryptProfile.Acts) -> JSONObject {
        JSONObject(
            [
                ("aud", .string(claims.issuer)), ("iat", .int(issuedAt)), ("jti", .string(jti)),
                ("act", .string(claims.act.word(in: acts))), ("cer", .string(claims.ceremony)),
                ("chl", .string(claims.challenge)), ("ash", .string(claims.authSessionHash)),
                ("jkt", .string(claims.installThumbprint)),
            ] + claims.act.ownClaims)
    }
}

extension CeremonyAct {
    /// The wire's word for this act.
    fileprivate func word(in acts: SenseCryptProfile.Acts) -> String {
        switch self {
        case .faceToken: acts.faceToken
        case .attempt: acts.attempt
        case .complete: acts.complete
        case .abort: acts.abort
        }
    }

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
