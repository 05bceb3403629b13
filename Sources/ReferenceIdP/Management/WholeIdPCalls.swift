import Encoding
import JOSE
import Profiles

extension SenseCryptIdP {
    func readClock(_ turn: Turn) -> PendingReply {
        var body = clock.recordJSON.object ?? JSONObject()
        body["now"] = .int(turn.now.seconds)
        return .json(200, .object(body))
    }

    mutating func setClock(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let bound: Int64 = 253_402_300_799
        let mode = try call.fields.requiredText("mode", .word)
        let clock: ServerClock
        switch mode {
        case "real": clock = .real
        case "offset":
            guard let seconds = try call.fields.integer("seconds", in: -bound...bound) else {
                throw call.fields.wrong("seconds", "seconds is required", "required")
            }
            clock = .offset(seconds: seconds)
        case "frozen":
            guard let at = try call.fields.integer("at", in: 0...bound) else {
                throw call.fields.wrong("at", "at is required", "required")
            }
            clock = .frozen(at: Instant(seconds: at))
        default: throw call.fields.wrong("mode", "real, offset or frozen", "word")
        }
        try call.fields.end()
        self.clock = clock
        turn.record(.clock, "", clock)
        return .json(200, clock.recordJSON)
    }

    /// Moves the clock by so many seconds, back for a negative number; a frozen one stays frozen.
    mutating func moveClock(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let bound = Self.furthestMove
        guard let seconds = try call.fields.integer("advance", in: -bound...bound) else {
            throw call.fields.wrong("advance", "advance is required: whole seconds, negative for back", "required")
        }
        try call.fields.end()
        clock = clock.advanced(bySeconds: seconds)
        turn.record(.clock, "", clock)
        return .json(200, clock.recordJSON)
    }

    /// 300 years, in seconds.
    private static var furthestMove: Int64 { 300 * 365 * 86_400 }

    /// The newest findings, or those behind the sequence number `after`; oldest first.
    func listFindings(_ call: ManagementCall) throws(Refusal) -> PendingReply {
        let (after, limit) = try call.page(limit: findings.capacity)
        let page: [(sequence: Int, finding: Finding)]
        if let after {
            guard let sequence = Int(after), sequence >= 0 else {
                throw .problem(422, "invalid_field", "after is a sequence number", field: "after", rule: "range")
            }
            page = findings.since(sequence, limit: limit)
        } else {
            page = findings.newest(limit: limit)
        }
        let entries = page.map { entry -> JSON in
            var object = entry.finding.json.object ?? JSONObject()
            object["sequence"] = .int(Int64(entry.sequence))
            return .object(object)
        }
        return .json(200, ["findings": .array(entries), "total": .int(Int64(findings.total))])
    }

    /// Counts of everything and the first records of each kind; no token, code, ticket or face token.
    func dumpState(_ turn: Turn) -> PendingReply {
        let limit = settings.profile.limits.page
        let tenants = realms.page(after: nil, limit: limit).map { $0.value.dump(limit: limit, turn) }
        return .json(
            200,
            .object([
                ("now", .int(turn.now.seconds)), ("clock", clock.recordJSON),
                ("findings", .int(Int64(findings.total))), ("tenants", .array(tenants)),
            ]))
    }

    /// Back to the seed and the real clock.
    ///
    /// Signing keys stay.
    mutating func reset(_ turn: inout Turn) -> PendingReply {
        for id in realms.keys {
            guard let realm = realms[id] else { continue }
            for (kind, key) in realm.recordKeys { turn.forget(kind, [key]) }
            turn.forget(.tenant, [id])
        }
        turn.forget(.clock, [""])
        realms = OrderedTable()
        findings = FindingRing(capacity: findings.capacity)
        callers = ExpiringTable(capacity: callers.capacity)
        clock = .real
        tenantsWithRulesOff = []
        plantStandardSeed(&turn)
        return .empty(204)
    }
}

extension Realm {
    fileprivate func dump(limit: Int, _ turn: Turn) -> JSON {
        .object([
            ("tenant", tenant.publicJSON), ("policy", tenant.policy.json), ("counts", counts),
            ("applications", .array(applications.page(after: nil, limit: limit).map { .object($0.value.publicJSON) })),
            ("users", .array(users.page(after: nil, limit: limit).map { view(of: $0.value).json })),
            ("sessions", .array(sessions.entries.values.prefix(limit).map { $0.json(now: turn.now) })),
            ("grants", .array(grants.entries.values.prefix(limit).map(\.json))),
        ])
    }

    private var counts: JSON {
        let counts: [(String, Int)] = [
            ("applications", applications.count), ("users", users.count), ("devices", devices.count),
            ("tickets", tickets.count), ("signup_codes", signupCodes.count), ("mails", inbox.count),
            ("sessions", sessions.count), ("codes", codes.count), ("grants", grants.count),
            ("counted_addresses", startsByAddress.count), ("revoked_tokens", revokedTokens.count),
            ("attested_keys", attestedKeys.count),
            ("proofs", proofs.count), ("api_proofs", apiProofs.count),
        ]
        return .object(counts.map { ($0.0, .int(Int64($0.1))) })
    }
}

extension Session {
    fileprivate func json(now: Instant) -> JSON {
        .object([
            ("client_id", .string(clientID)), ("ceremony", .string(ceremonyID)), ("jkt", .string(jkt)),
            ("subject", .string(subjectWord)), ("device", deviceKey.map(JSON.string) ?? .null),
            ("progress", .string(progressWord(now))), ("mismatches", .int(Int64(mismatchCount))),
            ("opened_at", .int(openedAt.seconds)), ("expires_at", .int(expiresAt.seconds)),
        ])
    }

    private var subjectWord: String {
        switch subject {
        case .anyone: "anyone"
        case .user(let id): id
        case .decoy: "decoy"
        }
    }

    private func progressWord(_ now: Instant) -> String {
        if let end = end(at: now) { return end }
        return switch progress {
        case .open: "open"
        case .completed(let completion): "completed, \(completion.replacements) replacement codes"
        case .dead(let cause): cause
        }
    }
}

extension Grant {
    fileprivate var json: JSON {
        .object([
            ("id", .string(id)), ("sub", .string(userID)), ("client_id", .string(clientID)), ("jkt", .string(jkt)),
            ("scope", .string(scope.joined(separator: " "))), ("refreshable", .bool(refresh != nil)),
            ("access_ends_at", .int(accessEndsAt.seconds)),
        ])
    }
}
