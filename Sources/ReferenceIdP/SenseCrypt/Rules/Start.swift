import Encoding
import Profiles

extension Realm {
    /// Call 1: opens a session, the same to look at whoever the hint names.
    mutating func start(_ request: StartRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let client = try authenticated(request.client, turn)
        let application = client.application
        try preconditions(of: application, turn)
        // In the combined mode a nonce is all that dates the client's proof.
        let needsNonce = tenant.policy.nonceOnStart || client.application.authentication == .attestationWithDPoP
        let proof = try accepted(request.proof, nonce: needsNonce ? .required : .optional, turn)
        try sameInstance(client, proof, turn)
        try announcedKey(request.dpopJKT, is: proof, turn)
        try scopes(request.scope, grantedTo: application, turn)
        try resource(request.resource, grantedTo: application, turn)
        let evidence = try attested(by: request.attestation, of: .start(jkt: proof.jkt), &turn)
        try firstUse(of: client, turn)
        try firstUse(of: proof, turn)
        try countStart(of: application, hint: request.loginHint, turn)
        take(evidence, &turn)
        return openSession(request, client, proof, &turn)
    }

    /// RFC 9449 section 10: a `dpop_jkt` that names another key than the proof's is an attack or a bug.
    private func announcedKey(_ jkt: String?, is proof: AcceptedProof, _ turn: Turn) throws(Refusal) {
        guard let jkt, jkt != proof.jkt, !skips(.startAnnouncedKey) else { return }
        throw Refusal(
            turn.errors.invalidDpopProof, rule: "start.dpop_jkt", expected: "the thumbprint of the proof's key",
            actual: "another key")
    }

    private func scopes(_ asked: [String], grantedTo application: Application, _ turn: Turn) throws(Refusal) {
        let unknown = asked.first { !application.scopes.contains($0) }
        guard !asked.isEmpty, unknown == nil || skips(.startScope) else {
            throw Refusal(
                turn.errors.invalidScope, rule: "start.scope",
                expected: application.scopes.joined(separator: " "), actual: Clipped.text(unknown ?? "no scope"))
        }
    }

    private func resource(_ asked: String?, grantedTo application: Application, _ turn: Turn) throws(Refusal) {
        guard let asked, !application.resources.contains(asked), !skips(.startResource) else { return }
        throw Refusal(
            turn.errors.invalidTarget, rule: "start.resource", expected: "a resource of the application",
            actual: Clipped.text(asked))
    }

    private mutating func openSession(
        _ request: StartRequest, _ client: AuthenticatedClient, _ proof: AcceptedProof, _ turn: inout Turn
    ) -> PendingReply {
        let application = client.application
        let handle = turn.secret()
        let expiresAt = turn.now.adding(seconds: tenant.policy.sessionLifetime)
        let session = Session(
            key: storedHash(handle), clientID: application.clientID, jkt: proof.jkt, scope: request.scope,
            resource: request.resource, nonce: request.nonce, codeChallenge: request.codeChallenge,
            ceremonyID: turn.identifier(), ceremonyChallenge: turn.secret(), openedAt: turn.now,
            expiresAt: expiresAt, forgottenAt: expiresAt.adding(seconds: turn.profile.lifetimes.linger),
            subject: subject(ofHint: request.loginHint, application), permit: permit(of: application),
            instance: client.attestation?.instance)
        save(session, &turn)
        let name = turn.members
        var body = JSONObject([
            ("error", .string(turn.errors.insufficientAuthorization.code)),
            ("auth_session", .string(handle)),
            ("expires_in", .int(tenant.policy.sessionLifetime)),
            (
                name.startAnswer.ceremony,
                .object([
                    (name.ceremony.id, .string(session.ceremonyID)),
                    (name.ceremony.challenge, .string(session.ceremonyChallenge)),
                ])
            ),
        ])
        if skips(.startDecoy), session.subject == .decoy { body["error_description"] = "nobody here has this address" }
        return .json(turn.errors.insufficientAuthorization.status, .object(body))
    }

    /// Whom a hint names.
    ///
    /// A hint that names nobody who can sign in makes a decoy, after the same lookups.
    private func subject(ofHint hint: String?, _ application: Application) -> Session.Subject {
        guard let hint else { return .anyone }
        let userID = usersByAddress[AddressKey.of(hint)] ?? ""
        guard let user = userWhoMaySignIn(userID, to: application.clientID) else { return .decoy }
        return .user(user.id)
    }
}
