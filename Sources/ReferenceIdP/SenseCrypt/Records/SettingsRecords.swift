import Encoding
import JOSE
import Profiles

extension Tenant: Recorded {
    var recordJSON: JSON {
        .object([
            ("id", .string(id)), ("name", .string(name)), ("profile", .string(profile.rawValue)),
            ("runs_own_app", .bool(runsOwnApp)), ("self_signup", .bool(selfSignup)),
            ("attestation_mode", .string(attestationMode.rawValue)),
            ("attestation", attestation.json), ("anchors", anchors.recordJSON),
            ("pki", ["enabled": .bool(pki.enabled), "classes": .texts(pki.classes)]), ("policy", policy.json),
            ("withdrawals", .int(withdrawals)), ("rules_off", .texts(rulesOff.names)),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        let rulesOff = reader.has("rules_off") ? try reader.texts("rules_off") : []
        let pki = try reader.nested("pki")
        let policy = try reader.nested("policy")
        self.init(
            id: try reader.text("id"), name: try reader.text("name"),
            profile: reader.has("profile") ? try reader.word("profile") : .standard,
            runsOwnApp: try reader.bool("runs_own_app"), selfSignup: try reader.bool("self_signup"),
            attestationMode: try reader.word("attestation_mode"),
            attestation: reader.has("attestation")
                ? try AttestationPolicy(try reader.nested("attestation"))
                : AttestationPolicy.ofOldRecords(reader.localID),
            anchors: reader.has("anchors") ? try TenantAnchors(try reader.nested("anchors")) : TenantAnchors(),
            pki: FacePKIOffer(enabled: try pki.bool("enabled"), classes: try pki.texts("classes")),
            policy: Policy(
                nonceOnStart: try policy.bool("nonce_on_start"), nonceAtResource: try policy.bool("nonce_at_resource"),
                sessionLifetime: try policy.integer("session_lifetime"),
                codeLifetime: try policy.integer("code_lifetime"),
                maxReplacements: try policy.integer("max_replacements"),
                rateLimits: policy.has("rate_limits") ? try policy.word("rate_limits") : .described),
            withdrawals: try reader.count("withdrawals"), rulesOff: Set(rulesOff.compactMap(RuleSwitch.init(rawValue:)))
        )
    }
}

extension Policy {
    /// The policy as the management API shows it.
    var json: JSON {
        .object([
            ("nonce_on_start", .bool(nonceOnStart)), ("nonce_at_resource", .bool(nonceAtResource)),
            ("session_lifetime", .int(sessionLifetime)), ("code_lifetime", .int(codeLifetime)),
            ("max_replacements", .int(maxReplacements)), ("rate_limits", .string(rateLimits.rawValue)),
        ])
    }
}

extension Application: Recorded {
    var recordJSON: JSON {
        var object = publicJSON
        object["serial"] = .int(serial)
        object["withdrawals"] = .int(withdrawals)
        return .object(object)
    }

    /// The application as the management API shows it.
    var publicJSON: JSONObject {
        JSONObject([
            ("client_id", .string(clientID)), ("name", .string(name)),
            ("token_endpoint_auth_method", .string(authentication.rawValue)),
            ("jwks", clientKeys?.json ?? .null), ("require_dpop", .bool(requireDPoP)),
            ("tls_client_certificate_bound_access_tokens", .bool(certificateBoundTokens)),
            ("first_party_challenge_enabled", .bool(firstPartyChallenge)), ("redirect_uris", .texts(redirectURIs)),
            ("scopes", .texts(scopes)), ("resources", .texts(resources)),
            ("access_token_lifetime", accessTokenLifetime.map(JSON.int) ?? .null),
            ("id_token_signed_response_alg", .string(idTokenAlgorithm.rawValue)),
            ("pki_tenant_scope", .bool(allowsTenantKeys)), ("refresh_token_rotation", .bool(rotatesRefreshTokens)),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            clientID: try reader.text("client_id"), serial: try reader.integer("serial"), name: try reader.text("name"),
            authentication: reader.has("token_endpoint_auth_method")
                ? try reader.word("token_endpoint_auth_method") : .none,
            clientKeys: reader.has("jwks") ? try reader.keys("jwks") : nil,
            requireDPoP: try reader.bool("require_dpop"),
            certificateBoundTokens: try reader.bool("tls_client_certificate_bound_access_tokens"),
            firstPartyChallenge: try reader.bool("first_party_challenge_enabled"),
            redirectURIs: try reader.texts("redirect_uris"), scopes: try reader.texts("scopes"),
            resources: try reader.texts("resources"),
            accessTokenLifetime: reader.has("access_token_lifetime")
                ? try reader.integer("access_token_lifetime") : nil,
            idTokenAlgorithm: try reader.word("id_token_signed_response_alg"),
            allowsTenantKeys: reader.has("pki_tenant_scope") ? try reader.bool("pki_tenant_scope") : false,
            rotatesRefreshTokens: try reader.bool("refresh_token_rotation"),
            withdrawals: try reader.count("withdrawals"))
    }
}

extension ServerClock: Recorded {
    var recordJSON: JSON {
        switch self {
        case .real: ["mode": "real"]
        case .offset(let seconds): ["mode": "offset", "seconds": .int(seconds)]
        case .frozen(let instant): ["mode": "frozen", "at": .int(instant.seconds)]
        }
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        switch try reader.text("mode") {
        case "offset": self = .offset(seconds: try reader.integer("seconds"))
        case "frozen": self = .frozen(at: Instant(seconds: try reader.integer("at")))
        default: self = .real
        }
    }
}
