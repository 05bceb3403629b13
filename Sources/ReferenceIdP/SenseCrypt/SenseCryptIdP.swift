public import Crypto
public import Encoding
import HTTP
public import JOSE
import Profiles

/// The SenseCrypt reference identity provider with its resource API and its management API, as a value.
///
/// A request is answered in two steps. ``intake(_:surface:caller:settings:deviceKey:clientKeys:)`` reads it and
/// checks its signatures, without state and outside any lock; ``handle(_:now:entropy:)`` is one cheap
/// transition of the state, whose cost does not depend on how many users, sessions and devices there are.
/// There is no I/O, lock, clock, randomness or private key in here: the edge, ``ReferenceIdPServer``, has
/// those.
public struct SenseCryptIdP: Sendable {
    /// What the IdP was told once.
    public let settings: IdPSettings
    /// What the IdP takes for the time.
    ///
    /// The edge asks before every request.
    public internal(set) var clock = ServerClock.real
    var realms = OrderedTable<String, Realm>()
    var findings: FindingRing
    /// Requests of late, by peer address.
    var callers: ExpiringTable<String, RateWindow>
    /// Tenants with rules switched off; nearly always none.
    var tenantsWithRulesOff: Set<String> = []
    /// Numbers applications, so that one deleted and made again is another.
    var nextSerial: Int64 = 1

    /// An IdP with the seed of the wire's section 11, or empty: the tenants `acme`, `globex` and `fapi`.
    public init(settings: IdPSettings, seed: Seed = .standard, entropy: inout EntropyStream) {
        self.settings = settings
        findings = FindingRing(capacity: settings.profile.limits.findings)
        callers = ExpiringTable(capacity: settings.profile.rateLimits.callers)
        var turn = Turn(now: Instant(milliseconds: 0), settings: settings, entropy: entropy)
        if seed == .standard { plantStandardSeed(&turn) }
        entropy = turn.entropy
    }

    /// What an IdP begins with.
    public enum Seed: Sendable, Hashable {
        /// `acme` with self-signup, `globex` without, and `fapi` with the FAPI 2.0 profile; each with one application.
        case standard
        /// No tenant at all.
        case empty
    }

    /// The X9.63 point of an enrolled device key, for the intake; nil for a key nobody enrolled.
    public func deviceKey(tenant: String, kid: String) -> [UInt8]? {
        realms.peek(tenant) { $0.devices[kid]?.publicKey }
    }

    /// The public keys of a confidential client, for the intake; nil for a client without any.
    public func clientKeys(tenant: String, clientID: String) -> JWKSet? {
        realms.peek(tenant) { $0.applications.peek(clientID) { $0.clientKeys } }
    }

    /// Answers one request and moves the state along.
    ///
    /// `now` is the server's time, `entropy` a stream that nobody else draws from. What the edge does with
    /// the outcome: store the changes, sign the reply, send it.
    public mutating func handle(_ intake: Intake, now: Instant, entropy: inout EntropyStream) -> Outcome {
        var turn = Turn(now: now, settings: settings, entropy: entropy)
        defer { entropy = turn.entropy }
        let off = intake.tenant.map { rulesOff(tenant: $0) } ?? []
        var reply: PendingReply
        var isChallenge = false
        do {
            reply = try answer(intake, &turn)
        } catch {
            turn.remarks.append(Turn.Remark(rule: error.rule, expected: error.expected, actual: error.actual))
            reply = error.reply(at: intake)
            isChallenge = error.answer.code == turn.errors.useDpopNonce.code
        }
        let found = turn.remarks.map { remark in
            Finding(
                at: now, rule: remark.rule, expected: remark.expected, actual: remark.actual,
                endpoint: intake.endpoint, tenant: intake.tenant.map { Clipped.text($0) }, clientID: intake.clientID)
        }
        for finding in found { findings.record(finding) }
        finish(&reply, intake, now)
        // Not of the wire: whoever runs the IdP finds what it noted about this request.
        if !found.isEmpty { reply.fields.set("Understudy-Finding", String(findings.total)) }
        if off.contains(.answerNoStore) { reply.fields.remove("Cache-Control") }
        if off.contains(.answerNonce), isChallenge { reply.fields.remove("DPoP-Nonce") }
        return Outcome(reply: reply, findings: found, changes: turn.changes)
    }

    private mutating func answer(_ intake: Intake, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        if case .management(let request) = intake.content { return try manage(request, &turn) }
        try countRequest(intake, turn)
        if intake.tenant == nil, case .refused(let refusal) = intake.content { throw refusal }
        let reply = try realms.update(intake.tenant ?? "") { (realm: inout Realm) throws(Refusal) -> PendingReply in
            try realm.handle(intake.content, &turn)
        }
        guard let reply else {
            throw Refusal(
                turn.errors.notFound, rule: "request.tenant", expected: "a tenant", actual: "no tenant of this name")
        }
        return reply
    }

    /// Caching and the nonce, which are the same for every answer.
    private func finish(_ reply: inout PendingReply, _ intake: Intake, _ now: Instant) {
        if !intake.isCacheable { reply.fields.set("Cache-Control", "no-store") }
        reply.fields.set("Date", HTTPDate.text(now))
        switch intake.nonceFrom {
        case .identityProvider: reply.fields.set("DPoP-Nonce", settings.nonces.issue(now: now))
        case .resourceAPI: reply.fields.set("DPoP-Nonce", settings.apiNonces.issue(now: now))
        case nil: break
        }
    }
}

/// What one request led to.
public struct Outcome: Sendable {
    /// The answer, whole but for signatures.
    public let reply: PendingReply
    /// What the refusal was about, when it was one, and what was let through under audit.
    public let findings: [Finding]
    /// Durable records to be stored before the answer goes out, in order.
    public let changes: [RecordChange]
}

extension Intake {
    /// Whether caches may keep the answer: the metadata and the key set only.
    fileprivate var isCacheable: Bool {
        switch content {
        case .metadata, .keySet: true
        default: false
        }
    }
}

extension Refusal {
    /// The answer: an OAuth error, a challenge of the resource API, or a problem of the management API.
    func reply(at intake: Intake) -> PendingReply {
        switch intake.endpoint {
        case "api": challenge()
        case "manage": problem()
        default: oauthError()
        }
    }

    private func oauthError() -> PendingReply {
        var body = JSONObject([("error", .string(answer.code))])
        body["error_description"] = detail.map(JSON.string)
        return with(.json(answer.status, .object(body)))
    }

    /// Adds the refusal's own fields to an answer.
    func with(_ reply: PendingReply) -> PendingReply {
        var reply = reply
        for (name, value) in fields { reply.fields.append(name, value) }
        return reply
    }
}
