import Crypto
import Encoding
import Testing

@Suite struct P256KeyTests {
    private let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    private let generatorX = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    private let generatorY = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"

    @Test func `the scalar one gives the base point`() throws {
        let key = try P256.PrivateKey(scalar: [UInt8](repeating: 0, count: 31) + [1])
        #expect(Hex.encode(key.publicKey.x) == generatorX)
        #expect(Hex.encode(key.publicKey.y) == generatorY)
    }

    @Test func `the greatest scalar gives the base point's mirror image`() throws {
        var scalar = try hex(order)
        scalar[31] -= 1
        let key = try P256.PrivateKey(scalar: scalar)
        #expect(Hex.encode(key.publicKey.x) == generatorX)
        #expect(Hex.encode(key.publicKey.y) != generatorY)
        #expect(try key.scalar == scalar)
    }

    @Test func `zero, the order and all above it are no scalars`() throws {
        var above = try hex(order)
        above[31] += 1
        for scalar in [[UInt8](repeating: 0, count: 32), try hex(order), above, [UInt8](repeating: 0xFF, count: 32)] {
            #expect(throws: CryptoError.scalarRange) { try P256.PrivateKey(scalar: scalar) }
        }
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func `a scalar of another length is refused`(length: Int) {
        #expect(throws: CryptoError.scalarLength(length)) {
            try P256.PrivateKey(scalar: [UInt8](repeating: 1, count: length))
        }
    }

    @Test func `a key survives its scalar and its point`() throws {
        let entropy = Entropy(seed: [1])
        for _ in 0..<50 {
            let key = try P256.PrivateKey.generate(entropy)
            let again = try P256.PrivateKey(scalar: key.scalar)
            #expect(again.publicKey == key.publicKey)
            #expect(try P256.PublicKey(x963: key.publicKey.x963) == key.publicKey)
            #expect(try P256.PublicKey(x: key.publicKey.x, y: key.publicKey.y) == key.publicKey)
            #expect(try P256.PublicKey(spki: key.publicKey.spki) == key.publicKey)
        }
    }

    @Test func `keys with a leading zero keep all 32 bytes of each coordinate`() throws {
        let zeroX = try P256.PrivateKey(scalar: Base64URL.decode("7zLr_BENm3m1pP8j0zpaLGuKd4XB20OyqagycwBnNaU"))
        #expect(Base64URL.encode(zeroX.publicKey.x) == "APFyjLiNwUmncHSgm2nh3ywBfClkVURVtu938qqKA4k")
        #expect(Base64URL.encode(zeroX.publicKey.y) == "kI7bTBQs36tSsuymgVxbsBgGWjX95uekdAZObAstQMo")
        let zeroY = try P256.PrivateKey(scalar: Base64URL.decode("ZwrOlBsraqz3S0lzKdET2aFBR5JZo5hN-_r_8_4hYrQ"))
        #expect(Base64URL.encode(zeroY.publicKey.y) == "AGgn7p0GioFAmr3OFveU4EAZj3uC2kt8D1KwIrtusbk")
        #expect(zeroX.publicKey.x963.count == 65 && zeroY.publicKey.x963.count == 65)
    }

    @Test func `points beside the curve are refused`() throws {
        let point = try P256.PrivateKey.generate(Entropy(seed: [2])).publicKey.x963
        for bit in 8..<65 * 8 {
            // Flipping one bit of one coordinate leaves the curve.
            #expect(throws: CryptoError.pointNotOnCurve) { try P256.PublicKey(x963: flipping(bit: bit, of: point)) }
        }
        #expect(throws: CryptoError.pointNotOnCurve) {
            try P256.PublicKey(x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32))
        }
        // The field's prime as a coordinate: zero modulo p, but not written as a field element.
        let prime = try hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        #expect(throws: CryptoError.pointNotOnCurve) {
            try P256.PublicKey(x: prime, y: [UInt8](point.suffix(32)))
        }
    }

    @Test func `only uncompressed points are points`() throws {
        let point = try P256.PrivateKey.generate(Entropy(seed: [2])).publicKey.x963
        let compressed = [point[64] & 1 == 0 ? 2 : 3] + point[1...32]
        let hybrid = [point[64] & 1 == 0 ? 6 : 7] + point.dropFirst()
        for bytes in [[], [0], [4], compressed, hybrid, Array(point.dropLast()), point + [0]] {
            #expect(throws: CryptoError.pointEncoding) { try P256.PublicKey(x963: bytes) }
        }
        for (x, y) in [(31, 32), (32, 31), (33, 32), (32, 33), (0, 0), (64, 0)] {
            #expect(throws: CryptoError.pointEncoding) {
                try P256.PublicKey(x: [UInt8](repeating: 1, count: x), y: [UInt8](repeating: 1, count: y))
            }
        }
    }

    @Test func `SPKI and PEM are what other programs write`() throws {
        // The key of the Wycheproof P-256 sets, with their DER and PEM.
        let x963 = try hex(
            "042927b10512bae3eddcfe467828128bad2903269919f7086069c8c4df6c732838"
                + "c7787964eaac00e5921fb1498a60f4606766b3d9685001558d1a974e7341513e")
        let key = try P256.PublicKey(x963: x963)
        #expect(Hex.encode(key.spki) == "3059301306072a8648ce3d020106082a8648ce3d030107034200" + Hex.encode(x963))
        #expect(
            key.pem == """
                -----BEGIN PUBLIC KEY-----
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKSexBRK64+3c/kZ4KBKLrSkDJpkZ
                9whgacjE32xzKDjHeHlk6qwA5ZIfsUmKYPRgZ2az2WhQAVWNGpdOc0FRPg==
                -----END PUBLIC KEY-----

                """)
    }

    @Test func `an SPKI of another curve, cut short or with more behind it is refused`() throws {
        let spki = try P256.PrivateKey.generate(Entropy(seed: [3])).publicKey.spki
        #expect(throws: CryptoError.der) { try P256.PublicKey(spki: spki + [0]) }
        #expect(throws: CryptoError.der) { try P256.PublicKey(spki: Array(spki.dropLast())) }
        for bit in 0..<26 * 8 {
            #expect(throws: CryptoError.der) { try P256.PublicKey(spki: flipping(bit: bit, of: spki)) }
        }
    }

    @Test func `a seeded key is the same key again`() throws {
        let first = try P256.PrivateKey.generate(Entropy(seed: [7]))
        let second = try P256.PrivateKey.generate(Entropy(seed: [7]))
        let other = try P256.PrivateKey.generate(Entropy(seed: [8]))
        #expect(first.publicKey == second.publicKey)
        #expect(first.publicKey != other.publicKey)
        #expect(Set([first.publicKey, second.publicKey, other.publicKey]).count == 2)
    }

    @Test func `a private key never shows itself`() throws {
        let key = try P256.PrivateKey.generate(.system)
        let scalar = Hex.encode(try key.scalar)
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains("‹redacted›"))
            #expect(!text.contains(scalar))
        }
    }

    @Test func `both sides agree on 32 bytes, also when the first is zero`() throws {
        let entropy = Entropy(seed: [4])
        let mine = try P256.PrivateKey.generate(entropy)
        var sawLeadingZero = false
        for _ in 0..<1500 where !sawLeadingZero {
            let theirs = try P256.PrivateKey.generate(entropy)
            let secret = try mine.sharedSecret(with: theirs.publicKey)
            #expect(secret.count == 32)
            #expect(try theirs.sharedSecret(with: mine.publicKey) == secret)
            sawLeadingZero = secret[0] == 0
        }
        #expect(sawLeadingZero)
    }
}
