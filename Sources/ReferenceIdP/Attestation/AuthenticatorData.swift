import Encoding

/// The authenticator data of App Attest: a fixed head, a credential in attestations, and since iOS 27 a map.
struct AuthenticatorData: Sendable {
    /// The attested credential.
    struct Credential: Sendable {
        let aaguid: [UInt8]
        let id: [UInt8]
        /// The key's CBOR, byte for byte.
        let key: [UInt8]
    }

    let appIDHash: [UInt8]
    let flags: UInt8
    let counter: Int64
    let credential: Credential?
    /// The map at the end, where there is one.
    let extensions: CBOR?

    /// Why bytes are not authenticator data.
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads all of the bytes.
    init(_ bytes: [UInt8], hasCredential: Bool) throws(Malformed) {
        guard bytes.count >= 37 else { throw Malformed(description: "\(bytes.count) bytes, 37 at least are needed") }
        appIDHash = Array(bytes[..<32])
        flags = bytes[32]
        counter = bytes[33..<37].reduce(0) { $0 << 8 | Int64($1) }
        var rest = bytes[37...]
        credential = hasCredential ? try Self.credential(&rest) : nil
        guard !rest.isEmpty else {
            extensions = nil
            return
        }
        let (map, count) = try Self.prefix(rest)
        guard count == rest.count else {
            throw Malformed(description: "\(rest.count - count) bytes behind the end")
        }
        extensions = map
    }

    private static func credential(_ rest: inout ArraySlice<UInt8>) throws(Malformed) -> Credential {
        guard rest.count >= 18 else { throw Malformed(description: "no room for a credential") }
        let aaguid = Array(rest.prefix(16))
        rest = rest.dropFirst(16)
        let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(2)
        guard rest.count >= length else { throw Malformed(description: "the credential id ends too early") }
        let id = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        let (_, count) = try prefix(rest)
        let key = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        return Credential(aaguid: aaguid, id: id, key: key)
    }

    private static func prefix(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> (value: CBOR, count: Int) {
        do throws(CBORError) {
            return try CBOR.decodePrefix(bytes)
        } catch {
            throw Malformed(description: error.description)
        }
    }
}

extension EvidenceLook {
    /// What an attestation and an assertion have alike: whose app it is, and the additions of iOS 27.
    mutating func app(of data: AuthenticatorData) {
        let ids = expected.policy?.iosAppIDs
        let match = ids?.first { SHA256Text.hash($0) == data.appIDHash }
        found.note(
            "rpIdHash", match ?? data.appIDHash.hex, "app_id",
            ids.map {
                "the hash of \($0.isEmpty ? "an app id, and the tenant has none" : $0.joined(separator: " or "))"
            }
                ?? "the hash of the app id", ids == nil ? nil : match != nil)
    }

    /// The map of iOS 27, in its three shapes: none, with the flag ED, and, as in Apple's sample, without.
    mutating func additions(of data: AuthenticatorData, flags allowed: [UInt8], withMap: [UInt8]) {
        let accepted = data.extensions == nil ? allowed : allowed + withMap
        found.note(
            "flags", "0x\([data.flags].hex)", "flags",
            "one of " + accepted.map { "0x\([$0].hex)" }.joined(separator: ", "), accepted.contains(data.flags))
        guard let map = data.extensions else { return }
        let names = map.map?.compactMap(\.key.text) ?? []
        let version = map["apple_bundle_version_01"]?.text
        let category = map["apple_validation_category_01"]?.bytes
        let holds =
            names == ["apple_bundle_version_01", "apple_validation_category_01"] && version?.isEmpty == false
            && category?.count == 4
        let number = category?.reversed().reduce(0) { $0 << 8 | Int($1) }
        found.note(
            "extensions", holds ? "bundle version \(version ?? ""), category \(number ?? 0)" : "\(names)", "extensions",
            "a bundle version and a validation category of four bytes, and nothing else", holds)
    }
}
