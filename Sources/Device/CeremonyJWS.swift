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
    /// `names` are the wire's words for it and its claims.
    public func signingInput(
        key: P256.PublicKey, names: SenseCryptProfile.Ceremony = SenseCryptProfile.builtIn.ceremony
    ) -> String {
        let header = JSONObject([
            ("typ", .string(names.type)), ("alg", "ES256"), ("kid", .string(JWK.p256(key).thumbprint)),
        ])
        return JWS.signingInput(header: header, payload: JSON.object(payload(names)).serialized())
    }

    /// The compact JWS: what was signed, and the 64 bytes of r and s.
    public static func assemble(signingInput: String, signature: [UInt8]) -> String {
        precondition(signature.count == 64, "an ES256 signature has 64 bytes")
        return JWS.assemble(signingInput: signingInput, signature: signature)
    }

    private func payload(_ names: SenseCryptProfile.Ceremony) -> JSONObject {
        let name = names.claims
        return JSONObject(
            [
                ("aud", .string(claims.issuer)), ("iat", .int(issuedAt)), ("jti", .string(jti)),
                (name.act, .string(claims.act.word(in: names.acts))), (name.ceremony, .string(claims.ceremony)),
                (name.challenge, .string(claims.challenge)), (name.authSessionHash, .string(claims.authSessionHash)),
                (name.installThumbprint, .string(claims.installThumbprint)),
            ] + claims.act.ownClaims(names))
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
    fileprivate func ownClaims(_ names: SenseCryptProfile.Ceremony) -> [(String, JSON)] {
        let name = names.claims
        return switch self {
        case .faceToken: []
        case .attempt(let number):
            [(name.outcome, .string(names.outcomes.mismatch)), (name.number, .int(Int64(number)))]
        case .complete(let generation, let faceTokenHash):
            [
                (name.outcome, .string(names.outcomes.match)), (name.generation, .int(Int64(generation))),
                (name.faceTokenHash, .string(faceTokenHash)),
            ]
        case .abort(let reason): [(name.reason, .string(reason))]
        }
    }
}
