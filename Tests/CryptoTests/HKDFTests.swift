import Crypto
import Encoding
import Testing

@Suite struct HKDFTests {
    @Test func `HKDF agrees with RFC 5869 A.1`() throws {
        let okm = try HKDF.sha256(
            ikm: [UInt8](repeating: 0x0B, count: 22), salt: [UInt8](0...12), info: [UInt8](0xF0...0xF9), length: 42)
        #expect(
            Hex.encode(okm) == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    }

    @Test func `HKDF agrees with RFC 5869 A.3, without salt and info`() throws {
        let okm = try HKDF.sha256(ikm: [UInt8](repeating: 0x0B, count: 22), salt: [], info: [], length: 42)
        #expect(
            Hex.encode(okm) == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test func `a shorter output is the beginning of a longer one`() throws {
        let long = try HKDF.sha256(ikm: [1], salt: [2], info: [3], length: 255 * 32)
        for length in [0, 1, 31, 32, 33, 8159] {
            #expect(try HKDF.sha256(ikm: [1], salt: [2], info: [3], length: length) == Array(long.prefix(length)))
        }
    }

    @Test func `an empty secret is a secret too`() throws {
        // HMAC by hand, as RFC 5869 section 2 writes it.
        let prk = HMAC.sha256(key: [UInt8](repeating: 0, count: 32), message: [])
        let okm = HMAC.sha256(key: prk, message: [1])
        #expect(try HKDF.sha256(ikm: [], salt: [], info: [], length: 32) == okm)
    }

    @Test(arguments: [-1, 255 * 32 + 1])
    func `a length HKDF cannot give is refused`(length: Int) {
        #expect(throws: CryptoError.outputLength(length)) {
            try HKDF.sha256(ikm: [1], salt: [], info: [], length: length)
        }
    }
}
