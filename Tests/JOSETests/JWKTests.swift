import Crypto
import Encoding
import JOSE
import Testing

@Suite struct JWKTests {
    private let good = Vectors.rfc9449Key

    @Test func `thumbprints are those of the RFCs`() throws {
        #expect(try JWK(Vectors.rfc9449Key).thumbprint == Vectors.rfc9449Thumbprint)
        #expect(try JWK(Vectors.rfc7638Key.setting("kid", nil)).thumbprint == Vectors.rfc7638Thumbprint)
        #expect(try JWK(Vectors.rfc7638Key).thumbprint == Vectors.rfc7638Thumbprint)
    }

    @Test(arguments: [
        (
            "APFyjLiNwUmncHSgm2nh3ywBfClkVURVtu938qqKA4k", "kI7bTBQs36tSsuymgVxbsBgGWjX95uekdAZObAstQMo",
            "vY3L2LeMkROKHrd0ol_UvSYKfMn7L5eKI8bcUkEWVFs", "hf42bbOSzRJNxJAkzku-fMdW0llYIGdUfxWiXpZxbSI"
        ),
        (
            "oDoQRrg0k0Xe7zxZaWSQS6Z1V8NKsoR0ZNVLtHgoW8Q", "AGgn7p0GioFAmr3OFveU4EAZj3uC2kt8D1KwIrtusbk",
            "RHCBPF-tGC5_EYaVLoO8CODrVlcOFCDpHmgB6L75pAw", "ucbTWsNbQ2QX-IbWy7US4ccU0PL700nOW1eI5d9aE-8"
        ),
        (
            "APgYG5BNQBWVT-w7yW51bi9M5hVluuqPOGXXl5if_NM", "QmnCr5fkc5hvPAHJlus28hFl9fvENm3BAHbt7YcDakQ",
            "blYhrm9qF1QjcvW-PCH4EI6gqOq6p1fcH8eCuxaT0WU", ""
        ),
    ])
    func `a leading zero is part of the thumbprint`(x: String, y: String, right: String, wrong: String) throws {
        let key = try JWK(Vectors.ecKey(x, y))
        #expect(key.thumbprint == right)
        #expect(key.thumbprint != wrong)
        #expect(key.json["x"]?.string == x && key.json["y"]?.string == y)
    }

