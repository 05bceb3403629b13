import Crypto
import Encoding
import Profiles

extension Realm {
    /// Self-signup: sends a code to an address.
    ///
    /// The answer is the same whoever the address names.
    mutating func signUp(_ request: SignupRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        try selfSignupIsOn(turn)
        let address = AddressKey.of(request.email)
        let code = turn.identifier()
        let isKnown = usersByAddress[address] != nil
        if !isKnown {
            let expiresAt = turn.now.adding(seconds: turn.profile.lifetimes.signupCode)
            save(
                SignupCode(email: request.email, codeHash: storedHash(code), expiresAt: expiresAt), address: address,
                &turn)
            let subject = "Your sign-up code for \(tenant.name)"
            deliver(Mail(at: turn.now, address: request.email, subject: subject, code: code), &turn)
        } else {
            let subject = "You have an account at \(tenant.name)"
            deliver(Mail(at: turn.now, address: request.email, subject: subject, code: nil), &turn)
        }
        return .json(202, isKnown && skips(.signupDecoy) ? ["error_description": "this address has an account"] : [:])
    }

    private func selfSignupIsOn(_ turn: Turn) throws(Refusal) {
        guard !tenant.selfSignup, !skips(.signupSwitch) else { return }
        throw Refusal(
            turn.errors.accessDenied, rule: "signup.switch", expected: "a tenant with self-signup",
            actual: "one without")
    }

    /// Registers a device key and its first face token, by the right of a ticket or of a mail code.
    ///
    /// The right is used up only by a registration that succeeds.
    mutating func enrol(_ request: EnrolmentRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        try time(of: request, turn)
        let evidence = try attested(by: request.attestation, of: .enrolment(kid: request.kid), &turn)
        let reply =
            switch request.right {
            case .ticket(let hash, let looksLikeOurs):
                try enrol(request, ticketHash: hash, looksLikeOurs: looksLikeOurs, &turn)
            case .mailCode(let address, let hash): try enrol(request, address: address, codeHash: hash, &turn)
            }
        take(evidence, &turn)
        return reply
    }

    private func time(of request: EnrolmentRequest, _ turn: Turn) throws(Refusal) {
        let windows = turn.profile.windows
        let age = turn.now.seconds - request.issuedAt.seconds
        guard age <= windows.enrollmentAge && -age <= windows.ceremonyAhead || skips(.enrollTime) else {
            throw Refusal(
                turn.errors.invalidRequest, rule: "enroll.iat",
                expected: "iat at most \(windows.enrollmentAge) s back and \(windows.ceremonyAhead) s ahead",
                actual: "\(age) s back", detail: "iat is outside the accepted window")
        }
    }

    private mutating func enrol(
        _ request: EnrolmentRequest, ticketHash: String, looksLikeOurs: Bool, _ turn: inout Turn
    ) throws(Refusal) -> PendingReply {
        let ticket = tickets[ticketHash] ?? ticketStandIn(looksLikeOurs: looksLikeOurs, turn)
        guard let ticket, turn.now < ticket.expiresAt, let user = users[ticket.userID] else {
            throw refusedRight("enroll.ticket", expected: "an unused ticket in time", turn)
        }
        try keyIsFree(request.kid, for: user.id, turn)
        try hasRoom(user, request.kid, turn)
        if !skips(.enrollOnce) {
            tickets.remove(ticketHash)
            turn.changes.append(RecordChange(kind: .ticket, key: key(ticketHash), value: nil))
        }
        return addDevice(request, to: user, holding: tokenInStore(for: user), &turn)
    }

    private mutating func enrol(
        _ request: EnrolmentRequest, address: String, codeHash: String, _ turn: inout Turn
    ) throws(Refusal) -> PendingReply {
        try selfSignupIsOn(turn)
        let mailed = signupCodes[address].flatMap { $0.codeHash == codeHash ? $0 : nil }
        guard let code = mailed ?? codeStandIn(address: address, turn), turn.now < code.expiresAt,
            usersByAddress[address] == nil
        else { throw refusedRight("enroll.code", expected: "an unused code of the address, in time", turn) }
        try keyIsFree(request.kid, for: nil, turn)
        removeSignupCode(address, &turn)
        let user = User(id: turn.entropy.uuid(), email: code.email, createdAt: turn.now)
        return addDevice(request, to: user, holding: nil, &turn)
    }

    private func refusedRight(_ rule: String, expected: String, _ turn: Turn) -> Refusal {
        Refusal(turn.errors.accessDenied, rule: rule, expected: expected, actual: "unknown, used or expired")
    }

    /// One key is one device of one user; the same user may enrol it anew.
    private func keyIsFree(_ kid: String, for userID: String?, _ turn: Turn) throws(Refusal) {
        guard let owner = devices[kid]?.userID, owner != userID, !skips(.enrollKey) else { return }
        throw Refusal(
            turn.errors.accessDenied, rule: "enroll.key", expected: "a key nobody else enrolled", actual: "a taken one")
    }

    private func hasRoom(_ user: User, _ kid: String, _ turn: Turn) throws(Refusal) {
        let limit = turn.profile.limits.devicesPerUser
        guard user.devices.count >= limit, !user.devices.contains(kid) else { return }
        throw Refusal(
            turn.errors.accessDenied, rule: "enroll.devices", expected: "at most \(limit) devices of a user",
            actual: "one more")
    }

    /// The face token a further device of a user begins with, where it is not one of its own.
    private func tokenInStore(for user: User) -> FaceTokenRecord? {
        let shared = user.sharesFaceToken ? user.devices.lazy.compactMap { self.devices[$0]?.faceToken }.first : nil
        return shared ?? user.importedFaceToken
    }

    private mutating func addDevice(
        _ request: EnrolmentRequest, to user: User, holding given: FaceTokenRecord?, _ turn: inout Turn
    ) -> PendingReply {
        var user = user
        if !user.devices.contains(request.kid) { user.devices.append(request.kid) }
        let own = FaceTokenRecord(sealed: request.faceToken, generation: 1, passwordProtected: false)
        let device = EnrolledDevice(
            kid: request.kid, userID: user.id, publicKey: request.publicKey, platform: request.platform,
            enrolledAt: turn.now, faceToken: given ?? own)
        save(user, &turn)
        save(device, &turn)
        let name = turn.members.enrollmentAnswer
        return .json(
            201,
            .object([
                (name.subject, .string(user.id)), (name.email, .string(user.email)), (name.kid, .string(device.kid)),
                (name.generation, .int(device.faceToken.generation)),
            ]))
    }
}
