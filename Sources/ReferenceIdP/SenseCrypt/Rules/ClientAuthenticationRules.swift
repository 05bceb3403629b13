import Crypto
import Encoding
import JOSE
import Profiles

/// A client that is who it says it is; its assertion, if it needed one, is still to be used up.
struct AuthenticatedClient: Sendable {
    let application: Application
    let assertion: ClientAssertion?
    /// What an attester says of it, where it authenticates by that.
    var attestation: ClientAttestation?
}

extension Realm {
    /// The application a request comes from, authenticated as it is registered.
    ///
    /// The first of all checks, and one that leaves no trace: whoever fails it learns nothing else. The assertion's
    /// `jti` is used up only by ``firstUse(of:_:)-(AuthenticatedClient,_)``, behind the DPoP proof, so that a
    /// `use_dpop_nonce` costs no assertion.
    func authenticated(_ claim: ClientClaim, _ turn: Turn) throws(Refusal) -> AuthenticatedClient {
        let application = try client(claim.id, turn)
        if isByAttestation(application) {
            let attestation = try attested(claim, as: application, turn)
            return AuthenticatedClient(application: application, assertion: nil, attestation: attestation)
        }
        switch (isConfidential(application), claim.credentials) {
        case (false, .none): return AuthenticatedClient(application: application, assertion: nil)
        case (true, .assertion(let assertion)):
            if let fault = fault(of: assertion, by: application, turn) { throw Refusal(fault, turn) }
            return AuthenticatedClient(application: application, assertion: assertion)
        case (true, .none):
            try refuse(CredentialFault("missing", expected: "client_assertion", actual: "nothing"), turn)
        case (true, .unusable(let fault)): try refuse(fault, turn)
        case (false, .assertion), (false, .unusable):
            let expected = "a public client's client_id alone"
            try refuse(CredentialFault("unexpected", expected: expected, actual: "an assertion"), turn)
        }
        return AuthenticatedClient(application: application, assertion: nil)
    }

    private func refuse(_ fault: CredentialFault, _ turn: Turn) throws(Refusal) {
        guard !skips(ruleNamed: fault.rule) else { return }
        throw Refusal(fault, turn)
    }

    /// A fault, unless its rule is switched off.
    private func unless(_ rule: RuleSwitch, _ fault: CredentialFault?) -> CredentialFault? {
        skips(rule) ? nil : fault
    }

    /// Whether a client must prove who it is: under FAPI 2.0, whatever it is registered as.
    func isConfidential(_ application: Application) -> Bool {
        application.authentication != .none || tenant.profile == .fapi2
    }

    /// Whether an attester vouches for a client; under FAPI 2.0 none may.
    func isByAttestation(_ application: Application) -> Bool {
        application.authentication.isByAttestation && tenant.profile != .fapi2
    }

    /// What is wrong with an assertion, or nil (RFC 7523 section 3; FAPI 2.0 section 5.3.2.1).
    private func fault(
        of assertion: ClientAssertion, by application: Application, _ turn: Turn
    ) -> CredentialFault? {
        unless(.assertionSignature, signatureFault(assertion, application))
            ?? unless(.assertionIssuer, nameFault("iss", assertion.issuer, application))
            ?? unless(.assertionSubject, nameFault("sub", assertion.subject, application))
            ?? unless(.assertionAudience, audienceFault(assertion, turn))
            ?? unless(.assertionIssuedAt, aheadFault("iat", assertion.issuedAt, turn))
            ?? unless(.assertionNotBefore, aheadFault("nbf", assertion.notBefore, turn))
            ?? unless(.assertionExpiry, expiryFault(assertion, turn))
    }

    private func signatureFault(_ assertion: ClientAssertion, _ application: Application) -> CredentialFault? {
        guard case .good(let key) = assertion.signature else {
            return CredentialFault(
                "signature", expected: "a signature of the client's key", actual: "another signature")
        }
        guard application.clientKeys?.entries.contains(where: { $0.key == key }) ?? false else {
            return CredentialFault("kid", expected: "a registered key", actual: "one withdrawn a moment ago")
        }
        return nil
    }

    private func nameFault(_ claim: String, _ name: String, _ application: Application) -> CredentialFault? {
        name.utf8.elementsEqual(application.clientID.utf8)
            ? nil : CredentialFault(claim, expected: application.clientID, actual: name)
    }

    /// The issuer, as a string, and nothing else: an endpoint's URL or a list lets another server's endpoint collect
    /// assertions that are good here.
    private func audienceFault(_ assertion: ClientAssertion, _ turn: Turn) -> CredentialFault? {
        let wanted = turn.settings.issuer(tenant.id)
        guard let audience = assertion.audience.string else {
            return CredentialFault("aud", expected: "\(wanted), as a string", actual: assertion.audience.kind)
        }
        return audience.utf8.elementsEqual(wanted.utf8)
            ? nil : CredentialFault("aud", expected: wanted, actual: audience)
    }

    private func aheadFault(_ claim: String, _ instant: Instant?, _ turn: Turn) -> CredentialFault? {
        let (now, ahead) = (turn.now, turn.profile.windows.clientAssertionAhead)
        guard let instant, instant > now.adding(seconds: ahead) else { return nil }
        return CredentialFault(
            claim, expected: "at most \(ahead) s ahead", actual: "\(instant.seconds(since: now)) s ahead")
    }

    private func expiryFault(_ assertion: ClientAssertion, _ turn: Turn) -> CredentialFault? {
        let now = turn.now
        guard now < assertion.expiresAt else {
            return CredentialFault(
                "exp", expected: "an assertion in time",
                actual: "\(now.seconds(since: assertion.expiresAt)) s too late")
        }
        let longest = turn.profile.lifetimes.clientAssertion
        let begins = assertion.issuedAt ?? now
        guard assertion.expiresAt <= begins.adding(seconds: longest) else {
            let actual = "\(assertion.expiresAt.seconds(since: begins)) s"
            return CredentialFault("exp", expected: "a life of at most \(longest) s", actual: actual)
        }
        return nil
    }

    /// Uses up an assertion, for every endpoint at once and for as long as it could be sent again.
    mutating func firstUse(of client: AuthenticatedClient, _ turn: Turn) throws(Refusal) {
        if let attestation = client.attestation { try firstUse(of: attestation, turn) }
        guard let assertion = client.assertion else { return }
        let isNew = assertions.insert(
            jkt: storedHash(client.application.clientID), jti: assertion.jti, expires: assertion.expiresAt,
            now: turn.now)
        guard !isNew, !skips(.assertionOnce) else { return }
        throw Refusal(CredentialFault("jti", expected: "an identifier used once", actual: "a used one"), turn)
    }
}

extension Refusal {
    /// The refusal of a client's credentials: which rule they broke is for the finding alone.
    fileprivate init(_ fault: CredentialFault, _ turn: Turn) {
        self.init(
            turn.errors.invalidClient, rule: fault.rule, expected: fault.expected, actual: fault.actual,
            detail: "client authentication failed")
    }
}
