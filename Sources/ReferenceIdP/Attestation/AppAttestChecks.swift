import Crypto
import Encoding

/// SHA-256 of a text's UTF-8.
enum SHA256Text {
    static func hash(_ text: String) -> [UInt8] { SHA256.hash(Array(text.utf8)) }
}

extension EvidenceLook {
    private static var nonceExtension: String { "1.2.840.113635.100.8.2" }

    /// An App Attest attestation object.
    mutating func appAttestation(_ bytes: [UInt8], keyID: String?) throws(EvidenceUnreadable) {
        let object = try cbor(bytes, keys: ["fmt", "attStmt", "authData"])
        let format = object["fmt"]?.text ?? "something else"
        try found.need("fmt", format, "fmt", "apple-appattest", format == "apple-appattest")
        let (chain, leaf) = try statement(object["attStmt"])
        self.chain(chain, roots: expected.trust.appleRoots)
        let usage = leaf.keyUsage?.contains(.digitalSignature) ?? false
        found.note(
            "leaf keyUsage", usage ? "digitalSignature" : "without digitalSignature", "chain.leaf_usage",
            "digitalSignature", usage)
        found.note(
            "leaf basicConstraints", leaf.basicConstraints?.isAuthority == true ? "CA" : "no CA", "chain.leaf_usage",
            "no authority", leaf.basicConstraints?.isAuthority != true)
        guard let authData = object["authData"]?.bytes else {
            return try found.missing("authData", "auth_data", "a byte string")
        }
        let data = try found.read("authData", "auth_data", "authenticator data with a credential, nothing behind it") {
            () throws(AuthenticatorData.Malformed) in try AuthenticatorData(authData, hasCredential: true)
        }
        app(of: data)
        additions(of: data, flags: [0x40], withMap: [0xC0])
        found.note("counter", "\(data.counter)", "counter", "0", data.counter == 0)
        try credential(data, leaf: leaf, keyID: keyID)
        nonce(in: leaf, authData: authData)
    }

    /// A map of exactly these text keys in this order, canonical, and nothing behind it.
    private mutating func cbor(_ bytes: [UInt8], keys: [String]) throws(EvidenceUnreadable) -> CBOR {
        let wanted = "a canonical CBOR map of " + keys.joined(separator: ", ")
        let value = try found.read("cbor", "cbor", wanted) { () throws(CBORError) in try CBOR(parsing: bytes) }
        let names = value.map?.map { $0.key.text ?? "?" } ?? []
        try found.need("cbor", "\(bytes.count) bytes: \(names.joined(separator: ", "))", "cbor", wanted, names == keys)
        return value
    }

    private mutating func statement(
        _ statement: CBOR?
    ) throws(EvidenceUnreadable) -> ([X509Certificate], X509Certificate) {
        let names = statement?.map?.map { $0.key.text ?? "?" } ?? []
        try found.need(
            "attStmt", names.joined(separator: ", "), "statement", "x5c and receipt, nothing else",
            names == ["x5c", "receipt"])
        let receipt = statement?["receipt"]?.bytes?.count ?? 0
        found.note("receipt", "\(receipt) bytes", "receipt", "a receipt, which is not looked into", receipt > 0)
        let chain = statement?["x5c"]?.array?.compactMap(\.bytes) ?? []
        let isPair = chain.count == 2 && statement?["x5c"]?.array?.count == 2
        try found.need("x5c", "\(chain.count) certificates", "chain.length", "leaf and intermediate", isPair)
        let certificates = try certificates(chain)
        return (certificates, certificates[0])
    }

    private mutating func credential(
        _ data: AuthenticatorData, leaf: X509Certificate, keyID: String?
    ) throws(EvidenceUnreadable) {
        guard let credential = data.credential else {
            return try found.missing("credential", "auth_data", "an attested credential")
        }
        environment(credential.aaguid)
        found.note("credIdLen", "\(credential.id.count)", "credential_id", "32", credential.id.count == 32)
        let key = Self.point(ofCOSE: credential.key)
        try found.need(
            "credential key", key == nil ? credential.key.hex : "P-256", "cose_key", "a canonical COSE key of P-256",
            key != nil)
        guard let key, let leafKey = leaf.p256PublicKey else {
            return try found.missing("leaf key", "key", "a P-256 key")
        }
        found.note("leaf key", "P-256", "key", "the credential's key", leafKey.x963 == key)
        let hash = SHA256.hash(key)
        found.note(
            "credentialId", credential.id.hex, "key_id", "the hash of the key's point", credential.id == hash)
        let named = keyID.map { try? Base64.decode($0) }
        found.note("key_id", keyID ?? "not given", "key_id", "the credential id in base64", named.map { $0 == hash })
        facts.keyID = Base64.encode(hash)
        facts.point = key
        facts.identity = SHA256.hash(key + (leaf.extensionValue(Self.nonceExtension) ?? []))
    }

