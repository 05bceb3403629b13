import Crypto
import Encoding
import Testing

@Suite struct AESGCMTests {
    private let nonce = [UInt8](repeating: 0, count: 12)

    @Test func `the tag of nothing is that of the specification's first test case`() throws {
        let sealed = try AESGCM.seal([], key: [UInt8](repeating: 0, count: 16), nonce: nonce, aad: [])
        #expect(Hex.encode(sealed) == "58e2fccefa7e3061367f1d57a4e7455a")
    }

    @Test(arguments: [16, 32], [0, 1, 15, 16, 17, 4096])
    func `what is sealed opens again`(keyLength: Int, length: Int) throws {
        var stream = EntropyStream(seed: [UInt8(keyLength), UInt8(length & 255)])
        let key = stream.bytes(keyLength)
        let plain = stream.bytes(length)
        let nonce = stream.bytes(12)
        let aad = stream.bytes(length / 2)
        let sealed = try AESGCM.seal(plain, key: key, nonce: nonce, aad: aad)
        #expect(sealed.count == length + 16)
        #expect(try AESGCM.open(sealed, key: key, nonce: nonce, aad: aad) == plain)
    }

    @Test func `any single flipped bit is noticed`() throws {
        var stream = EntropyStream(seed: [9])
        let key = stream.bytes(32)
        let nonce = stream.bytes(12)
        let aad = stream.bytes(20)
        let sealed = try AESGCM.seal(stream.bytes(20), key: key, nonce: nonce, aad: aad)
        for bit in 0..<sealed.count * 8 {
            #expect(throws: CryptoError.notAuthentic) {
                try AESGCM.open(flipping(bit: bit, of: sealed), key: key, nonce: nonce, aad: aad)
            }
        }
        for bit in 0..<160 {
            #expect(throws: CryptoError.notAuthentic) {
                try AESGCM.open(sealed, key: key, nonce: nonce, aad: flipping(bit: bit, of: aad))
            }
        }
        for bit in 0..<256 {
            #expect(throws: CryptoError.notAuthentic) {
                try AESGCM.open(sealed, key: flipping(bit: bit, of: key), nonce: nonce, aad: aad)
            }
        }
    }

    @Test func `a text shorter than its tag is not authentic`() {
        for length in 0..<16 {
            #expect(throws: CryptoError.notAuthentic) {
                try AESGCM.open(
                    [UInt8](repeating: 0, count: length), key: [UInt8](repeating: 0, count: 16), nonce: nonce, aad: [])
            }
        }
    }

    @Test func `keys and nonces of other lengths are refused`() {
        for length in [0, 15, 17, 24, 31, 33] {
            #expect(throws: CryptoError.keyLength(length)) {
                try AESGCM.seal([1], key: [UInt8](repeating: 0, count: length), nonce: nonce, aad: [])
            }
        }
        for length in [0, 11, 13, 16] {
            #expect(throws: CryptoError.nonceLength(length)) {
                try AESGCM.open(
                    [UInt8](repeating: 0, count: 32), key: [UInt8](repeating: 0, count: 16),
                    nonce: [UInt8](repeating: 0, count: length), aad: [])
            }
        }
    }
}
