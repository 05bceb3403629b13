import Encoding
import HTTP
import Profiles

extension Realm {
    /// The metadata document, the same at both of its addresses (RFC 8414, OpenID Connect Discovery 1.0).
    func metadata(_ turn: Turn) -> PendingReply {
        let issuer = turn.settings.issuer(tenant.id)
        let paths = turn.profile.paths
        let scopes: [JSON] = ["openid", "email", "profile", "offline_access"]
        var document = JSONObject([
            ("issuer", .string(issuer)),
            ("authorization_challenge_endpoint", .string(issuer + paths.challenge)),
            ("token_endpoint", .string(issuer + paths.token)),
            ("revocation_endpoint", .string(issuer + paths.revocation)),
            ("jwks_uri", .string(issuer + paths.jwks)),
            (turn.members.metadata.deviceCeremonyEndpoint, .string(issuer + paths.ceremony)),
            ("response_types_supported", ["code"]),
            ("grant_types_supported", ["authorization_code", "refresh_token"]),
            ("code_challenge_methods_supported", ["S256"]),
            ("token_endpoint_auth_methods_supported", .texts(authenticationMethods)),
            ("token_endpoint_auth_signing_alg_values_supported", .texts(ClientAssertion.algorithmNames)),
            ("revocation_endpoint_auth_methods_supported", .texts(authenticationMethods)),
            ("revocation_endpoint_auth_signing_alg_values_supported", .texts(ClientAssertion.algorithmNames)),
            ("dpop_signing_alg_values_supported", ["ES256"]),
            ("id_token_signing_alg_values_supported", ["ES256", "RS256"]),
            ("subject_types_supported", ["public"]),
            ("scopes_supported", .array(scopes)),
        ])
        if givesChallenges { document["challenge_endpoint"] = .string(issuer + paths.attestationChallenge) }
        if applicationsByAttestation > 0 {
            for name in [
                "client_attestation_signing_alg_values_supported",
                "client_attestation_pop_signing_alg_values_supported",
            ] {
                document[name] = ["ES256"]
            }
        }
        return .json(200, .object(document))
    }

    /// What the tenant's clients may be: under FAPI 2.0 none is public.
    private var authenticationMethods: [String] {
        switch tenant.profile {
        case .standard:
            ClientAuthentication.allCases.filter { !$0.isByAttestation || applicationsByAttestation > 0 }.map(
                \.rawValue)
        case .fapi2: [ClientAuthentication.privateKeyJWT.rawValue]
        }
    }

    /// The key set.
    ///
    /// The RSA key is in it once an application wants RS256: making one takes a while.
    func keySet() -> PendingReply {
        var reply = PendingReply.empty(200)
        reply.fields.append("Content-Type", "application/jwk-set+json")
        reply.body = .keySet(withRSA: applicationsWithRS256 > 0)
        return reply
    }
}
