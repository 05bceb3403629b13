import Crypto
import Encoding
import Profiles

extension Realm {
    /// Call 3: takes the proof of a match and gives a code.
    ///
    /// Nothing is touched before the DPoP proof and its nonce were accepted. The same ceremony proof again
    /// is the phone telling that an answer was lost, see ``repeatCompletion(_:_:_:_:)``.
    mutating func complete(_ request: CompletionRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let client = try authenticated(request.client, turn)
        try preconditions(of: client.application, turn)
        let proof = try accepted(request.proof, nonce: .required, turn)
        try sameInstance(client, proof, turn)
        try firstUse(of: client, turn)
        try firstUse(of: proof, turn)
        let session = try session(of: request, openedBy: proof, turn)
        guard session.instance == client.attestation?.instance else {
            throw Refusal(
                turn.errors.invalidSession, rule: "completion.instance",
                expected: "the client instance that opened the session", actual: "another")
        }
        if case .completed(let completion) = session.progress {
            try sameProof(request, completion, turn)
            try ceremony(of: request, fits: session, turn)
            _ = try device(boundTo: session, request, turn)
            return try repeatCompletion(request, session, completion, &turn)
        }
        try ceremony(of: request, fits: session, turn)
        let device = try device(boundTo: session, request, turn)
        try signature(of: request, turn)
        try generation(of: request, isCurrent: device, turn)
        return completeFirst(request, session, device, &turn)
    }

    /// The session: known, of this client, opened by this DPoP key, alive.
    ///
    /// One answer for all four.
    private func session(
        of request: CompletionRequest, openedBy proof: AcceptedProof, _ turn: Turn
    ) throws(Refusal) -> Session {
        let session = sessions[request.sessionKey] ?? sessionStandIn(for: request)
        let ended = session.flatMap { end(of: $0, at: turn.now) }
        let faults: [(rule: RuleSwitch, expected: String, broken: Bool)] = [
            (.completionSession, "a session of this tenant", session == nil),
            (.completionClient, "the client that opened the session", session?.clientID != request.client.id),
            (.completionProofKey, "the DPoP key that opened the session", session?.jkt != proof.jkt),
        ]
        let fault = faults.first { $0.broken && !skips($0.rule) }
        if fault == nil, ended == nil, let session { return session }
        throw Refusal(
            turn.errors.invalidSession, rule: (fault?.rule ?? .sessionLive).rawValue,
            expected: fault?.expected ?? "a live session", actual: ended ?? "another or none")
    }

    private func sameProof(
        _ request: CompletionRequest, _ completion: Completion, _ turn: Turn
    ) throws(Refusal) {
        guard request.ceremony.proofHash != completion.proofHash, !skips(.completionRepeat) else { return }
        throw Refusal(
            turn.errors.invalidSession, rule: "completion.repeat",
            expected: "the proof that completed the session, byte for byte", actual: "another proof")
    }

    /// Whether the ceremony proof belongs to this session, this device and this face token.
    private func ceremony(
        of request: CompletionRequest, fits session: Session, _ turn: Turn
    ) throws(Refusal) {
        let ceremony = request.ceremony
        let faceTokenHash = Base64URL.encode(SHA256.hash(request.faceToken))
        let time = timeFault(ceremony, session, turn)
        let kid = session.deviceKey == ceremony.kid ? nil : "another or none"
        let faults: [(rule: RuleSwitch, expected: String, actual: String?)] = [
            (.completionKey, "the device the session is bound to", kid),
            (
                .completionCeremony, "the ceremony of the session",
                ceremony.ceremonyID == session.ceremonyID ? nil : "another"
            ),
            (
                .completionChallenge, "its challenge",
                ceremony.ceremonyChallenge == session.ceremonyChallenge ? nil : "another"
            ),
            (.completionHandle, "the hash of auth_session", ceremony.sessionKey == session.key ? nil : "another"),
            (.completionJKT, "the DPoP key of the session", ceremony.jkt == session.jkt ? nil : "another"),
            (.completionFaceToken, "the hash of face_token", ceremony.faceTokenHash == faceTokenHash ? nil : "another"),
            (.completionTime, "between the session's start and now", time),
        ]
        for (rule, expected, actual) in faults {
            guard let actual, !skips(rule) else { continue }
            throw Refusal(
                turn.errors.invalidCeremonyProof, rule: rule.rawValue, expected: expected, actual: actual)
        }
    }

    /// The device the session is bound to, while it is enrolled and its user may sign in.
    private func device(
        boundTo session: Session, _ request: CompletionRequest, _ turn: Turn
    ) throws(Refusal) -> EnrolledDevice {
        // Bound to none, and that rule is off: the device that signed will do.
        let kid = session.deviceKey ?? (skips(.completionKey) ? request.ceremony.kid : "")
        guard let device = devices[kid] ?? removedDeviceStandIn(in: session, request),
            session.subject == .user(device.userID) || skips(.completionKey)
        else {
            throw Refusal(
                turn.errors.accessDenied, rule: "completion.device", expected: "an enrolled device",
                actual: "a removed one")
        }
        guard userWhoMaySignIn(device.userID, to: session.clientID) != nil || skips(.completionAccess) else {
            throw Refusal(
                turn.errors.accessDenied, rule: "completion.access", expected: "a user who may sign in",
                actual: "one who may not any more")
        }
        guard !device.faceToken.passwordProtected else {
            throw Refusal(
                turn.errors.accessDenied, rule: "completion.password", expected: "a face token without a password",
                actual: "an imported one with a password")
        }
        return device
    }

