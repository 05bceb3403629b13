import Encoding
import Profiles

extension SenseCryptIdP {
    func application(_ call: ManagementCall) throws(Refusal) -> Application {
        guard let application = try realm(call).applications[call["client"]] else {
            throw .problem(404, "not_found", "no such application")
        }
        return application
    }

    func listApplications(_ call: ManagementCall) throws(Refusal) -> PendingReply {
        let (after, limit) = try call.page(limit: settings.profile.limits.page)
        let page = try realm(call).applications.page(after: after, limit: limit)
        return listing("applications", page, limit: limit) { .object($0.publicJSON) }
    }

    mutating func createApplication(
        _ call: inout ManagementCall, _ turn: inout Turn
    ) throws(Refusal) -> PendingReply {
        let clientID = try call.fields.text("client_id", .clientID) ?? "app_" + turn.identifier()
        let tenant = try realm(call).tenant
        var application = newApplication(clientID: clientID, name: clientID)
        try application.apply(&call.fields, limits: settings.profile.limits)
        try application.keepsFirstPartyRules(of: tenant, turn)
        try application.keepsClientRules(of: tenant, turn)
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            guard realm.applications[clientID] == nil else {
                throw .problem(409, "conflict", "the application exists", field: "client_id", rule: "unique")
            }
            realm.save(application, &turn)
            return .json(201, .object(application.publicJSON))
        }
    }

    mutating func changeApplication(
        _ call: inout ManagementCall, _ turn: inout Turn
    ) throws(Refusal) -> PendingReply {
        var application = try application(call)
        try application.apply(&call.fields, limits: settings.profile.limits)
        let tenant = try realm(call).tenant
        try application.keepsFirstPartyRules(of: tenant, turn)
        try application.keepsClientRules(of: tenant, turn)
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            realm.save(application, &turn)
            return .json(200, .object(application.publicJSON))
        }
    }

    mutating func deleteApplication(_ call: ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let application = try application(call)
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            realm.removeApplication(application.clientID, &turn)
            return .empty(204)
        }
    }
}

extension Application {
    fileprivate mutating func apply(
        _ fields: inout ManagementFields, limits: SenseCryptProfile.Limits
    ) throws(Refusal) {
        name = try fields.text("name", .name) ?? name
        authentication = try fields.word("token_endpoint_auth_method") ?? authentication
        if fields.isNull("jwks") {
            clientKeys = nil
        } else {
            clientKeys = try fields.keys("jwks", limit: limits.clientKeys) ?? clientKeys
        }
        requireDPoP = try fields.bool("require_dpop") ?? requireDPoP
        certificateBoundTokens =
            try fields.bool("tls_client_certificate_bound_access_tokens") ?? certificateBoundTokens
        firstPartyChallenge = try fields.bool("first_party_challenge_enabled") ?? firstPartyChallenge
        redirectURIs = try fields.texts("redirect_uris", .redirectURI) ?? redirectURIs
        scopes = try fields.texts("scopes", .scope) ?? scopes
        resources = try fields.texts("resources", .uri) ?? resources
        if fields.isNull("access_token_lifetime") {
            accessTokenLifetime = nil
        } else {
            accessTokenLifetime = try fields.integer("access_token_lifetime", in: 1...86_400) ?? accessTokenLifetime
        }
        idTokenAlgorithm = try fields.word("id_token_signed_response_alg") ?? idTokenAlgorithm
        allowsTenantKeys = try fields.bool("pki_tenant_scope") ?? allowsTenantKeys
        rotatesRefreshTokens = try fields.bool("refresh_token_rotation") ?? rotatesRefreshTokens
        try fields.end()
    }

    /// A save that leaves the application opted in must leave every rule kept.
    fileprivate func keepsFirstPartyRules(of tenant: Tenant, _ turn: Turn) throws(Refusal) {
        guard firstPartyChallenge else { return }
        for rule in FirstPartyRule.allCases where !rule.holds(tenant: tenant, application: self) {
            guard let code = rule.saveRule(turn.profile.saveRules) else { continue }
            throw .problem(
                422, "first_party_rule", "in-app sign-in needs \(rule.wanted)", field: "first_party_challenge_enabled",
                rule: code)
        }
    }
}
