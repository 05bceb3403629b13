import Encoding

/// Every durable change goes through here: the table and the record change together.
extension Realm {
    /// The key of a record of this tenant.
    func key(_ local: String) -> String { "\(tenant.id)/\(local)" }

    mutating func save(_ tenant: Tenant, _ turn: inout Turn) {
        var tenant = tenant
        if self.tenant.runsOwnApp, !tenant.runsOwnApp { tenant.withdrawals += 1 }
        self.tenant = tenant
        turn.record(.tenant, tenant.id, tenant)
    }

    mutating func save(_ application: Application, _ turn: inout Turn) {
        var application = application
        if applications[application.clientID]?.allowsFirstParty ?? false, !application.allowsFirstParty {
            application.withdrawals += 1
        }
        let wasRS256 = applications[application.clientID]?.idTokenAlgorithm == .rs256
        let wasByAttestation = applications[application.clientID]?.authentication.isByAttestation ?? false
        applicationsByAttestation += (application.authentication.isByAttestation ? 1 : 0) - (wasByAttestation ? 1 : 0)
        applications[application.clientID] = application
        applicationsWithRS256 += (application.idTokenAlgorithm == .rs256 ? 1 : 0) - (wasRS256 ? 1 : 0)
        turn.record(application, key(application.clientID))
    }

    mutating func save(_ user: User, _ turn: inout Turn) {
        if let old = users[user.id], AddressKey.of(old.email) != AddressKey.of(user.email) {
            usersByAddress[AddressKey.of(old.email)] = nil
        }
        usersByAddress[AddressKey.of(user.email)] = user.id
        users[user.id] = user
        turn.record(.user, key(user.id), user)
    }

    mutating func save(_ device: EnrolledDevice, _ turn: inout Turn) {
        devices[device.kid] = device
        turn.record(.device, key(device.kid), device)
    }

    mutating func save(_ ticket: Ticket, hash: String, _ turn: inout Turn) {
        let forgotten = tickets.insert(ticket, for: hash, now: turn.now)
        turn.record(.ticket, key(hash), ticket)
        turn.forget(.ticket, forgotten.map(key))
    }

    mutating func save(_ grant: Grant, _ turn: inout Turn) {
        let forgotten = grants.insert(grant, for: grant.id, now: turn.now)
        turn.record(.grant, key(grant.id), grant)
        turn.forget(.grant, forgotten.map(key))
    }

    mutating func save(_ token: RevokedToken, jti: String, _ turn: inout Turn) {
        let forgotten = revokedTokens.insert(token, for: jti, now: turn.now)
        turn.record(.revokedToken, key(jti), token)
        turn.forget(.revokedToken, forgotten.map(key))
    }

    mutating func save(_ attested: AttestedKey, id: String, _ turn: inout Turn) {
        let forgotten = attestedKeys.insert(attested, for: id, now: turn.now)
        turn.record(.attestedKey, key(id), attested)
        turn.forget(.attestedKey, forgotten.map(key))
    }

    mutating func removeApplication(_ clientID: String, _ turn: inout Turn) {
        if applications[clientID]?.idTokenAlgorithm == .rs256 { applicationsWithRS256 -= 1 }
        if applications[clientID]?.authentication.isByAttestation ?? false { applicationsByAttestation -= 1 }
        applications[clientID] = nil
        turn.forget(.application, [key(clientID)])
    }

    mutating func removeDevice(_ kid: String, of user: User, _ turn: inout Turn) {
        var user = user
        user.devices.removeAll { $0 == kid }
        devices[kid] = nil
        turn.forget(.device, [key(kid)])
        save(user, &turn)
    }

    mutating func removeUser(_ user: User, _ turn: inout Turn) {
        for kid in user.devices { devices[kid] = nil }
        turn.forget(.device, user.devices.map(key))
        usersByAddress[AddressKey.of(user.email)] = nil
        users[user.id] = nil
        turn.forget(.user, [key(user.id)])
    }

    /// The keys of every durable record of the tenant but itself.
    ///
    /// Costs as much as there are.
    var recordKeys: [(kind: RecordChange.Kind, key: String)] {
        applications.keys.map { (.application, key($0)) } + users.keys.map { (.user, key($0)) }
            + devices.keys.map { (.device, key($0)) } + tickets.entries.keys.map { (.ticket, key($0)) }
            + attestedKeys.entries.keys.map { (.attestedKey, key($0)) } + grants.entries.keys.map { (.grant, key($0)) }
            + revokedTokens.entries.keys.map { (.revokedToken, key($0)) } + keysUnderWay
    }
}

extension Turn {
    /// A record that a request writes twice is stored once: the last few changes are looked through.
    mutating func record(_ kind: RecordChange.Kind, _ key: String, _ value: some Recorded) {
        let change = RecordChange(kind: kind, key: key, json: value.recordJSON)
        if let index = changes.suffix(8).lastIndex(where: { $0.kind == kind && $0.key == key }) {
            changes[index] = change
        } else {
            changes.append(change)
        }
    }

    /// An application is stored with resources that do not name the API's port.
    mutating func record(_ application: Application, _ key: String) {
        var stored = application
        stored.resources = application.resources.map(settings.storedResource)
        record(.application, key, stored)
    }

    mutating func forget(_ kind: RecordChange.Kind, _ keys: [String]) {
        for key in keys { changes.append(RecordChange(kind: kind, key: key, value: nil)) }
    }
}
