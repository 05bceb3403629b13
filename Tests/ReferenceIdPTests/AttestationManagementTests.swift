import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

@Suite struct AttestationManagementTests {
    @Test func `the seed expects the standard phone's app, and a new tenant none`() throws {
        let world = try World()
        let seeded = try world.manage("GET", "tenants/acme").json["attestation"]
        #expect(seeded?["ios_app_ids"] == ["UNDERSTUDY.test.understudy.app"])
        #expect(seeded?["android_apps"]?.array?.first?["package"] == "test.understudy.app")
        let digest = String(repeating: "5a", count: 32)
        #expect(seeded?["android_apps"]?.array?.first?["certificate_digests"] == [.string(digest)])
        #expect(seeded?["apple_roots"] == .null)
        world.manage("POST", "tenants", ["id": "initech"])
        #expect(try world.manage("GET", "tenants/initech").json["attestation"]?["ios_app_ids"] == [])
    }

    @Test func `what is said of evidence stays, is shown and outlives a restart; a null anchor is the server's`() throws
    {
        let samples = try EvidenceSamples()
        let world = try World()
        let roots = try samples.trust()
        let change: JSON = .object([
            ("environment", "any"), ("minimum_level", "strongBox"), ("boot", "any"), ("minimum_patch", 202_601),
            ("play_device", "MEETS_STRONG_INTEGRITY"), ("play_app", false), ("play_licensed", true),
            ("apple_roots", .string(roots.appleRoots[0].pem)),
            ("play_decryption_key", .string(Base64.encode(samples.playKey))),
            ("play_verification_key", .string(Base64.encode(samples.playSigner.publicKey.spki))),
            ("attesters", roots.attesters.json),
        ])
        #expect(world.manage("PATCH", "tenants/acme", ["attestation": change]).status == 200)
        let shown = try #require(try world.manage("GET", "tenants/acme").json["attestation"])
        for name in ["environment", "minimum_level", "boot", "minimum_patch", "play_device", "play_app", "apple_roots"]
        {
            #expect(shown[name] == change[name], "\(name)")
        }
        #expect(shown["play_decryption_key"] == "set", "the key itself is not shown")
        #expect(try world.restarted().manage("GET", "tenants/acme").json["attestation"] == shown)
        let back: JSON = [
            "attestation": ["apple_roots": nil, "play_decryption_key": nil, "minimum_patch": nil, "play_device": nil]
        ]
        let after = try world.manage("PATCH", "tenants/acme", back).json["attestation"]
        #expect(after?["apple_roots"] == .null)
        #expect(after?["play_decryption_key"] == .null)
        #expect(after?["minimum_patch"] == .null)
        #expect(after?["play_device"] == .null)
        #expect(after?["boot"] == "any", "what is left out stays")
    }

    /// Values no field takes.
    static let wrong: [(String, JSON)] = [
        ("ios_app_ids", "UNDERSTUDY.a"), ("ios_app_ids", ["short.a"]), ("android_apps", ["a"]),
        ("android_apps", [["package": "a.b"]]), ("environment", "staging"), ("minimum_level", 1), ("boot", "locked"),
        ("minimum_patch", 202_613), ("play_app", "yes"), ("apple_roots", "no pem"), ("android_roots", 7),
        ("play_decryption_key", "AAAA"), ("play_verification_key", "AAAA"), ("attesters", ["keys": []]), ("other", 1),
    ]

    @Test(arguments: wrong)
    func `a value that cannot be is refused by the name of its field, and changes nothing`(
        name: String, value: JSON
    ) throws {
        let world = try World()
        let before = world.manage("GET", "tenants/acme").body
        let answer = world.manage("PATCH", "tenants/acme", ["attestation": .object([(name, value)])])
        #expect(answer.status == 422)
        let field = try answer.text("field")
        #expect(field.hasPrefix("attestation.\(name)"), "\(field)")
        #expect(world.manage("GET", "tenants/acme").body == before)
    }

    @Test func `a tenant's record from before there was evidence still restores`() throws {
        let world = try World()
        let records = try world.stored.all.map { record -> RecordChange in
            guard record.kind == .tenant, let value = record.value else { return record }
            var object = try #require(try JSON(parsing: value).object)
            object["attestation"] = nil
            object["anchors"] = nil
            return RecordChange(kind: .tenant, key: record.key, value: JSON.object(object).serialized())
        }
        let after = try World(records: records)
        #expect(after.manage("GET", "tenants/acme").body == world.manage("GET", "tenants/acme").body)
    }
}
