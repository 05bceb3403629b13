import Crypto
import Encoding
import Testing

@Suite struct RSATests {
    private static let shared = Result { try RSA.PrivateKey.generate(bits: 2048) }
    private let key: RSA.PrivateKey
    private let message = Array("message".utf8)

    init() throws { key = try Self.shared.get() }

    @Test(arguments: [RSA.Padding.pkcs1, .pss])
    func `a signature verifies with its own padding only`(padding: RSA.Padding) throws {
        let signature = try key.sign(message, padding: padding)
        #expect(signature.count == 256)
        #expect(key.publicKey.verify(signature, of: message, padding: padding))
        #expect(!key.publicKey.verify(signature, of: message, padding: padding == .pss ? .pkcs1 : .pss))
        #expect(!key.publicKey.verify(signature, of: message + [0], padding: padding))
        #expect(!key.publicKey.verify(Array(signature.dropFirst()), of: message, padding: padding))
        #expect(!key.publicKey.verify([0] + signature, of: message, padding: padding))
        for bit in stride(from: 0, to: 2048, by: 7) {
            #expect(!key.publicKey.verify(flipping(bit: bit, of: signature), of: message, padding: padding))
        }
    }

    @Test func `PKCS1 signatures repeat and PSS signatures do not`() throws {
        #expect(try key.sign(message, padding: .pkcs1) == key.sign(message, padding: .pkcs1))
        #expect(try key.sign(message, padding: .pss) != key.sign(message, padding: .pss))
    }

    @Test func `a key survives PKCS8 and its public numbers`() throws {
        let again = try RSA.PrivateKey(pkcs8: key.pkcs8)
        #expect(again.publicKey == key.publicKey)
        let publicKey = try RSA.PublicKey(n: key.publicKey.n, e: key.publicKey.e)
        #expect(publicKey == key.publicKey)
        #expect(publicKey.e == [1, 0, 1])
        #expect(publicKey.verify(try again.sign(message, padding: .pss), of: message, padding: .pss))
    }

    @Test func `what is not exactly one PKCS8 RSA key is refused`() throws {
        let der = try key.pkcs8
        #expect(throws: CryptoError.der) { try RSA.PrivateKey(pkcs8: []) }
        #expect(throws: CryptoError.der) { try RSA.PrivateKey(pkcs8: der + [0]) }
        #expect(throws: CryptoError.der) { try RSA.PrivateKey(pkcs8: Array(der.dropLast())) }
        #expect(throws: CryptoError.der) { try RSA.PrivateKey(pkcs8: Array(der.dropFirst())) }
    }

    @Test(arguments: [1024, 2040, 2047, 8193, 16384])
    func `a modulus of another size is refused`(bits: Int) {
        var modulus = [UInt8](repeating: 0xFF, count: (bits + 7) / 8)
        modulus[0] >>= UInt8(modulus.count * 8 - bits)
        #expect(throws: CryptoError.modulusBits(bits)) { try RSA.PublicKey(n: modulus, e: [1, 0, 1]) }
        #expect(throws: CryptoError.modulusBits(bits)) { try RSA.PrivateKey.generate(bits: bits) }
    }

    @Test func `numbers that cannot be a key are refused`() throws {
        let n = key.publicKey.n
        let even = Array(n.dropLast()) + [0]
        #expect(throws: CryptoError.rsaNumbers) { try RSA.PublicKey(n: [], e: [3]) }
        #expect(throws: CryptoError.rsaNumbers) { try RSA.PublicKey(n: [0] + n, e: [1, 0, 1]) }
        #expect(throws: CryptoError.rsaNumbers) { try RSA.PublicKey(n: even, e: [1, 0, 1]) }
        for exponent in [[], [0], [1], [2], [0, 3], [1, 0, 0], [UInt8](repeating: 0xFF, count: 9)] as [[UInt8]] {
            #expect(throws: CryptoError.rsaNumbers) { try RSA.PublicKey(n: n, e: exponent) }
        }
    }

    @Test func `a private key never shows itself`() throws {
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(text.contains("‹redacted›")) }
    }
}
