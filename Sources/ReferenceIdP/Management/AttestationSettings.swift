import Crypto
import Encoding
import Profiles

extension Tenant {
    /// The member `attestation` of a tenant as the management API shows it.
    var attestationJSON: JSON {
        var object = attestation.json.object ?? JSONObject()
        for member in anchors.publicJSON.members { object[member.name] = member.value }
        return .object(object)
    }

    /// Reads what a body says of `attestation`; what it leaves out stays, and a null anchor is the server's again.
    mutating func applyAttestation(_ fields: inout ManagementFields, limit: Int) throws(Refusal) {
        guard let value = fields.take("attestation") else { return }
        guard let object = value.object else { throw fields.wrong("attestation", "an object", "object") }
        var inner = ManagementFields(object, within: "attestation")
        try attestation.apply(&inner, limit: limit)
        try anchors.apply(&inner, limit: limit)
        try inner.end()
    }
}

extension AttestationPolicy {
    fileprivate mutating func apply(_ fields: inout ManagementFields, limit: Int) throws(Refusal) {
        iosAppIDs = try fields.texts("ios_app_ids", .appID, limit: limit) ?? iosAppIDs
        androidApps = try fields.androidApps("android_apps", limit: limit) ?? androidApps
        environment = try fields.word("environment") ?? environment
        minimumLevel = try fields.word("minimum_level") ?? minimumLevel
        boot = try fields.word("boot") ?? boot
        if fields.isNull("minimum_patch") {
            minimumPatch = nil
        } else if let patch = try fields.integer("minimum_patch", in: 200_001...999_912) {
            guard (1...12).contains(patch % 100) else {
                throw fields.wrong("minimum_patch", "a year and a month, as in 202609", "patch")
            }
            minimumPatch = patch
        }
        playDevice = fields.isNull("play_device") ? "" : try fields.text("play_device", .word) ?? playDevice
        playApp = try fields.bool("play_app") ?? playApp
        playLicensed = try fields.bool("play_licensed") ?? playLicensed
    }
}

extension TenantAnchors {
    fileprivate mutating func apply(_ fields: inout ManagementFields, limit: Int) throws(Refusal) {
        appleRoots = try Self.roots("apple_roots", &fields, limit, or: appleRoots)
        androidRoots = try Self.roots("android_roots", &fields, limit, or: androidRoots)
        if fields.isNull("play_decryption_key") {
            playDecryptionKey = nil
        } else if let text = try fields.text("play_decryption_key", .name) {
            playDecryptionKey = try fields.trust("play_decryption_key") { () throws(AttestationTrustError) in
                try AttestationTrust.decryptionKey(text)
            }
        }
        if fields.isNull("play_verification_key") {
            playVerificationKey = nil
        } else if let text = try fields.text("play_verification_key", .name) {
            playVerificationKey = try fields.trust("play_verification_key") { () throws(AttestationTrustError) in
                try AttestationTrust.verificationKey(text)
            }
        }
        attesters = fields.isNull("attesters") ? nil : try fields.keys("attesters", limit: limit) ?? attesters
    }

    private static func roots(
        _ name: String, _ fields: inout ManagementFields, _ limit: Int, or old: [X509Certificate]?
    ) throws(Refusal) -> [X509Certificate]? {
        guard !fields.isNull(name) else { return nil }
        guard let text = try fields.text(name, .pem) else { return old }
        let roots = try fields.trust(name) { () throws(AttestationTrustError) in try AttestationTrust.roots(text, name)
        }
        guard roots.count <= limit else { throw fields.wrong(name, "at most \(limit) certificates", "array") }
        return roots
    }
}

extension ManagementFields {
    fileprivate func trust<Value>(
        _ name: String, _ read: () throws(AttestationTrustError) -> Value
    ) throws(Refusal) -> Value {
        do throws(AttestationTrustError) {
            return try read()
        } catch {
            throw wrong(name, error.reason, "anchor")
        }
    }

    fileprivate mutating func androidApps(
        _ name: String, limit: Int
    ) throws(Refusal) -> [AttestationPolicy.AndroidApp]? {
        guard let value = take(name) else { return nil }
        guard let array = value.array, array.count <= limit else {
            throw wrong(name, "an array of at most \(limit) apps", "array")
        }
        var apps: [AttestationPolicy.AndroidApp] = []
        for element in array {
            guard let object = element.object else { throw wrong(name, "objects", "object") }
            var fields = ManagementFields(object, within: path(name))
            let package = try fields.requiredText("package", .clientID)
            var digests: [[UInt8]] = []
            for text in try fields.texts("certificate_digests", .digest, limit: limit) ?? [] {
                digests.append((try? Hex.decode(text)) ?? [])
            }
            guard !digests.isEmpty else {
                throw fields.wrong("certificate_digests", "the SHA-256 of at least one certificate", "required")
            }
            try fields.end()
            apps.append(AttestationPolicy.AndroidApp(package: package, certificateDigests: digests))
        }
        return apps
    }
}
