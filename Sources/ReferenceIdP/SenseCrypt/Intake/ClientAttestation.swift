import Crypto
import Encoding
import HTTP
import JOSE
import Profiles

/// An OAuth client attestation with the proof that goes with it (attestation-based client authentication, -11), well-formed.
///
/// The signature of the attestation was checked with the tenant's attesters, that of the proof with the key the
/// attestation is about. Time, challenge, audience and replay are for the rules.
struct ClientAttestation: Sendable {
    /// The proof of possession of the normal mode.
    struct Possession: Sendable {
        let audience: JSON
        let jti: String
        let issuedAt: Instant
        let challenge: String?
    }

    /// `sub`, the client.
    let subject: String
    let expiresAt: Instant
    let issuedAt: Instant?
    /// The attester whose key fitted; nil where none did.
    let attester: JWK?
    /// The thumbprint of the instance's key.
    let instance: String
    /// Nil in the combined mode, where the DPoP proof is the proof.
    let possession: Possession?
}

/// What a request brings in the fields of client attestation.
enum ClientAttestationInput: Sendable {
    case none
    case good(ClientAttestation)
    /// Readable or not, it cannot be good.
    case bad(ClientAttestationFault, subject: String?)
}

/// What is wrong with a client attestation, as the finding will say it.
struct ClientAttestationFault: Error, Sendable {
    let rule: String
    let expected: String
    let actual: String

    init(_ rule: String, expected: String, actual: String) {
        self.rule = "client.attestation.\(rule)"
        self.expected = expected
        self.actual = Clipped.text(actual)
    }
}

extension Reading {
    /// Reads the two fields; a second attestation or proof is one too many.
    func clientAttestation() -> ClientAttestationInput {
        let fields = context.request.fields
        let attestations = fields.values("OAuth-Client-Attestation")
        let proofs = fields.values("OAuth-Client-Attestation-PoP")
        guard !attestations.isEmpty || !proofs.isEmpty else { return .none }
        var subject: String?
        do throws(ClientAttestationFault) {
            let attestation = try jwt(attestations, "header", type: "oauth-client-attestation+jwt")
            let claims = try claims(of: attestation, "header")
            subject = claims["sub"]?.string
            return .good(try read(attestation, claims, proofs))
        } catch {
            return .bad(error, subject: subject)
        }
    }

    private func read(
        _ attestation: JWS, _ claims: JSONObject, _ proofs: [String]
    ) throws(ClientAttestationFault) -> ClientAttestation {
        guard let subject = claims["sub"]?.string, (1...256).contains(subject.utf8.count) else {
            throw ClientAttestationFault("sub", expected: "a client id", actual: claims["sub"]?.kind ?? "nothing")
        }
        guard let expiry = claims["exp"]?.seconds else {
            throw ClientAttestationFault("exp", expected: "seconds since 1970", actual: "something else")
        }
        guard claims["iat"] == nil || claims["iat"]?.seconds != nil else {
            throw ClientAttestationFault("iat", expected: "seconds since 1970", actual: "something else")
        }
        let key = try instanceKey(claims)
        return ClientAttestation(
            subject: subject, expiresAt: expiry, issuedAt: claims["iat"]?.seconds, attester: attester(of: attestation),
            instance: JWK.p256(key).thumbprint, possession: proofs.isEmpty ? nil : try possession(proofs, key))
    }

    private func jwt(_ values: [String], _ rule: String, type: String) throws(ClientAttestationFault) -> JWS {
        guard let value = values.first, values.count == 1 else {
            throw ClientAttestationFault(rule, expected: "one field", actual: "\(values.count)")
        }
        let jws: JWS
        do throws(JOSEError) {
            jws = try JWS(compact: value, limit: limits.jwsBytes)
        } catch {
            throw ClientAttestationFault(rule, expected: error.expected, actual: error.actual)
        }
        guard jws.type == type else {
            throw ClientAttestationFault("\(rule).typ", expected: type, actual: jws.type ?? "nothing")
        }
        guard jws.algorithm == JWSAlgorithm.es256.rawValue else {
            throw ClientAttestationFault("\(rule).alg", expected: "ES256", actual: jws.algorithm)
        }
        return jws
    }

    private func claims(of jws: JWS, _ rule: String) throws(ClientAttestationFault) -> JSONObject {
        guard let claims = (try? JSON(parsing: jws.payload))?.object else {
            throw ClientAttestationFault(rule, expected: "a JSON object", actual: "something else")
        }
        return claims
    }

    private func instanceKey(_ claims: JSONObject) throws(ClientAttestationFault) -> P256.PublicKey {
        guard let member = claims["cnf"]?["jwk"] else {
            throw ClientAttestationFault("cnf", expected: "cnf.jwk", actual: "nothing")
        }
        guard case .p256(let key)? = try? JWK(member) else {
            throw ClientAttestationFault("cnf", expected: "a P-256 public key", actual: "another or a private key")
        }
        return key
    }

    /// The attester of the tenant that signed; every key of the name is tried.
    private func attester(of jws: JWS) -> JWK? {
        let attesters = context.attestation(tenant, nil)?.trust.attesters
        return attesters?.candidates(keyID: jws.keyID, algorithm: .es256).first { key in
            (try? jws.verify(key, algorithms: [.es256])) != nil
        }
    }

    private func possession(
        _ values: [String], _ key: P256.PublicKey
    ) throws(ClientAttestationFault) -> ClientAttestation.Possession {
        let jws = try jwt(values, "pop", type: "oauth-client-attestation-pop+jwt")
        guard (try? jws.verify(.p256(key), algorithms: [.es256])) != nil else {
            throw ClientAttestationFault("pop.signature", expected: "a signature of the cnf key", actual: "another")
        }
        let claims = try claims(of: jws, "pop")
        guard let jti = claims["jti"]?.string, (1...256).contains(jti.utf8.count) else {
            throw ClientAttestationFault(
                "pop.jti", expected: "1 to 256 bytes", actual: claims["jti"]?.kind ?? "nothing")
        }
        guard let issuedAt = claims["iat"]?.seconds else {
            throw ClientAttestationFault("pop.iat", expected: "seconds since 1970", actual: "something else")
        }
        guard let audience = claims["aud"] else {
            throw ClientAttestationFault("pop.aud", expected: "the issuer", actual: "nothing")
        }
        guard claims["challenge"] == nil || claims["challenge"]?.string != nil else {
            throw ClientAttestationFault("pop.challenge", expected: "a string", actual: "something else")
        }
        return ClientAttestation.Possession(
            audience: audience, jti: jti, issuedAt: issuedAt, challenge: claims["challenge"]?.string)
    }
}

extension JSON {
    /// A NumericDate in whole seconds or with a fraction, within reason.
    fileprivate var seconds: Instant? {
        let bound: Int64 = 1 << 40
        return switch self {
        case .int(let seconds) where (0...bound).contains(seconds): Instant(seconds: seconds)
        case .double(let seconds) where (0...Double(bound)).contains(seconds):
            Instant(milliseconds: Int64(seconds * 1000))
        default: nil
        }
    }
}
