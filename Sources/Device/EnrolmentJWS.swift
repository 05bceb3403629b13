public import Crypto
import Encoding
import JOSE
public import Profiles

/// The proof that an enrolling phone holds its new device key, on its way to a signature by that key.
///
/// Source: the SenseCrypt wire, section 9.
public struct EnrolmentJWS: Sendable, Hashable {
    /// `aud`: the issuer.
    public let issuer: String
    /// `tkt`: base64url(SHA-256(ASCII of the ticket or code)).
    public let ticketHash: String
    /// `fth`: base64url(SHA-256(sealed face token)).
    public let faceTokenHash: String
    /// `platform`: what the phone claims to be.
    public let platform: Platform
    /// `iat`: seconds on the device's clock.
    public let issuedAt: Int64
    /// `jti`: 22 or more base64url characters, fresh.
    public let jti: String

    /// Makes the proof for a ticket, or the code that came by mail, and the face token of generation 1.
    public init(
        issuer: String, ticket: String, faceToken: [UInt8], platform: Platform, issuedAt: Int64, jti: String
    ) {
        precondition(jti.utf8.count >= 22, "an enrolment's jti has 22 or more characters")
        self.issuer = issuer
        ticketHash = CeremonyHash.of(ascii: ticket)
        faceTokenHash = CeremonyHash.of(faceToken)
        self.platform = platform
        self.issuedAt = issuedAt
        self.jti = jti
    }

    /// What the new device key is to sign: header, with the public key itself as `jwk`, and claims.
    ///
    /// `names` are the wire's words for it and its claims.
    public func signingInput(
        key: P256.PublicKey, names: SenseCryptProfile.Ceremony = SenseCryptProfile.builtIn.ceremony
    ) -> String {
        let header = JSONObject([
            ("typ", .string(names.enrollmentType)), ("alg", "ES256"), ("jwk", JWK.p256(key).json),
        ])
        let name = names.claims
        let claims = JSONObject([
            ("aud", .string(issuer)), ("iat", .int(issuedAt)), ("jti", .string(jti)),
            (name.act, .string(names.acts.enroll)),
            (name.ticketHash, .string(ticketHash)), (name.faceTokenHash, .string(faceTokenHash)),
            (name.platform, .string(platform.word(in: names.platforms))),
        ])
        return JWS.signingInput(header: header, payload: JSON.object(claims).serialized())
    }

    /// The compact JWS: what was signed, and the 64 bytes of r and s.
    public static func assemble(signingInput: String, signature: [UInt8]) -> String {
        precondition(signature.count == 64, "an ES256 signature has 64 bytes")
        return JWS.assemble(signingInput: signingInput, signature: signature)
    }
}

extension Platform {
    /// The wire's word for this platform.
    fileprivate func word(in platforms: SenseCryptProfile.Platforms) -> String {
        switch self {
        case .ios: platforms.ios
        case .android: platforms.android
        }
    }
}
