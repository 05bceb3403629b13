import Encoding

extension User: Recorded {
    var recordJSON: JSON {
        .object([
            ("email", .string(email)), ("enabled", .bool(enabled)),
            ("applications", applications.map(JSON.texts) ?? .null), ("created_at", .instant(createdAt)),
            ("devices", .texts(devices)), ("grant_epoch", .int(grantEpoch)),
            ("shared_face_token", .bool(sharesFaceToken)),
            ("imported_face_token", importedFaceToken?.recordJSON ?? .null),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            id: reader.localKey, email: try reader.text("email"), enabled: try reader.bool("enabled"),
            applications: reader.has("applications") ? try reader.texts("applications") : nil,
            createdAt: try reader.instant("created_at"), devices: try reader.texts("devices"),
            grantEpoch: try reader.integer("grant_epoch"),
            sharesFaceToken: reader.has("shared_face_token") ? try reader.bool("shared_face_token") : false,
            importedFaceToken: reader.has("imported_face_token")
                ? try FaceTokenRecord(try reader.nested("imported_face_token")) : nil)
    }
}

extension FaceTokenRecord: Recorded {
    var recordJSON: JSON {
        .object([
            ("sealed", .bytes(sealed)), ("generation", .int(generation)),
            ("password_protected", .bool(passwordProtected)),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            sealed: try reader.bytes("sealed"), generation: try reader.integer("generation"),
            passwordProtected: try reader.bool("password_protected"))
    }
}

extension EnrolledDevice: Recorded {
    var recordJSON: JSON {
        .object([
            ("user", .string(userID)), ("public_key", .bytes(publicKey)), ("platform", .string(platform)),
            ("enrolled_at", .instant(enrolledAt)), ("face_token", faceToken.recordJSON),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            kid: reader.localKey, userID: try reader.text("user"), publicKey: try reader.bytes("public_key"),
            platform: try reader.text("platform"), enrolledAt: try reader.instant("enrolled_at"),
            faceToken: try FaceTokenRecord(try reader.nested("face_token")))
    }
}

extension Ticket: Recorded {
    var recordJSON: JSON { ["user": .string(userID), "expires_at": .instant(expiresAt)] }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(userID: try reader.text("user"), expiresAt: try reader.instant("expires_at"))
    }
}

extension RevokedToken: Recorded {
    var recordJSON: JSON { ["expires_at": .instant(expiresAt)] }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(expiresAt: try reader.instant("expires_at"))
    }
}

extension Grant: Recorded {
    var recordJSON: JSON {
        let family: JSON =
            refresh.map { ["current_hash": .string($0.currentHash), "expires_at": .instant($0.expiresAt)] } ?? .null
        return .object([
            ("user", .string(userID)), ("client_id", .string(clientID)), ("serial", .int(applicationSerial)),
            ("jkt", .string(jkt)), ("scope", .texts(scope)), ("resource", resource.map(JSON.string) ?? .null),
            ("auth_time", .instant(authTime)), ("epoch", .int(epoch)), ("refresh", family),
            ("access_ends_at", .instant(accessEndsAt)), ("instance", instance.map(JSON.string) ?? .null),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        var family: RefreshFamily?
        if reader.has("refresh") {
            let refresh = try reader.nested("refresh")
            family = RefreshFamily(
                currentHash: try refresh.text("current_hash"), expiresAt: try refresh.instant("expires_at"))
        }
        self.init(
            id: reader.localKey, userID: try reader.text("user"), clientID: try reader.text("client_id"),
            applicationSerial: try reader.integer("serial"), jkt: try reader.text("jkt"),
            scope: try reader.texts("scope"), resource: reader.has("resource") ? try reader.text("resource") : nil,
            authTime: try reader.instant("auth_time"),
            instance: try reader.optionalText("instance"), epoch: try reader.integer("epoch"), refresh: family,
            accessEndsAt: try reader.instant("access_ends_at"))
    }
}
