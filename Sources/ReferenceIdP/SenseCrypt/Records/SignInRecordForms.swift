import Encoding

extension Session: Recorded {
    var recordJSON: JSON {
        .object([
            ("client_id", .string(clientID)), ("jkt", .string(jkt)), ("scope", .texts(scope)),
            ("resource", resource.map(JSON.string) ?? .null), ("nonce", .string(nonce)),
            ("code_challenge", .string(codeChallenge)), ("ceremony", .string(ceremonyID)),
            ("ceremony_challenge", .string(ceremonyChallenge)), ("opened_at", .instant(openedAt)),
            ("expires_at", .instant(expiresAt)), ("forgotten_at", .instant(forgottenAt)),
            ("subject", subject.recordJSON), ("device", deviceKey.map(JSON.string) ?? .null),
            ("mismatches", .array(mismatches.map { ["jti": .string($0.jti), "n": .int(Int64($0.number))] })),
            ("progress", progress.recordJSON), ("permit", permit.recordJSON),
            ("instance", instance.map(JSON.string) ?? .null),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        var mismatches: [Mismatch] = []
        for mismatch in try reader.objects("mismatches") {
            mismatches.append(Mismatch(jti: try mismatch.text("jti"), number: Int(try mismatch.integer("n"))))
        }
        self.init(
            key: reader.localKey, clientID: try reader.text("client_id"), jkt: try reader.text("jkt"),
            scope: try reader.texts("scope"), resource: try reader.optionalText("resource"),
            nonce: try reader.text("nonce"), codeChallenge: try reader.text("code_challenge"),
            ceremonyID: try reader.text("ceremony"), ceremonyChallenge: try reader.text("ceremony_challenge"),
            openedAt: try reader.instant("opened_at"), expiresAt: try reader.instant("expires_at"),
            forgottenAt: try reader.instant("forgotten_at"), subject: try Subject(try reader.nested("subject")),
            deviceKey: try reader.optionalText("device"), mismatches: mismatches,
            progress: try Progress(try reader.nested("progress")),
            permit: try FirstPartyPermit(try reader.nested("permit")),
            instance: try reader.optionalText("instance"))
    }
}

extension Session.Subject: Recorded {
    var recordJSON: JSON {
        switch self {
        case .anyone: ["kind": "anyone"]
        case .user(let id): ["kind": "user", "id": .string(id)]
        case .decoy: ["kind": "decoy"]
        }
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        switch try reader.text("kind") {
        case "anyone": self = .anyone
        case "user": self = .user(try reader.text("id"))
        default: self = .decoy
        }
    }
}

extension Session.Progress: Recorded {
    var recordJSON: JSON {
        switch self {
        case .open: ["kind": "open"]
        case .dead(let cause): ["kind": "dead", "cause": .string(cause)]
        case .completed(let completion):
            .object([
                ("kind", "completed"), ("proof", .string(completion.proofHash)), ("code", .string(completion.codeHash)),
                ("replacements", .int(completion.replacements)),
                ("grant", completion.grantID.map(JSON.string) ?? .null), ("auth_time", .instant(completion.authTime)),
            ])
        }
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        switch try reader.text("kind") {
        case "open": self = .open
        case "completed":
            self = .completed(
                Completion(
                    proofHash: try reader.text("proof"), codeHash: try reader.text("code"),
                    replacements: try reader.integer("replacements"), grantID: try reader.optionalText("grant"),
                    authTime: try reader.instant("auth_time")))
        default: self = .dead(try reader.text("cause"))
        }
    }
}

extension AuthorizationCode: Recorded {
    var recordJSON: JSON {
        .object([
            ("session", .string(sessionKey)), ("user", .string(userID)), ("client_id", .string(clientID)),
            ("jkt", .string(jkt)), ("code_challenge", .string(codeChallenge)), ("scope", .texts(scope)),
            ("resource", resource.map(JSON.string) ?? .null), ("nonce", .string(nonce)),
            ("auth_time", .instant(authTime)), ("expires_at", .instant(expiresAt)),
            ("forgotten_at", .instant(forgottenAt)), ("progress", progress.recordJSON), ("permit", permit.recordJSON),
            ("instance", instance.map(JSON.string) ?? .null),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            sessionKey: try reader.text("session"), userID: try reader.text("user"),
            clientID: try reader.text("client_id"), jkt: try reader.text("jkt"),
            codeChallenge: try reader.text("code_challenge"), scope: try reader.texts("scope"),
            resource: try reader.optionalText("resource"), nonce: try reader.text("nonce"),
            authTime: try reader.instant("auth_time"), expiresAt: try reader.instant("expires_at"),
            forgottenAt: try reader.instant("forgotten_at"), progress: try Progress(try reader.nested("progress")),
            permit: try FirstPartyPermit(try reader.nested("permit")),
            instance: try reader.optionalText("instance"))
    }
}

extension AuthorizationCode.Progress: Recorded {
    var recordJSON: JSON {
        switch self {
        case .fresh: ["kind": "fresh"]
        case .redeemed(let grantID): ["kind": "redeemed", "grant": .string(grantID)]
        case .withdrawn: ["kind": "withdrawn"]
        }
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        switch try reader.text("kind") {
        case "fresh": self = .fresh
        case "redeemed": self = .redeemed(grantID: try reader.text("grant"))
        default: self = .withdrawn
        }
    }
}

extension FirstPartyPermit: Recorded {
    var recordJSON: JSON {
        ["tenant": .int(tenant), "application": .int(application), "serial": .int(serial)]
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            tenant: try reader.integer("tenant"), application: try reader.integer("application"),
            serial: try reader.integer("serial"))
    }
}

extension SignupCode: Recorded {
    var recordJSON: JSON {
        ["email": .string(email), "hash": .string(codeHash), "expires_at": .instant(expiresAt)]
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            email: try reader.text("email"), codeHash: try reader.text("hash"),
            expiresAt: try reader.instant("expires_at"))
    }
}

extension Mail: Recorded {
    var recordJSON: JSON {
        .object([
            ("at", .instant(at)), ("address", .string(address)), ("subject", .string(subject)),
            ("code", code.map(JSON.string) ?? .null),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            at: try reader.instant("at"), address: try reader.text("address"), subject: try reader.text("subject"),
            code: try reader.optionalText("code"))
    }
}
