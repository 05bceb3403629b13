import Encoding
import Profiles

extension Realm {
    /// Call 2: hands out the sealed face token and binds the session to the device.
    ///
    /// May be repeated.
    mutating func fetchFaceToken(_ ceremony: CeremonyJWS, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let fitting = try fitting(ceremony, turn)
        try live(fitting.session, turn)
        bind(fitting, &turn)
        let token = fitting.device.faceToken
        let name = turn.members.faceTokenAnswer
        let left = turn.profile.limits.mismatches - fitting.session.mismatchCount
        return .json(
            200,
            .object([
                (name.faceToken, .string(Base64URL.encode(token.sealed))),
                (name.generation, .int(token.generation)),
                (name.passwordProtected, .bool(token.passwordProtected)),
                (name.livenessRequired, .bool(true)),
                (name.attemptsLeft, .int(Int64(left))),
                (name.pki, tenant.pki.json(for: fitting.application, turn.members.pki)),
            ]))
    }

    /// Counts a face that did not match.
    ///
    /// The same report again is answered again and not counted; the last mismatch of the budget ends the session.
    mutating func reportMismatch(_ ceremony: CeremonyJWS, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let fitting = try fitting(ceremony, turn)
        let session = fitting.session
        var number = ceremony.number
        if let counted = session.mismatches.first(where: { $0.jti == ceremony.jti }) {
            guard skips(.attemptRepeat) else { return attemptsLeft(after: counted.number, turn) }
            number = session.mismatchCount + 1
        }
        try live(session, turn)
        guard number > session.mismatchCount || skips(.attemptNumber) else {
            throw Refusal(
                turn.errors.invalidRequest, rule: "attempt.n", expected: "n above \(session.mismatchCount)",
                actual: "n \(ceremony.number) in a new report", detail: "this mismatch was reported before")
        }
        bind(fitting, &turn)
        let last = turn.profile.limits.mismatches
        let isUnlimited = skips(.attemptBudget)
        update(session: session.key, &turn) { session in
            session.mismatches.append(Session.Mismatch(jti: ceremony.jti, number: number))
            if number >= last, !isUnlimited { session.progress = .dead(Session.outOfMismatches) }
        }
        return attemptsLeft(after: number, turn)
    }

    /// Ends a session from the phone's side.
    ///
    /// A code it has been given and has not redeemed goes with it.
    mutating func abort(_ ceremony: CeremonyJWS, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let fitting = try fitting(ceremony, turn)
        let session = fitting.session
        if let end = end(of: session, at: turn.now) {
            throw Refusal(turn.errors.invalidSession, rule: "session.live", expected: "a live session", actual: end)
        }
        if case .completed(let completion) = session.progress { withdraw(codeHash: completion.codeHash, &turn) }
        update(session: session.key, &turn) { $0.progress = .dead("aborted") }
        return .empty(204)
    }

    private func attemptsLeft(after number: Int, _ turn: Turn) -> PendingReply {
        let left = max(0, turn.profile.limits.mismatches - number)
        return .json(200, .object([(turn.members.attemptAnswer.attemptsLeft, .int(Int64(left)))]))
    }
}