    private func signature(of request: CompletionRequest, _ turn: Turn) throws(Refusal) {
        guard request.ceremony.signature != .good, !skips(.completionSignature) else { return }
        if request.ceremony.signature == .unknownKey, skips(.completionDevice) || skips(.completionKey) { return }
        throw Refusal(
            turn.errors.invalidCeremonyProof, rule: "completion.signature", expected: "a signature of the device key",
            actual: "another signature")
    }

    private func generation(
        of request: CompletionRequest, isCurrent device: EnrolledDevice, _ turn: Turn
    ) throws(Refusal) {
        guard request.ceremony.generation != device.faceToken.generation, !skips(.completionGeneration) else { return }
        throw Refusal(
            turn.errors.faceTokenStale, rule: "completion.generation",
            expected: "generation \(device.faceToken.generation)", actual: "\(request.ceremony.generation)")
    }

    /// Gives a device its next face token, and every other device of a user who shares one.
    private mutating func rotate(_ device: EnrolledDevice, to token: FaceTokenRecord, _ turn: inout Turn) {
        let user = users[device.userID]
        let kids = user?.sharesFaceToken == true ? user?.devices ?? [] : [device.kid]
        for kid in kids {
            guard var holder = devices[kid] else { continue }
            holder.faceToken = token
            save(holder, &turn)
        }
    }

    /// Rotates the face token, completes the session and gives its first code, in one step.
    private mutating func completeFirst(
        _ request: CompletionRequest, _ session: Session, _ device: EnrolledDevice, _ turn: inout Turn
    ) -> PendingReply {
        rotate(
            device,
            to: FaceTokenRecord(
                sealed: request.faceToken, generation: device.faceToken.generation + 1, passwordProtected: false),
            &turn)
        update(session: session.key, &turn) { session in
            session.deviceKey = device.kid
            session.subject = .user(device.userID)
        }
        let completion = Completion(
            proofHash: request.ceremony.proofHash, codeHash: "", replacements: 0, authTime: turn.now)
        return giveCode(session, device.userID, completion, &turn)
    }

    /// The code again while it is good; else a replacement, and nothing left of what the old one issued.
    private mutating func repeatCompletion(
        _ request: CompletionRequest, _ session: Session, _ completion: Completion, _ turn: inout Turn
    ) throws(Refusal) -> PendingReply {
        if let code = codes[completion.codeHash], code.progress == .fresh, turn.now < code.expiresAt,
            !skips(.completionSameCode)
        {
            return codeReply(codeText(session, number: completion.replacements))
        }
        guard completion.replacements < tenant.policy.maxReplacements || skips(.completionReplacements) else {
            throw Refusal(
                turn.errors.invalidSession, rule: "completion.replacements",
                expected: "at most \(tenant.policy.maxReplacements) replacement codes", actual: "one more")
        }
        withdraw(codeHash: completion.codeHash, &turn)
        if let grantID = completion.grantID, !skips(.completionReplacementRevokes) { revoke(grantID: grantID, &turn) }
        var completion = completion
        completion.replacements += 1
        completion.grantID = nil
        if skips(.completionReplacement) {
            update(session: session.key, &turn) { $0.progress = .completed(completion) }
            return codeReply(codeText(session, number: 0))
        }
        guard case .user(let userID) = session.subject else { preconditionFailure("completed, and yet nobody's") }
        return giveCode(session, userID, completion, &turn)
    }

    private mutating func giveCode(
        _ session: Session, _ userID: String, _ completion: Completion, _ turn: inout Turn
    ) -> PendingReply {
        let text = codeText(session, number: completion.replacements)
        var completion = completion
        completion.codeHash = storedHash(text)
        let expiresAt = turn.now.adding(seconds: tenant.policy.codeLifetime)
        let code = AuthorizationCode(
            sessionKey: session.key, userID: userID, clientID: session.clientID, jkt: session.jkt,
            codeChallenge: session.codeChallenge, scope: session.scope, resource: session.resource,
            nonce: session.nonce, authTime: completion.authTime, expiresAt: expiresAt,
            forgottenAt: expiresAt.adding(seconds: turn.profile.lifetimes.linger),
            permit: session.permit, instance: session.instance)
        save(code, hash: completion.codeHash, &turn)
        update(session: session.key, &turn) { $0.progress = .completed(completion) }
        return codeReply(text)
    }

    /// The nth code of a session.
    ///
    /// Drawn from a secret, so it need not be stored to be said again.
    private func codeText(_ session: Session, number: Int64) -> String {
        Base64URL.encode(HMAC.sha256(key: codeSecret, message: Array("code \(number) of \(session.key)".utf8)))
    }

    private func codeReply(_ code: String) -> PendingReply { .json(200, ["authorization_code": .string(code)]) }

    /// Ends a code that was not redeemed.
    mutating func withdraw(codeHash: String, _ turn: inout Turn) {
        guard codes[codeHash]?.progress == .fresh else { return }
        update(code: codeHash, &turn) { $0.progress = .withdrawn }
    }
}
