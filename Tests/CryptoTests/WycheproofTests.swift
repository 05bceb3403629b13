import Crypto
import Encoding
import Testing

@Suite(.enabled(if: Wycheproof.isPresent, Wycheproof.skipped))
struct WycheproofTests {
    private func publicKey(_ test: Wycheproof.Case) throws -> P256.PublicKey {
        let description = try #require(test.group["publicKey"])
        let key = try P256.PublicKey(x963: hex(#require(description["uncompressed"]?.string)))
        #expect(Hex.encode(key.spki) == test.group["publicKeyDer"]?.string)
        // Their PEM has no line feed at its end in some releases.
        #expect(key.pem.hasPrefix(try #require(test.group["publicKeyPem"]?.string)))
        return key
    }

    @Test func `ECDSA P-256 SHA-256, raw signatures`() throws {
        let compared = try Wycheproof.agree("ecdsa_secp256r1_sha256_p1363") { test in
            try publicKey(test).verify(test.bytes("sig"), of: test.bytes("msg"))
        }
        #expect(compared == 262)
    }

    @Test func `ECDSA P-256 SHA-256, DER signatures`() throws {
        let compared = try Wycheproof.agree("ecdsa_secp256r1_sha256") { test in
            let signature = try test.bytes("sig")
            guard let raw = try? P256.ECDSASignature.raw(der: signature) else { return false }
            return try publicKey(test).verify(raw, of: test.bytes("msg"))
        }
        #expect(compared == 484)
    }

    @Test func `ECDSA P-256 SHA-512, raw signatures`() throws {
        let compared = try Wycheproof.agree("ecdsa_secp256r1_sha512_p1363") { test in
            try publicKey(test).verify(test.bytes("sig"), digest: SHA512.hash(test.bytes("msg")))
        }
        #expect(compared == 332)
    }

    @Test func `ECDH P-256 with points as bytes`() throws {
        // The key's scalar may have a leading zero byte there, or lack some.
        func scalar(_ bytes: [UInt8]) -> [UInt8] {
            let digits = Array(bytes.drop { $0 == 0 })
            return [UInt8](repeating: 0, count: max(0, 32 - digits.count)) + digits
        }
        let compressed = "compressed points are not taken: nothing in these protocols sends one"
        let explained = Dictionary(
            uniqueKeysWithValues: try Wycheproof.cases("ecdh_secp256r1_ecpoint").filter {
                $0.isValid == true && (try? $0.bytes("public"))?.count == 33
            }.map { ($0.id, compressed) })
        let compared = try Wycheproof.agree("ecdh_secp256r1_ecpoint", explained: explained) { test in
            let key = try P256.PrivateKey(scalar: scalar(test.bytes("private")))
            guard let peer = try? P256.PublicKey(x963: test.bytes("public")) else { return false }
            return try key.sharedSecret(with: peer) == test.bytes("shared")
        }
        #expect(compared == 355)
        #expect(explained.count <= 5)
    }

    @Test func `AES key wrap with 32-byte keys`() throws {
        let compared = try Wycheproof.agree("aes_wrap", where: { $0.group["keySize"] == 256 }) { test in
            let (key, material, wrapped) = (try test.bytes("key"), try test.bytes("msg"), try test.bytes("ct"))
            guard let opened = try? AESKeyWrap.unwrap(wrapped, key: key) else { return false }
            #expect(try AESKeyWrap.wrap(material, key: key) == wrapped)
            return opened == material
        }
        #expect(compared > 50)
    }

    @Test func `HKDF SHA-256`() throws {
        let compared = try Wycheproof.agree("hkdf_sha256") { test in
            let length = Int(try #require(test.members["size"]?.int))
            let output = try? HKDF.sha256(
                ikm: test.bytes("ikm"), salt: test.bytes("salt"), info: test.bytes("info"), length: length)
            return try output == test.bytes("okm")
        }
        #expect(compared == 86)
    }

    @Test func `HMAC SHA-256, short tags as prefixes`() throws {
        let compared = try Wycheproof.agree("hmac_sha256") { test in
            let size = Int(try #require(test.group["tagSize"]?.int)) / 8
            let code = HMAC.sha256(key: try test.bytes("key"), message: try test.bytes("msg"))
            return HMAC.equal(Array(code.prefix(size)), try test.bytes("tag"))
        }
        #expect(compared == 174)
    }

    @Test func `AES-GCM with the nonces, tags and keys taken here`() throws {
        func isOurs(_ test: Wycheproof.Case) -> Bool {
            test.group["ivSize"] == 96 && test.group["tagSize"] == 128 && test.group["keySize"] != 192
        }
        let compared = try Wycheproof.agree("aes_gcm", where: isOurs) { test in
            let (key, nonce, aad) = (try test.bytes("key"), try test.bytes("iv"), try test.bytes("aad"))
            let message = try test.bytes("msg")
            let sealed = try test.bytes("ct") + test.bytes("tag")
            if test.isValid == true { #expect(try AESGCM.seal(message, key: key, nonce: nonce, aad: aad) == sealed) }
            return (try? AESGCM.open(sealed, key: key, nonce: nonce, aad: aad)) == message
        }
        #expect(compared > 100)
    }

    @Test func `AES-GCM with other nonces and keys is refused`() throws {
        func isNotOurs(_ test: Wycheproof.Case) -> Bool {
            test.group["ivSize"] != 96 || test.group["keySize"] == 192
        }
        for test in try Wycheproof.cases("aes_gcm") where isNotOurs(test) {
            let sealed = try test.bytes("ct") + test.bytes("tag")
            #expect(throws: CryptoError.self) {
                try AESGCM.open(sealed, key: test.bytes("key"), nonce: test.bytes("iv"), aad: test.bytes("aad"))
            }
        }
    }
}
