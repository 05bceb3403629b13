import Crypto
import Encoding
import Profiles

extension SenseCryptIdP {
    /// A user with their devices.
    struct UserView {
        let user: User
        let devices: [EnrolledDevice]
    }

    func user(_ call: ManagementCall) throws(Refusal) -> UserView {
        let realm = try realm(call)
        guard let user = realm.users[call["user"]] else { throw .problem(404, "not_found", "no such user") }
        return realm.view(of: user)
    }

    func listUsers(_ call: ManagementCall) throws(Refusal) -> PendingReply {
        let (after, limit) = try call.page(limit: settings.profile.limits.page)
        let realm = try realm(call)
        return listing("users", realm.users.page(after: after, limit: limit), limit: limit) { realm.view(of: $0).json }
    }

    mutating func createUser(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        var fields = call.fields
        let email = try fields.requiredText("email", .email)
        let wantsTicket = try fields.bool("ticket") ?? false
        var user = User(id: turn.entropy.uuid(), email: email, createdAt: turn.now)
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            try user.apply(&fields, in: realm)
            realm.save(user, &turn)
            var body = realm.view(of: user).json.object ?? JSONObject()
            if wantsTicket { body["ticket"] = .string(realm.issueTicket(for: user, &turn)) }
            return .json(201, .object(body))
        }
    }

    mutating func changeUser(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        var user = try user(call).user
        var fields = call.fields
        user.email = try fields.text("email", .email) ?? user.email
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            try user.apply(&fields, in: realm)
            realm.save(user, &turn)
            return .json(200, realm.view(of: user).json)
        }
    }

    mutating func deleteUser(_ call: ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let user = try user(call).user
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            realm.removeUser(user, &turn)
            return .empty(204)
        }
    }

    mutating func createTicket(_ call: ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        try call.fields.end()
        let user = try user(call).user
        let lifetime = settings.profile.lifetimes.ticket
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            .json(201, ["ticket": .string(realm.issueTicket(for: user, &turn)), "expires_in": .int(lifetime)])
        }
    }

    /// Takes the place of the face token of every device of the user, as a newer generation, and is shared from then
    /// on; a device enrolled with a ticket later begins with it.
    ///
    /// The generation is the next one, unless the body says which later one the token was sealed as.
    mutating func importFaceToken(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        var user = try user(call).user
        let limit = settings.profile.limits.faceTokenBytes
        guard let sealed = try call.fields.bytes("face_token", limit: limit) else {
            throw call.fields.wrong("face_token", "face_token is required", "required")
        }
        let isProtected = try call.fields.bool("password_protected") ?? false
        let next = try realm(call).view(of: user).devices.map { $0.faceToken.generation + 1 }.max() ?? 1
        let generation = try call.fields.integer("generation", in: next...Int64(Int32.max)) ?? next
        try call.fields.end()
        let token = FaceTokenRecord(sealed: sealed, generation: generation, passwordProtected: isProtected)
        user.importedFaceToken = token
        user.sharesFaceToken = true
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            for var device in realm.view(of: user).devices {
                device.faceToken = token
                realm.save(device, &turn)
            }
            realm.save(user, &turn)
            return .json(200, realm.view(of: user).json)
        }
    }

    mutating func revokeGrants(_ call: ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        try call.fields.end()
        var user = try user(call).user
        user.grantEpoch += 1
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            realm.save(user, &turn)
            return .empty(204)
        }
    }

    mutating func removeDevice(_ call: ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let view = try user(call)
        guard view.user.devices.contains(call["kid"]) else { throw .problem(404, "not_found", "no such device") }
        return try change(call) { (realm: inout Realm) throws(Refusal) in
            realm.removeDevice(call["kid"], of: view.user, &turn)
            return .empty(204)
        }
    }
}

extension Realm {
    func view(of user: User) -> SenseCryptIdP.UserView {
        SenseCryptIdP.UserView(user: user, devices: user.devices.compactMap { devices[$0] })
    }

    /// Makes a one-time enrolment ticket, and keeps its hash.
    fileprivate mutating func issueTicket(for user: User, _ turn: inout Turn) -> String {
        let ticket = turn.secret()
        let expiresAt = turn.now.adding(seconds: turn.profile.lifetimes.ticket)
        save(Ticket(userID: user.id, expiresAt: expiresAt), hash: storedHash(ticket), &turn)
        return ticket
    }
}

extension User {
    /// Reads the fields a new and a changed user share, and refuses what the realm cannot take.
    fileprivate mutating func apply(_ fields: inout ManagementFields, in realm: Realm) throws(Refusal) {
        enabled = try fields.bool("enabled") ?? enabled
        sharesFaceToken = try fields.bool("shared_face_token") ?? sharesFaceToken
        if fields.isNull("applications") {
            applications = nil
        } else {
            applications = try fields.texts("applications", .clientID) ?? applications
        }
        try fields.end()
        if let unknown = applications?.first(where: { realm.applications[$0] == nil }) {
            throw fields.wrong("applications", "no application \(Clipped.text(unknown))", "known")
        }
        if let owner = realm.usersByAddress[AddressKey.of(email)], owner != id {
            throw .problem(409, "conflict", "another user has this address", field: "email", rule: "unique")
        }
    }
}

extension SenseCryptIdP.UserView {
    /// The user as the management API shows it.
    var json: JSON {
        .object([
            ("id", .string(user.id)), ("email", .string(user.email)), ("enabled", .bool(user.enabled)),
            ("applications", user.applications.map(JSON.texts) ?? .null),
            ("shared_face_token", .bool(user.sharesFaceToken)),
            ("created_at", .int(user.createdAt.seconds)), ("devices", .array(devices.map(\.json))),
        ])
    }
}

extension EnrolledDevice {
    /// The device as the management API shows it, without its face token.
    var json: JSON {
        .object([
            ("kid", .string(kid)), ("platform", .string(platform)), ("enrolled_at", .int(enrolledAt.seconds)),
            ("generation", .int(faceToken.generation)), ("password_protected", .bool(faceToken.passwordProtected)),
        ])
    }
}
