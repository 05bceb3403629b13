import Crypto
import Profiles

extension SenseCryptIdP {
    /// The tenants every IdP begins with: `acme` with self-signup, `globex` without, and `fapi`.
    mutating func plantStandardSeed(_ turn: inout Turn) {
        plant("acme", name: "Acme", clientID: "app_demo", selfSignup: true, &turn)
        plant("globex", name: "Globex", clientID: "app_globex", selfSignup: false, &turn)
        plant("fapi", name: "Fapi", clientID: "app_fapi", selfSignup: false, profile: .fapi2, &turn)
    }

    /// A confidential application is planted without keys, since nobody could hold their private halves: it can do
    /// nothing until some are registered.
    private mutating func plant(
        _ id: String, name: String, clientID: String, selfSignup: Bool, profile: Tenant.Profile = .standard,
        _ turn: inout Turn
    ) {
        var tenant = newTenant(id: id, name: name)
        tenant.profile = profile
        tenant.selfSignup = selfSignup
        tenant.attestation = .seeded
        add(tenant, &turn)
        var application = newApplication(clientID: clientID, name: "\(name) app")
        if profile == .fapi2 {
            application.authentication = .privateKeyJWT
            // FAPI 2.0, 5.3.2.1: no rotation, since the client's authentication protects the token already.
            application.rotatesRefreshTokens = false
        }
        application.firstPartyChallenge = true
        application.redirectURIs = ["https://\(id).example/app"]
        application.scopes = ["openid", "email", "profile", "offline_access"]
        application.resources = [settings.apiAudience(id)]
        realms.update(id) { $0.save(application, &turn) }
    }

    /// A tenant with nothing but its defaults.
    func newTenant(id: String, name: String) -> Tenant {
        let profile = settings.profile
        return Tenant(
            id: id, name: name, pki: FacePKIOffer(classes: profile.facePki.classes),
            policy: Policy(
                sessionLifetime: profile.lifetimes.session, codeLifetime: profile.lifetimes.code,
                maxReplacements: Int64(profile.limits.replacements), rateLimits: profile.rateLimits.mode))
    }

    /// An application with nothing but its defaults: not opted in.
    mutating func newApplication(clientID: String, name: String) -> Application {
        defer { nextSerial += 1 }
        return Application(clientID: clientID, serial: nextSerial, name: name)
    }

    /// Puts a tenant up, without users and applications.
    mutating func add(_ tenant: Tenant, _ turn: inout Turn) {
        var realm = Realm(tenant: tenant, profile: settings.profile, codeSecret: turn.entropy.bytes(32))
        realm.save(tenant, &turn)
        turn.changes.append(realm.codeSecretChange)
        realms[tenant.id] = realm
    }
}
