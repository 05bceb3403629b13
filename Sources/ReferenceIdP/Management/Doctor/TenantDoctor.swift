import Encoding
import Profiles

extension Realm {
    /// What is misconfigured about the tenant and its applications.
    func diagnoses(_ settings: IdPSettings, at now: Instant) -> [Diagnosis] {
        let (profile, trust) = (settings.profile, settings.attestationTrust)
        let optedIn = applications.page(after: nil, limit: .max).map(\.value).filter(\.firstPartyChallenge)
        guard !optedIn.isEmpty else {
            return ruleDiagnoses() + [
                diagnosis(
                    .notice, "tenant.opt_in", "no application of the tenant has in-app sign-in allowed",
                    remedy: "set first_party_challenge_enabled on the application of the tenant's app")
            ]
        }
        return ruleDiagnoses() + attestationDiagnoses(optedIn) + evidenceDiagnoses(trust)
            + optedIn.flatMap { diagnoses(of: $0, profile) }
            + peopleDiagnoses(at: now)
            + policyDiagnoses()
    }

    func diagnosis(
        _ severity: Diagnosis.Severity, _ rule: String, client: String? = nil, _ problem: String, remedy: String
    ) -> Diagnosis {
        Diagnosis(severity, rule, tenant: tenant.id, clientID: client, problem, remedy: remedy)
    }

    /// Rules are switched off to see a test fail, and must not stay off.
    private func ruleDiagnoses() -> [Diagnosis] {
        guard !tenant.rulesOff.isEmpty else { return [] }
        return [
            diagnosis(
                .error, "rules.off", "rules are not applied: \(tenant.rulesOff.names.joined(separator: ", "))",
                remedy: "PUT /manage/tenants/\(tenant.id)/rules with an empty off")
        ]
    }

    /// The description's own diagnosis: a warning while an opted-in application's tenant is not at enforce.
    private func attestationDiagnoses(_ optedIn: [Application]) -> [Diagnosis] {
        guard tenant.attestationMode != .enforce else { return [] }
        let remedy =
            tenant.attestationMode == .off
            ? "set attestation_mode to audit, look at the findings, then to enforce"
            : "set attestation_mode to enforce before the app ships"
        return optedIn.map { application in
            diagnosis(
                .warning, "tenant.attestation", client: application.clientID,
                "in-app sign-in is allowed and attestation_mode is \(tenant.attestationMode.rawValue): any app that knows "
                    + "the client_id can open sessions",
                remedy: remedy)
        }
    }

    private func diagnoses(of application: Application, _ profile: SenseCryptProfile) -> [Diagnosis] {
        let broken = FirstPartyRule.allCases.filter { !$0.holds(tenant: tenant, application: application) }
        return broken.map { rule in
            diagnosis(
                .error, "application.\(rule.rawValue)", client: application.clientID,
                "in-app sign-in is allowed, and yet stopped: it needs \(rule.wanted)", remedy: rule.remedy)
        } + lifetimeDiagnoses(of: application, profile) + scopeDiagnoses(of: application)
    }

    private func lifetimeDiagnoses(of application: Application, _ profile: SenseCryptProfile) -> [Diagnosis] {
        let lifetime = application.accessTokenLifetime ?? profile.lifetimes.accessToken
        if lifetime <= Self.refreshMargin {
            return [
                diagnosis(
                    .warning, "application.access_token_lifetime", client: application.clientID,
                    "access tokens live \(lifetime) s and a phone renews them \(Self.refreshMargin) s before their end: "
                        + "it refreshes before every request",
                    remedy: "set access_token_lifetime well above \(Self.refreshMargin)")
            ]
        }
        guard lifetime > Self.longAccess else { return [] }
        return [
            diagnosis(
                .warning, "application.access_token_lifetime", client: application.clientID,
                "access tokens live \(lifetime) s: an API that checks them offline takes them that long after a revocation",
                remedy: "set access_token_lifetime to \(Self.longAccess) or less and ask for offline_access")
        ]
    }

    private func scopeDiagnoses(of application: Application) -> [Diagnosis] {
        guard !application.scopes.contains("openid") else { return [] }
        return [
            diagnosis(
                .warning, "application.scopes", client: application.clientID,
                "the application has no scope openid, which a sign-in without scopes asks for",
                remedy: "add openid to scopes")
        ]
    }

    private func peopleDiagnoses(at now: Instant) -> [Diagnosis] {
        if devices.isEmpty {
            guard tenant.selfSignup || tickets.entries.values.contains(where: { now < $0.expiresAt }) else {
                return [
                    diagnosis(
                        .warning, "tenant.no_way_in",
                        "nobody is enrolled, self-signup is off and there is no enrolment ticket",
                        remedy: "make a ticket: understudy idp ticket --email ADDRESS")
                ]
            }
            return [
                diagnosis(
                    .notice, "tenant.nobody_enrolled", "nobody is enrolled: every sign-in ends in notEnrolled",
                    remedy: "enrol a device with a ticket or by self-signup")
            ]
        }
        guard devices.values.allSatisfy(\.faceToken.passwordProtected) else { return [] }
        return [
            diagnosis(
                .warning, "tenant.password_protected",
                "every face token here is protected by a password, which in-app sign-in cannot ask for",
                remedy: "enrol the users on their phones, or import their face tokens without a password")
        ]
    }

    private func policyDiagnoses() -> [Diagnosis] {
        let policy = tenant.policy
        var found: [Diagnosis] = []
        if policy.sessionLifetime < Self.shortSession {
            found.append(
                diagnosis(
                    .warning, "policy.session_lifetime",
                    "a sign-in must be done within \(policy.sessionLifetime) s, three scans included",
                    remedy: "set session_lifetime to \(Self.shortSession) or more"))
        }
        if policy.codeLifetime > policy.sessionLifetime {
            found.append(
                diagnosis(
                    .warning, "policy.code_lifetime",
                    "codes live \(policy.codeLifetime) s and sessions \(policy.sessionLifetime) s: a lost token answer "
                        + "cannot be made up for once the session is over",
                    remedy: "set code_lifetime below session_lifetime; 60 is what the description says for FAPI"))
        }
        if policy.maxReplacements == 0 {
            found.append(
                diagnosis(
                    .warning, "policy.max_replacements",
                    "no replacement codes are given: a lost token answer costs a new sign-in",
                    remedy: "set max_replacements to 3"))
        }
        if policy.rateLimits == .off {
            found.append(
                diagnosis(
                    .notice, "policy.rate_limits", "rate limits are off",
                    remedy: "set rate_limits to described to meet what a tenant in production meets"))
        }
        return found
    }

    /// Seconds before its end at which a phone renews an access token.
    private static var refreshMargin: Int64 { 30 }
    /// Seconds an access token may live without a remark.
    private static var longAccess: Int64 { 3600 }
    /// Seconds three scans and four calls take a person.
    private static var shortSession: Int64 { 60 }
}

extension FirstPartyRule {
    /// What to do where the rule does not hold.
    fileprivate var remedy: String {
        switch self {
        case .tenantApp: "set runs_own_app on the tenant, once its app is registered"
        case .dpop: "set require_dpop on the application"
        case .noCertificateBinding: "unset tls_client_certificate_bound_access_tokens on the application"
        case .optIn: "set first_party_challenge_enabled on the application"
        case .redirectURI: "give the application a redirect URI; its app link does"
        }
    }
}
