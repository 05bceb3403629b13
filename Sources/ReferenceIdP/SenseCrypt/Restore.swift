public import Crypto
import Encoding
import Profiles

extension SenseCryptIdP {
    /// An IdP from the durable records of an earlier one; sign-ins under way then go on.
    ///
    /// Throws where a record cannot be read or belongs to no tenant: the store is damaged, and going on
    /// would lose what it holds. Records of the edge, the signing keys, are passed over.
    public init(
        settings: IdPSettings, restoring records: [RecordChange], entropy: inout EntropyStream
    ) throws(RestoreError) {
        self.init(settings: settings, seed: .empty, entropy: &entropy)
        var readers: [RecordChange.Kind: [RecordReader]] = [:]
        let secrets = Dictionary(
            records.filter { $0.kind == .codeSecret }.map { ($0.key, $0.value ?? []) }, uniquingKeysWith: { $1 })
        for record in records where record.kind != .signingKey && record.kind != .codeSecret {
            readers[record.kind, default: []].append(try RecordReader(record))
        }
        for reader in readers[.tenant] ?? [] {
            let tenant = try Tenant(reader)
            restore(tenant, codeSecret: secrets["\(tenant.id)/"] ?? entropy.bytes(32))
        }
        try restoreSettings(readers)
        try restorePeople(readers)
        try restoreSignIns(readers)
        for reader in readers[.grant] ?? [] {
            let grant = try Grant(reader)
            try realm(of: reader) { $0.grants.insert(grant, for: grant.id, now: .distantPast) }
        }
        for reader in readers[.attestedKey] ?? [] {
            let key = try AttestedKey(reader)
            try realm(of: reader) { $0.attestedKeys.insert(key, for: reader.localKey, now: .distantPast) }
        }
        for reader in readers[.revokedToken] ?? [] {
            let token = try RevokedToken(reader)
            try realm(of: reader) { $0.revokedTokens.insert(token, for: reader.localKey, now: .distantPast) }
        }
    }

    private mutating func restore(_ tenant: Tenant, codeSecret: [UInt8]) {
        realms[tenant.id] = Realm(tenant: tenant, profile: settings.profile, codeSecret: codeSecret)
        noteRulesOff(tenant.id)
    }

    private mutating func restoreSignIns(_ readers: [RecordChange.Kind: [RecordReader]]) throws(RestoreError) {
        for kind in [RecordChange.Kind.session, .code, .signupCode, .mail] {
            for reader in readers[kind] ?? [] {
                try realm(of: reader) { (realm) throws(RestoreError) in _ = try realm.restore(reader) }
            }
        }
    }

    private mutating func restoreSettings(_ readers: [RecordChange.Kind: [RecordReader]]) throws(RestoreError) {
        for reader in readers[.clock] ?? [] { clock = try ServerClock(reader) }
        var applications: [(RecordReader, Application)] = []
        for reader in readers[.application] ?? [] {
            var application = try Application(reader)
            application.resources = application.resources.map(settings.resource(stored:))
            applications.append((reader, application))
        }
        for (reader, application) in applications.sorted(by: { $0.1.serial < $1.1.serial }) {
            nextSerial = max(nextSerial, application.serial + 1)
            try realm(of: reader) {
                $0.applications[application.clientID] = application
                if application.idTokenAlgorithm == .rs256 { $0.applicationsWithRS256 += 1 }
                if application.authentication.isByAttestation { $0.applicationsByAttestation += 1 }
            }
        }
    }

    private mutating func restorePeople(_ readers: [RecordChange.Kind: [RecordReader]]) throws(RestoreError) {
        var users: [(RecordReader, User)] = []
        for reader in readers[.user] ?? [] { users.append((reader, try User(reader))) }
        for (reader, user) in users.sorted(by: { ($0.1.createdAt, $0.1.id) < ($1.1.createdAt, $1.1.id) }) {
            try realm(of: reader) {
                $0.users[user.id] = user
                $0.usersByAddress[AddressKey.of(user.email)] = user.id
            }
        }
        for reader in readers[.device] ?? [] {
            let device = try EnrolledDevice(reader)
            try realm(of: reader) { $0.devices[device.kid] = device }
        }
        for reader in readers[.ticket] ?? [] {
            let ticket = try Ticket(reader)
            try realm(of: reader) { $0.tickets.insert(ticket, for: reader.localKey, now: .distantPast) }
        }
    }

    private mutating func realm(
        of reader: RecordReader, _ change: (inout Realm) throws(RestoreError) -> Void
    ) throws(RestoreError) {
        let tenant = String(reader.record.key.prefix { $0 != "/" })
        guard try realms.update(tenant, change) != nil else {
            throw RestoreError(record: "\(reader.record.kind.rawValue) \(reader.record.key)", member: "no such tenant")
        }
    }

    /// Everything durable as records, to begin a store with.
    ///
    /// Costs as much as there is.
    public var durableRecords: [RecordChange] {
        var turn = Turn(now: .distantPast, settings: settings, entropy: EntropyStream(seed: []))
        turn.record(.clock, "", clock)
        for id in realms.keys {
            guard let realm = realms[id] else { continue }
            turn.record(.tenant, id, realm.tenant)
            for (clientID, value) in realm.applications.page(after: nil, limit: .max) {
                turn.record(value, realm.key(clientID))
            }
            for (userID, value) in realm.users.page(after: nil, limit: .max) {
                turn.record(.user, realm.key(userID), value)
            }
            for (kid, value) in realm.devices { turn.record(.device, realm.key(kid), value) }
            for (hash, value) in realm.tickets.entries { turn.record(.ticket, realm.key(hash), value) }
            for (grantID, value) in realm.grants.entries { turn.record(.grant, realm.key(grantID), value) }
            for (id, value) in realm.attestedKeys.entries { turn.record(.attestedKey, realm.key(id), value) }
            for (jti, value) in realm.revokedTokens.entries { turn.record(.revokedToken, realm.key(jti), value) }
            realm.recordSignIns(&turn)
        }
        return turn.changes
    }
}

extension Instant {
    /// Before every deadline: nothing is forgotten while a store is read.
    fileprivate static let distantPast = Instant(milliseconds: 0)
}
