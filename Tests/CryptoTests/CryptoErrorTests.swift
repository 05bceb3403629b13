import Crypto
import Testing

@Suite struct CryptoErrorTests {
    private let all: [CryptoError] = [
        .keyLength(1), .nonceLength(1), .notAuthentic, .outputLength(1), .scalarLength(1), .scalarRange, .pointEncoding,
        .pointNotOnCurve, .keyMaterialLength(1), .digestLength(1), .signatureLength(1), .der, .modulusBits(1),
        .rsaNumbers, .encryptedKey, .keyKind, .openSSL(call: "EVP_x", reason: "why"),
    ]

    @Test func `every error has a dotted code of its own and a text`() {
        #expect(Set(all.map(\.code)).count == all.count)
        for error in all {
            #expect(error.code.hasPrefix("crypto."))
            #expect(!error.description.isEmpty)
        }
    }

    @Test func `a failure leaves nothing behind for the next call`() throws {
        let key = try P256.PrivateKey.generate(.system)
        for _ in 0..<20 {
            #expect(!key.publicKey.verify([UInt8](repeating: 0, count: 64), of: [1]))
            #expect(throws: CryptoError.der) { try P256.ECDSASignature.raw(der: [0x30, 0x03, 1, 2]) }
            #expect(throws: CryptoError.der) { try RSA.PrivateKey(pkcs8: [0x30, 0x03, 1, 2]) }
            #expect(throws: CryptoError.pointNotOnCurve) {
                try P256.PublicKey(x963: [4] + [UInt8](repeating: 1, count: 64))
            }
            #expect(key.publicKey.verify(try key.sign([1]), of: [1]))
        }
    }
}
