import Crypto
import Encoding
import Testing

@Suite struct DigestTests {
    @Test func `the digests of abc are those of FIPS 180-4`() {
        let abc = Array("abc".utf8)
        #expect(
            Hex.encode(SHA256.hash(abc)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Hex.encode(SHA384.hash(abc))
                == "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
                + "8086072ba1e7cc2358baeca134c825a7")
        #expect(
            Hex.encode(SHA512.hash(abc))
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    }

    @Test func `the digest of nothing is that of the empty message`() {
        #expect(
            Hex.encode(SHA256.hash([UInt8]()))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func `a slice and a text hash like their bytes`() {
        let bytes = Array("x.abc.y".utf8)
        #expect(SHA256.hash(bytes[2..<5]) == SHA256.hash(Array("abc".utf8)))
        #expect(SHA256.hash(ascii: "abc") == SHA256.hash(Array("abc".utf8)))
    }

    @Test func `HMAC agrees with RFC 4231`() throws {
        #expect(
            Hex.encode(HMAC.sha256(key: [UInt8](repeating: 0x0B, count: 20), message: Array("Hi There".utf8)))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            Hex.encode(HMAC.sha256(key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let long = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            Hex.encode(HMAC.sha256(key: [UInt8](repeating: 0xAA, count: 131), message: long))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func `HMAC takes an empty key and an empty message`() {
        #expect(
            Hex.encode(HMAC.sha256(key: [], message: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `codes are equal only when all bytes are`() {
        let code = [UInt8](0..<32)
        #expect(HMAC.equal(code, code))
        #expect(HMAC.equal([], []))
        for bit in 0..<256 { #expect(!HMAC.equal(code, flipping(bit: bit, of: code))) }
        #expect(!HMAC.equal(code, Array(code.dropLast())))
    }
}