    @Test func `a coordinate without its leading zero is refused, not repaired`() throws {
        let x = try Base64URL.decode("APFyjLiNwUmncHSgm2nh3ywBfClkVURVtu938qqKA4k")
        let stripped = Base64URL.encode(x.dropFirst())
        #expect(throws: JOSEError.keyCoordinate("x", length: 31)) {
            try JWK(Vectors.ecKey(stripped, "kI7bTBQs36tSsuymgVxbsBgGWjX95uekdAZObAstQMo"))
        }
        let padded = Base64URL.encode([0] + x)
        #expect(throws: JOSEError.keyCoordinate("x", length: 33)) {
            try JWK(Vectors.ecKey(padded, "kI7bTBQs36tSsuymgVxbsBgGWjX95uekdAZObAstQMo"))
        }
    }

    @Test func `other members change neither key nor thumbprint`() throws {
        let more = good.setting("kid", "x").setting("use", "sig").setting("alg", "ES256").setting("x5t", "y")
        #expect(try JWK(more) == JWK(good))
        #expect(try JWK(more).json == JWK(good).json)
    }

    @Test func `a key survives its JSON`() throws {
        let entropy = Entropy(seed: [1])
        for _ in 0..<300 {
            let key = JWK.p256(try P256.PrivateKey.generate(entropy).publicKey)
            #expect(try JWK(key.json) == key)
            #expect(key.thumbprint.utf8.count == 43)
            #expect(try JWK(key.json).thumbprint == key.thumbprint)
        }
        let rsa = try JWK(Vectors.rfc7638Key)
        #expect(try JWK(rsa.json) == rsa)
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
    func `a private member is refused whatever it holds`(name: String) {
        for value in ["AQAB", "", .null, 1, []] as [JSON] {
            #expect(throws: JOSEError.keyPrivate(name)) { try JWK(good.setting(name, value)) }
            #expect(throws: JOSEError.keyPrivate(name)) { try JWK(Vectors.rfc7638Key.setting(name, value)) }
        }
    }

    @Test func `a key of another type or curve is refused`() {
        #expect(throws: JOSEError.keyType("P-384")) { try JWK(good.setting("crv", "P-384")) }
        #expect(throws: JOSEError.keyType("secp256k1")) { try JWK(good.setting("crv", "secp256k1")) }
        #expect(throws: JOSEError.keyType("OKP")) { try JWK(good.setting("kty", "OKP")) }
        #expect(throws: JOSEError.keyType("ec")) { try JWK(good.setting("kty", "ec")) }
        #expect(throws: JOSEError.keyType("oct")) { try JWK(["kty": "oct"]) }
    }

    @Test(arguments: ["kty", "crv", "x", "y"])
    func `a required member that is missing or no string is refused`(name: String) {
        for value in [nil, .null, 1, []] as [JSON?] {
            #expect(throws: JOSEError.keyMember(name)) { try JWK(good.setting(name, value)) }
        }
    }

    @Test func `coordinates in other encodings are refused`() {
        for x in ["l8tFrhx+34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs", "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs=", " "] {
            #expect(throws: JOSEError.keyMember("x")) { try JWK(good.setting("x", .string(x))) }
        }
    }

    @Test func `a point beside the curve is refused`() {
        #expect(throws: JOSEError.keyValue(rule: "crypto.p256.not_on_curve")) {
            try JWK(good.setting("y", good["x"]))
        }
    }

    @Test func `weak and padded RSA keys are refused`() throws {
        let n = try Base64URL.decode(#require(Vectors.rfc7638Key["n"]?.string))
        let small = JSON.string(Base64URL.encode(n.prefix(127) + [1]))
        #expect(throws: JOSEError.keyValue(rule: "crypto.rsa.modulus_bits")) {
            try JWK(Vectors.rfc7638Key.setting("n", small))
        }
        #expect(throws: JOSEError.keyValue(rule: "crypto.rsa.numbers")) {
            try JWK(Vectors.rfc7638Key.setting("n", .string(Base64URL.encode([0] + n))))
        }
        #expect(throws: JOSEError.keyValue(rule: "crypto.rsa.numbers")) {
            try JWK(Vectors.rfc7638Key.setting("e", "AQ"))
        }
    }

    @Test func `a key for another use is refused`() {
        #expect(throws: JOSEError.keyUse("use enc")) { try JWK(good.setting("use", "enc")) }
        #expect(throws: JOSEError.keyUse("use a number")) { try JWK(good.setting("use", 1)) }
        #expect(throws: JOSEError.keyUse("alg ES384")) { try JWK(good.setting("alg", "ES384")) }
        #expect(throws: JOSEError.keyUse("alg RS256")) { try JWK(good.setting("alg", "RS256")) }
        #expect(throws: JOSEError.keyUse("key_ops")) { try JWK(good.setting("key_ops", ["sign"])) }
        #expect(throws: Never.self) { try JWK(good.setting("key_ops", ["verify"])) }
    }

    @Test func `what is no object is no key`() {
        for json in [.null, true, 1, "key", []] as [JSON] {
            #expect(throws: JOSEError.keyNotObject(kind: json.kind)) { try JWK(json) }
        }
    }
}

@Suite struct JWKSetTests {
    private let ec = Vectors.rfc9449Key.setting("kid", "a")
    private let rsa = Vectors.rfc7638Key

    @Test func `the key of that name and algorithm is found`() throws {
        let set = try JWKSet(["keys": [ec, rsa]])
        #expect(set.candidates(keyID: "a", algorithm: .es256) == [try JWK(ec)])
        #expect(set.candidates(keyID: nil, algorithm: .es256) == [try JWK(ec)])
        #expect(set.candidates(keyID: "2011-04-29", algorithm: .rs256) == [try JWK(rsa)])
        #expect(set.candidates(keyID: "a", algorithm: .rs256).isEmpty)
        #expect(set.candidates(keyID: "b", algorithm: .es256).isEmpty)
        // That key says RS256, so it is for nothing else.
        #expect(set.candidates(keyID: "2011-04-29", algorithm: .ps256).isEmpty)
    }

    @Test func `members that are no key of ours are left out`() throws {
        let set = try JWKSet(["keys": [["kty": "OKP"], 1, ec.setting("use", "enc"), ec.setting("x", "AA"), ec]])
        #expect(set.entries.count == 1)
    }

    @Test func `a set with a private key, without keys or too large is refused`() {
        #expect(throws: JOSEError.keyPrivate("d")) { try JWKSet(["keys": [ec.setting("d", "AQ")]]) }
        #expect(throws: JOSEError.keyPrivate("k")) { try JWKSet(["keys": [["kty": "oct", "k": "AQ"], ec]]) }
        for json in [[:], ["keys": [:]], [], ["keys": .array(.init(repeating: ec, count: 65))]] as [JSON] {
            #expect(throws: JOSEError.keyMember("keys")) { try JWKSet(json) }
        }
    }

    @Test func `a set survives its JSON`() throws {
        let set = JWKSet([
            .init(keyID: "a", key: try JWK(ec), algorithm: .es256), .init(keyID: nil, key: try JWK(rsa)),
        ])
        #expect(try JWKSet(set.json) == set)
    }
}
