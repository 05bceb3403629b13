import Crypto
import Encoding
import JOSE

extension AttestationPolicy {
    /// The policy as it is stored and shown.
    var json: JSON {
        .object([
            ("ios_app_ids", .texts(iosAppIDs)),
            (
                "android_apps",
                .array(
                    androidApps.map {
                        [
                            "package": .string($0.package),
                            "certificate_digests": .texts($0.certificateDigests.map { Hex.encode($0) }),
                        ]
                    })
            ),
            ("environment", .string(environment.rawValue)), ("minimum_level", .string(minimumLevel.rawValue)),
            ("boot", .string(boot.rawValue)), ("minimum_patch", minimumPatch.map(JSON.int) ?? .null),
            ("play_device", playDevice.isEmpty ? .null : .string(playDevice)), ("play_app", .bool(playApp)),
            ("play_licensed", .bool(playLicensed)),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        var apps: [AndroidApp] = []
        for app in try reader.objects("android_apps") {
            apps.append(
                AndroidApp(
                    package: try app.text("package"),
                    certificateDigests: try app.texts("certificate_digests").compactMap { try? Hex.decode($0) }))
        }
        self.init(iosAppIDs: try reader.texts("ios_app_ids"), androidApps: apps)
        environment = try reader.word("environment")
        minimumLevel = try reader.word("minimum_level")
        boot = try reader.word("boot")
        minimumPatch = try reader.optionalInteger("minimum_patch")
        playDevice = try reader.optionalText("play_device") ?? ""
        playApp = try reader.bool("play_app")
        playLicensed = try reader.bool("play_licensed")
    }

    /// What a tenant expects whose record is from before there was evidence: a seeded one the seed's app.
    static func ofOldRecords(_ tenant: String) -> AttestationPolicy {
        ["acme", "globex", "fapi"].contains(tenant) ? .seeded : AttestationPolicy()
    }
}

extension TenantAnchors: Recorded {
    var recordJSON: JSON {
        var object = JSONObject()
        object["apple_roots"] = appleRoots.map { .string($0.map(\.pem).joined()) }
        object["android_roots"] = androidRoots.map { .string($0.map(\.pem).joined()) }
        object["play_decryption_key"] = playDecryptionKey.map { .string(Base64.encode($0)) }
        object["play_verification_key"] = playVerificationKey.map { .string(Base64.encode($0.spki)) }
        object["attesters"] = attesters?.json
        return .object(object)
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        do {
            appleRoots = try reader.optionalText("apple_roots").map { try AttestationTrust.roots($0, "apple_roots") }
            androidRoots = try reader.optionalText("android_roots").map {
                try AttestationTrust.roots($0, "android_roots")
            }
            playDecryptionKey = try reader.optionalText("play_decryption_key").map(AttestationTrust.decryptionKey)
            playVerificationKey = try reader.optionalText("play_verification_key").map(AttestationTrust.verificationKey)
        } catch let error as AttestationTrustError {
            throw RestoreError(record: "tenant \(reader.record.key)", member: error.description)
        } catch let error as RestoreError {
            throw error
        } catch {
            throw RestoreError(record: "tenant \(reader.record.key)", member: "anchors")
        }
        attesters = reader.has("attesters") ? try reader.keys("attesters") : nil
    }

    /// The anchors as the management API shows them: the decryption key is not shown.
    var publicJSON: JSONObject {
        var object = recordJSON.object ?? JSONObject()
        for name in ["apple_roots", "android_roots", "play_verification_key", "attesters"] where object[name] == nil {
            object[name] = .null
        }
        object["play_decryption_key"] = playDecryptionKey == nil ? .null : "set"
        return object
    }
}

/// An App Attest key a tenant knows, stored under its id.
struct AttestedKey: Expiring, Hashable {
    /// Its point.
    let point: [UInt8]
    /// The counter of its last assertion; 0 before the first.
    var counter: Int64
    /// The DPoP key of its install, once a start was seen.
    var jkt: String?
    /// The device keys it was enrolled with.
    var kids: [String]
    /// When the key may be forgotten.
    var forgottenAt: Instant
}

extension AttestedKey: Recorded {
    var recordJSON: JSON {
        .object([
            ("point", .bytes(point)), ("counter", .int(counter)), ("jkt", jkt.map(JSON.string) ?? .null),
            ("kids", .texts(kids)), ("forgotten_at", .instant(forgottenAt)),
        ])
    }

    init(_ reader: RecordReader) throws(RestoreError) {
        self.init(
            point: try reader.bytes("point"), counter: try reader.integer("counter"),
            jkt: try reader.optionalText("jkt"), kids: try reader.texts("kids"),
            forgottenAt: try reader.instant("forgotten_at"))
    }
}
