import Encoding
import Profiles

extension SenseCryptIdP {
    func listTenants(_ call: ManagementCall) throws(Refusal) -> PendingReply {
        let (after, limit) = try call.page(limit: settings.profile.limits.page)
        return listing("tenants", realms.page(after: after, limit: limit), limit: limit) { $0.tenant.publicJSON }
    }

    mutating func createTenant(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let id = try call.fields.requiredText("id", .tenantID)
        var tenant = newTenant(id: id, name: id)
        try tenant.apply(&call.fields, turn)
        try tenant.keepsFAPIRules(turn)
        guard realms[id] == nil else {
            throw .problem(409, "conflict", "the tenant exists", field: "id", rule: "unique")
        }
        add(tenant, &turn)
        return .json(201, tenant.publicJSON)
    }

    /// Turning `runs_own_app` off is allowed while applications are opted in: it stops the feature at once.
    mutating func changeTenant(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        var fields = call.fields
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            var tenant = realm.tenant
            try tenant.apply(&fields, turn)
            try tenant.keepsFAPIRules(turn)
            if tenant.profile != realm.tenant.profile { try realm.everyApplicationFits(tenant, turn) }
            realm.save(tenant, &turn)
            return .json(200, tenant.publicJSON)
        }
    }

    mutating func deleteTenant(_ call: ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let realm = try realm(call)
        for (kind, key) in realm.recordKeys { turn.forget(kind, [key]) }
        turn.forget(.tenant, [realm.tenant.id])
        realms[realm.tenant.id] = nil
        noteRulesOff(realm.tenant.id)
        return .empty(204)
    }

    mutating func changePolicy(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        var fields = call.fields
        let mostReplacements = Int64(settings.profile.limits.replacements)
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            var tenant = realm.tenant
            try tenant.policy.apply(&fields, mostReplacements: mostReplacements)
            try tenant.keepsFAPIRules(turn)
            realm.save(tenant, &turn)
            return .json(200, tenant.policy.json)
        }
    }

    func readInbox(_ call: ManagementCall) throws(Refusal) -> PendingReply {
        let address = call.query["address"].map(AddressKey.of)
        let mails = try realm(call).inbox.mails(to: address).suffix(settings.profile.limits.page)
        return .json(200, ["mails": .array(mails.map(\.json))])
    }
}

extension Tenant {
    /// The tenant as the management API shows it.
    var publicJSON: JSON {
        .object([
            ("id", .string(id)), ("name", .string(name)), ("profile", .string(profile.rawValue)),
            ("runs_own_app", .bool(runsOwnApp)), ("self_signup", .bool(selfSignup)),
            ("attestation_mode", .string(attestationMode.rawValue)), ("attestation", attestationJSON),
            ("pki_enabled", .bool(pki.enabled)), ("pki_classes", .texts(pki.classes)),
        ])
    }

    fileprivate mutating func apply(_ fields: inout ManagementFields, _ turn: Turn) throws(Refusal) {
        name = try fields.text("name", .name) ?? name
        profile = try fields.word("profile") ?? profile
        runsOwnApp = try fields.bool("runs_own_app") ?? runsOwnApp
        selfSignup = try fields.bool("self_signup") ?? selfSignup
        attestationMode = try fields.word("attestation_mode") ?? attestationMode
        try applyAttestation(&fields, limit: turn.profile.limits.trustAnchors)
        pki.enabled = try fields.bool("pki_enabled") ?? pki.enabled
        // Any word: a tenant may have classes that a phone lacks.
        pki.classes = try fields.texts("pki_classes", .word) ?? pki.classes
        try fields.end()
    }
}

extension Policy {
    fileprivate mutating func apply(_ fields: inout ManagementFields, mostReplacements: Int64) throws(Refusal) {
        nonceOnStart = try fields.bool("nonce_on_start") ?? nonceOnStart
        nonceAtResource = try fields.bool("nonce_at_resource") ?? nonceAtResource
        sessionLifetime = try fields.integer("session_lifetime", in: 1...3600) ?? sessionLifetime
        codeLifetime = try fields.integer("code_lifetime", in: 1...600) ?? codeLifetime
        maxReplacements = try fields.integer("max_replacements", in: 0...mostReplacements) ?? maxReplacements
        rateLimits = try fields.word("rate_limits") ?? rateLimits
        try fields.end()
    }
}

extension Mail {
    var json: JSON {
        .object([
            ("at", .int(at.seconds)), ("address", .string(address)), ("subject", .string(subject)),
            ("code", code.map(JSON.string) ?? .null),
        ])
    }
}
