import Encoding
import JOSE

/// An access token of a tenant whose signature, type, issuer and claims were checked; time, audience and
/// revocation were not.
struct AccessToken: Sendable {
    let subject: String
    let clientID: String
    let audiences: [String]
    let scope: String
    let jti: String
    let jkt: String
    let issuedAt: Instant
    let expiresAt: Instant

    /// What is wrong with a token, for a finding.
    struct Fault: Error {
        let rule: String
        let expected: String
        let actual: String
    }

    /// Reads and checks a token; `off` names rules of the tenant that are not applied.
    init(
        _ compact: String, tenant: String, settings: IdPSettings, off: Set<RuleSwitch> = []
    ) throws(Fault) {
        let claims = try Self.claims(compact, settings, off)
        let issuer = settings.issuer(tenant)
        guard claims["iss"]?.string == issuer else {
            throw Fault(rule: "access_token.iss", expected: issuer, actual: "another issuer")
        }
        func text(_ name: String) throws(Fault) -> String {
            guard let value = claims[name]?.string else {
                throw Fault(rule: "access_token.\(name)", expected: "a string", actual: "something else")
            }
            return value
        }
        guard let expiry = claims["exp"]?.int, let issued = claims["iat"]?.int else {
            throw Fault(rule: "access_token.exp", expected: "integer exp and iat", actual: "something else")
        }
        guard let jkt = claims["cnf"]?["jkt"]?.string else {
            throw Fault(rule: "access_token.cnf", expected: "cnf.jkt", actual: "nothing")
        }
        subject = try text("sub")
        clientID = try text("client_id")
        scope = try text("scope")
        jti = try text("jti")
        audiences = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
        self.jkt = jkt
        issuedAt = Instant(seconds: issued)
        expiresAt = Instant(seconds: expiry)
    }

    /// RFC 9068 section 4: the type first, so that an ID token is never taken for an access token.
    private static func claims(
        _ compact: String, _ settings: IdPSettings, _ off: Set<RuleSwitch>
    ) throws(Fault) -> JSONObject {
        do {
            let jws = try JWS(compact: compact)
            guard ["at+jwt", "application/at+jwt"].contains(jws.type?.lowercased()) else {
                throw Fault(rule: "access_token.typ", expected: "at+jwt", actual: Clipped.text(jws.type ?? "nothing"))
            }
            if off.contains(.tokenSignature), let claims = (try? JSON(parsing: jws.payload))?.object { return claims }
            return try jws.verify(.p256(settings.accessTokenKey), algorithms: [.es256]).claims()
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(rule: "access_token.signature", expected: "a token signed by this IdP", actual: "\(error)")
        }
    }

    /// The grant an access token belongs to: the part of its `jti` before the dot.
    var grantID: String { String(jti.prefix { $0 != "." }) }
}
