import Crypto
import Encoding
import JOSE

extension EvidenceLook {
    /// A Play Integrity token: encrypted to the tenant, signed by the store.
    mutating func playIntegrity(_ token: String, isClassic: Bool) throws(EvidenceUnreadable) {
        let payload = try opened(token)
        guard let details = payload["requestDetails"], let app = payload["appIntegrity"] else {
            return try found.missing("payload", "token.payload", "requestDetails and appIntegrity")
        }
        request(details, isClassic: isClassic)
        self.app(app)
        device(payload["deviceIntegrity"])
        licence(payload["accountDetails"])
    }

    /// The payload, once both layers were opened.
    private mutating func opened(_ token: String) throws(EvidenceUnreadable) -> JSON {
        guard let key = expected.trust.playDecryptionKey, let verifier = expected.trust.playVerificationKey else {
            return try found.missing("keys", "token.keys", "Play's two keys, which the tenant must have")
        }
        let (header, plain) = try found.read("JWE", "token.encryption", "a JWE to the decryption key") {
            () throws(JWEError) in try JWE.decrypt(token, key: key)
        }
        found.note(
            "JWE header", JSON.object(header).text, "token.header", #"{"alg":"A256KW","enc":"A256GCM"}"#,
            header.count == 2)
        let inner = String(decoding: plain, as: UTF8.self)
        let jws = try found.read("JWS", "token.signature", "a JWS of the store") { () throws(JOSEError) in
            let jws = try JWS(compact: inner, limit: JWE.defaultLimit)
            _ = try jws.verify(.p256(verifier), algorithms: [.es256])
            return jws
        }
        found.note("JWS", "signed", "token.signature", "signed by the verification key", true)
        found.note(
            "JWS header", JSON.object(jws.header).text, "token.header", #"{"alg":"ES256"}"#, jws.header.count == 1)
        // What is signed, not how it is encrypted, makes the token this token.
        facts.identity = SHA256.hash(jws.signingInput)
        return try found.read("payload", "token.payload", "a JSON object") { () throws(JSONError) in
            try JSON(parsing: jws.payload)
        }
    }

    private mutating func request(_ details: JSON, isClassic: Bool) {
        let apps = expected.policy?.androidApps
        let package = details["requestPackageName"]?.string
        found.note(
            "requestPackageName", package ?? "missing", "request_package", Self.packages(apps),
            apps.map { apps in apps.contains { $0.package == package } })
        let (name, other) = isClassic ? ("nonce", "requestHash") : ("requestHash", "nonce")
        let wanted = expected.binding.map { isClassic ? $0.nonce : $0.requestHash }
        let value = details[name]?.string
        found.note(
            name, value ?? "missing", "nonce", "the hash of the client data in base64url",
            value == nil || details[other] != nil ? false : wanted.map { $0 == value })
        let stamp = details["timestampMillis"]?.string.flatMap(Int64.init)
        let age = stamp.map { (expected.now.milliseconds - $0) / 1000 }
        found.note(
            "timestampMillis", age.map { "\($0) s ago" } ?? "no string of digits", "timestamp",
            "at most \(expected.playAge) s ago and \(expected.playAhead) s ahead",
            age.map { $0 <= expected.playAge && $0 >= -expected.playAhead } ?? false)
    }

    private mutating func app(_ integrity: JSON) {
        let verdict = integrity["appRecognitionVerdict"]?.string
        let demands = expected.policy?.playApp
        found.note(
            "appRecognitionVerdict", verdict ?? "missing", "app_verdict", "PLAY_RECOGNIZED",
            demands.flatMap { $0 ? verdict == "PLAY_RECOGNIZED" : nil })
        let apps = expected.policy?.androidApps
        let package = integrity["packageName"]?.string
        let app = apps?.first { $0.package == package }
        found.note("packageName", package ?? "missing", "package", Self.packages(apps), apps == nil ? nil : app != nil)
        let digests = integrity["certificateSha256Digest"]?.array?.map { $0.string ?? "" } ?? []
        let known = app.map { app in app.certificateDigests.map { Base64URL.encode($0) } }
        found.note(
            "certificateSha256Digest", digests.joined(separator: " "), "certificate_digest", "those of the app",
            known.map { known in !digests.isEmpty && digests.allSatisfy(known.contains) })
    }

    private mutating func device(_ integrity: JSON?) {
        let verdicts = integrity?["deviceRecognitionVerdict"]?.array?.compactMap(\.string) ?? []
        let wanted = expected.policy?.playDevice
        found.note(
            "deviceRecognitionVerdict", verdicts.isEmpty ? "none" : verdicts.joined(separator: " "), "device_verdict",
            wanted.flatMap { $0.isEmpty ? nil : $0 } ?? "any",
            wanted.flatMap { $0.isEmpty ? nil : verdicts.contains($0) })
    }

    private mutating func licence(_ details: JSON?) {
        let verdict = details?["appLicensingVerdict"]?.string
        let demands = expected.policy?.playLicensed
        found.note(
            "appLicensingVerdict", verdict ?? "missing", "licence", "LICENSED",
            demands.flatMap { $0 ? verdict == "LICENSED" : nil })
    }
}

extension JSON {
    /// The value written out.
    fileprivate var text: String { String(decoding: serialized(), as: UTF8.self) }
}
