import Encoding

/// The durable records of a sign-in under way: tables and records change together, as in the rest of the realm.
///
/// A request that changes a session and its code writes both in one transaction, and each once.
extension Realm {
    mutating func save(_ session: Session, _ turn: inout Turn) {
        let forgotten = sessions.insert(session, for: session.key, now: turn.now)
        turn.record(.session, key(session.key), session)
        turn.forget(.session, forgotten.map(key))
    }

    mutating func save(_ code: AuthorizationCode, hash: String, _ turn: inout Turn) {
        let forgotten = codes.insert(code, for: hash, now: turn.now)
        turn.record(.code, key(hash), code)
        turn.forget(.code, forgotten.map(key))
    }

    mutating func save(_ code: SignupCode, address: String, _ turn: inout Turn) {
        let forgotten = signupCodes.insert(code, for: address, now: turn.now)
        turn.record(.signupCode, key(address), code)
        turn.forget(.signupCode, forgotten.map(key))
    }

    mutating func removeSignupCode(_ address: String, _ turn: inout Turn) {
        signupCodes.remove(address)
        turn.forget(.signupCode, [key(address)])
    }

    mutating func deliver(_ mail: Mail, _ turn: inout Turn) {
        let delivered = inbox.deliver(mail)
        turn.record(.mail, key(String(delivered.number)), mail)
        turn.forget(.mail, delivered.forgotten.map { [key(String($0))] } ?? [])
    }

    /// Changes a stored session; one that is as it was before is not written again.
    mutating func update(session: String, _ turn: inout Turn, _ change: (inout Session) -> Void) {
        guard let before = sessions[session] else { return }
        var after = before
        change(&after)
        guard after != before else { return }
        sessions[session] = after
        turn.record(.session, key(session), after)
    }

    /// Changes a stored code.
    mutating func update(code hash: String, _ turn: inout Turn, _ change: (inout AuthorizationCode) -> Void) {
        guard var code = codes[hash] else { return }
        change(&code)
        codes[hash] = code
        turn.record(.code, key(hash), code)
    }

    /// What the realm's codes are drawn from, as a record of its own: it is secret.
    var codeSecretChange: RecordChange { RecordChange(kind: .codeSecret, key: key(""), value: codeSecret) }

    /// The keys of the records above.
    var keysUnderWay: [(kind: RecordChange.Kind, key: String)] {
        sessions.entries.keys.map { (.session, key($0)) } + codes.entries.keys.map { (.code, key($0)) }
            + signupCodes.entries.keys.map { (.signupCode, key($0)) }
            + inbox.numbered.map { (.mail, key(String($0.number))) } + [(.codeSecret, key(""))]
    }

    /// The records above, for a store to begin with.
    func recordSignIns(_ turn: inout Turn) {
        turn.changes.append(codeSecretChange)
        for (hash, value) in sessions.entries { turn.record(.session, key(hash), value) }
        for (hash, value) in codes.entries { turn.record(.code, key(hash), value) }
        for (address, value) in signupCodes.entries { turn.record(.signupCode, key(address), value) }
        for (number, mail) in inbox.numbered { turn.record(.mail, key(String(number)), mail) }
    }

    /// Takes up one record of a sign-in, a code or a mail; false where it is of another kind.
    mutating func restore(_ reader: RecordReader) throws(RestoreError) -> Bool {
        let beginning = Instant(milliseconds: 0)
        switch reader.record.kind {
        case .session:
            let session = try Session(reader)
            sessions.insert(session, for: session.key, now: beginning)
        case .code: codes.insert(try AuthorizationCode(reader), for: reader.localKey, now: beginning)
        case .signupCode: signupCodes.insert(try SignupCode(reader), for: reader.localKey, now: beginning)
        case .mail: inbox.restore(try Mail(reader), number: Int64(reader.localKey) ?? 0)
        default: return false
        }
        return true
    }
}
