import Encoding
import HTTP
import JOSE
import Profiles

/// Refused saves of confidential clients, and of tenants with the FAPI 2.0 profile.
extension Tenant {
    /// FAPI 2.0 section 5.3.2.1: a code lives a minute at most.
    func keepsFAPIRules(_ turn: Turn) throws(Refusal) {
        guard profile == .fapi2, policy.codeLifetime > 60 else { return }
        throw .problem(
            422, "fapi2_rule", "under FAPI 2.0 a code lives at most 60 seconds", field: "code_lifetime",
            rule: turn.profile.saveRules.fapiLimitsCodeLifetime)
    }
}

extension Realm {
    /// Whether every application could live under a tenant's new profile; costs as much as there are.
    func everyApplicationFits(_ tenant: Tenant, _ turn: Turn) throws(Refusal) {
        for clientID in applications.keys { try applications[clientID]?.keepsClientRules(of: tenant, turn) }
    }
}

extension Application {
    /// A confidential client has keys; under FAPI 2.0 every client is confidential and redirects to https or loopback.
    func keepsClientRules(of tenant: Tenant, _ turn: Turn) throws(Refusal) {
        let rules = turn.profile.saveRules
        if tenant.profile == .fapi2, authentication != .privateKeyJWT {
            throw broken("token_endpoint_auth_method", rules.fapiRequiresConfidential, "is a private_key_jwt client")
        }
        if authentication == .privateKeyJWT, clientKeys?.entries.isEmpty ?? true {
            throw broken("jwks", rules.requiresClientKeys, "has its public keys registered")
        }
        if tenant.profile == .fapi2, !redirectURIs.allSatisfy(Self.isSecureRedirect) {
            throw broken("redirect_uris", rules.fapiRequiresSecureRedirect, "redirects to https or to loopback")
        }
    }

    private func broken(_ field: String, _ rule: String, _ wanted: String) -> Refusal {
        .problem(422, "client_rule", "'\(clientID)' must be an application that \(wanted)", field: field, rule: rule)
    }

    private static func isSecureRedirect(_ text: String) -> Bool {
        guard let url = try? HTTPURL(text) else { return false }
        return url.isSecure || url.isLoopback
    }
}

extension ManagementFields {
    /// A set of public keys to verify signatures with, or nil where the body leaves it out.
    ///
    /// Stricter than a set somebody else publishes: a key that could never be used is a mistake to be told of. A key
    /// without a `kid` is known by its thumbprint.
    mutating func keys(_ name: String, limit: Int) throws(Refusal) -> JWKSet? {
        guard let value = take(name) else { return nil }
        guard let members = value["keys"]?.array, (1...limit).contains(members.count) else {
            throw wrong(name, "an object with 1 to \(limit) keys", "jwks")
        }
        var entries: [JWKSet.Entry] = []
        for member in members {
            let entry = try entry(member, of: name)
            guard !entries.contains(where: { $0.keyID == entry.keyID }) else {
                throw wrong(name, "each kid once", "kid")
            }
            entries.append(entry)
        }
        return JWKSet(entries)
    }

    private func entry(_ member: JSON, of name: String) throws(Refusal) -> JWKSet.Entry {
        let key: JWK
        do {
            key = try JWK(member)
        } catch {
            throw wrong(name, "public keys, but here is \(error.actual) in place of \(error.expected)", error.code)
        }
        let algorithm = member["alg"]?.string.flatMap(JWSAlgorithm.init(rawValue:))
        guard algorithm.map(ClientAssertion.algorithms.contains) ?? true else {
            throw wrong(name, "keys for \(ClientAssertion.algorithmNames.joined(separator: " or "))", "alg")
        }
        let keyID = member["kid"]?.string ?? key.thumbprint
        guard (1...256).contains(keyID.utf8.count) else { throw wrong(name, "a kid of 1 to 256 bytes", "kid") }
        return JWKSet.Entry(keyID: keyID, key: key, algorithm: algorithm)
    }
}