    private mutating func environment(_ aaguid: [UInt8]) {
        let names = [
            Array("appattestdevelop".utf8): AttestationPolicy.Environment.development,
            Array("appattest".utf8) + [UInt8](repeating: 0, count: 7): .production,
        ]
        let actual = names[aaguid]
        let wanted = expected.policy?.environment
        found.note(
            "aaguid", actual?.rawValue ?? aaguid.hex, "environment",
            wanted.map { $0 == .any ? "production or development" : $0.rawValue } ?? "production or development",
            actual != nil && (wanted ?? .any == .any || wanted == actual))
    }

    /// The point of a COSE key written canonically: kty EC2, alg ES256, crv P-256, x and y.
    static func point(ofCOSE bytes: [UInt8]) -> [UInt8]? {
        guard let map = try? CBOR(parsing: bytes), let pairs = map.map,
            pairs.map(\.key) == [.int(1), .int(3), .int(-1), .int(-2), .int(-3)],
            map[1]?.int == 2, map[3]?.int == -7, map[-1]?.int == 1, let x = map[-2]?.bytes, let y = map[-3]?.bytes,
            let key = try? P256.PublicKey(x: x, y: y), map.serialized() == bytes
        else { return nil }
        return key.x963
    }

    /// The nonce in the leaf: SEQUENCE, [1], OCTET STRING of 32, and no other way to write it.
    private mutating func nonce(in leaf: X509Certificate, authData: [UInt8]) {
        let head: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]
        let value = leaf.extensionValue(Self.nonceExtension)
        let isWellFormed = value?.count == 38 && value?.starts(with: head) == true
        found.note(
            "nonce extension", value.map { "\($0.count) bytes" } ?? "missing", "nonce", "38 bytes around a nonce",
            isWellFormed)
        guard isWellFormed, let nonce = value?.dropFirst(6) else { return }
        let wanted = expected.binding.map { SHA256.hash(authData + $0.clientDataHash) }
        found.note(
            "nonce", nonce.hex, "nonce", "the hash of authData and clientDataHash", wanted.map { $0 == Array(nonce) })
    }

    /// An App Attest assertion.
    mutating func appAssertion(_ bytes: [UInt8], keyID: String?) throws(EvidenceUnreadable) {
        let object = try cbor(bytes, keys: ["signature", "authenticatorData"])
        guard let signature = object["signature"]?.bytes, let authData = object["authenticatorData"]?.bytes else {
            return try found.missing("assertion", "cbor", "two byte strings")
        }
        let data = try found.read("authenticatorData", "auth_data", "37 bytes, and the map of iOS 27 or nothing") {
            () throws(AuthenticatorData.Malformed) in try AuthenticatorData(authData, hasCredential: false)
        }
        facts.identity = SHA256.hash(bytes)
        facts.counter = data.counter
        app(of: data)
        additions(of: data, flags: [0x00, 0x40], withMap: [0x80, 0xC0])
        found.note("counter", "\(data.counter)", "counter", "1 or more", data.counter >= 1)
        let named = keyID.flatMap { try? Base64.decode($0) }
        found.note(
            "key_id", keyID ?? "not given", "key_id", "32 bytes in base64", keyID == nil ? nil : named?.count == 32)
        facts.keyID = named.map { Base64.encode($0) }
        facts.point = expected.attestedKey
        let raw = try found.read("signature", "signature", "a DER signature") { () throws(CryptoError) in
            try P256.ECDSASignature.raw(der: signature)
        }
        assertionSignature(raw, authData: authData)
    }

    /// The nonce is the message that is signed: it is hashed once more.
    private mutating func assertionSignature(_ raw: [UInt8], authData: [UInt8]) {
        let wanted = "a signature of the attested key over the nonce as a message"
        guard let point = expected.attestedKey, let key = try? P256.PublicKey(x963: point),
            let binding = expected.binding
        else {
            let isKnown = expected.attestedKey != nil
            return found.note("signature", isKnown ? "of unknown data" : "of an unknown key", "signature", wanted, nil)
        }
        let nonce = SHA256.hash(authData + binding.clientDataHash)
        let isGood = key.verify(raw, of: nonce)
        let isSingle = !isGood && key.verify(raw, digest: nonce)
        found.note(
            "signature", isGood ? "good" : isSingle ? "over the nonce as a digest" : "another", "signature", wanted,
            isGood)
    }
}
