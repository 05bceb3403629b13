import Profiles

extension Realm {
    /// The application a request names.
    func client(_ clientID: String, _ turn: Turn) throws(Refusal) -> Application {
        guard let application = applications[clientID] ?? (skips(.clientKnown) ? firstOptedIn : nil) else {
            throw Refusal(
                turn.errors.invalidClient, rule: "client.known", expected: "a client of the tenant",
                actual: "another client id")
        }
        return application
    }

    /// An application with in-app sign-in allowed, for where nobody asks which.
    private var firstOptedIn: Application? {
        applications.page(after: nil, limit: 64).lazy.map(\.value).first(where: \.allowsFirstParty)
    }

    /// The three switches and the redirect URI, in the order of the description.
    ///
    /// Checked on every call, so that withdrawing any of them stops the feature at once.
    func preconditions(of application: Application, _ turn: Turn) throws(Refusal) {
        for rule in FirstPartyRule.allCases where !rule.holds(tenant: tenant, application: application) {
            if skips(ruleNamed: "client.\(rule.rawValue)") { continue }
            throw Refusal(
                turn.errors.unauthorizedClient, rule: "client.\(rule.rawValue)", expected: rule.wanted,
                actual: "not so", detail: "in-app sign-in is not enabled for this client")
        }
    }

    /// Whether a user who exists may sign in to a client; nil for one who does not exist.
    func userWhoMaySignIn(_ userID: String, to clientID: String) -> User? {
        guard let user = users[userID], user.maySignIn(to: clientID) else { return nil }
        return user
    }
}

/// What must hold of a tenant and an application for in-app sign-in.
enum FirstPartyRule: String, CaseIterable, Sendable {
    case tenantApp = "tenant_app"
    case dpop
    case noCertificateBinding = "no_certificate_binding"
    case optIn = "opt_in"
    case redirectURI = "redirect_uri"

    func holds(tenant: Tenant, application: Application) -> Bool {
        switch self {
        case .tenantApp: tenant.runsOwnApp
        case .dpop: application.requireDPoP
        case .noCertificateBinding: !application.certificateBoundTokens
        case .optIn: application.firstPartyChallenge
        case .redirectURI: !application.redirectURIs.isEmpty
        }
    }

    var wanted: String {
        switch self {
        case .tenantApp: "a tenant that runs its own app"
        case .dpop: "an application that requires DPoP proofs"
        case .noCertificateBinding: "an application that does not bind tokens to a certificate"
        case .optIn: "an application with in-app sign-in allowed"
        case .redirectURI: "an application with a redirect URI"
        }
    }

    /// The code of a save that breaks the rule; opting out breaks none.
    func saveRule(_ names: SenseCryptProfile.SaveRules) -> String? {
        switch self {
        case .tenantApp: names.requiresTenantApp
        case .dpop: names.requiresDpop
        case .noCertificateBinding: names.conflictsWithMtls
        case .optIn: nil
        case .redirectURI: names.requiresRedirectUri
        }
    }
}
