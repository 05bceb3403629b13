import Crypto
import Encoding
import Testing

@Suite struct P256SignatureTests {
    private let key: P256.PrivateKey
    private let message = Array("sample".utf8)

    init() throws {
        key = try P256.PrivateKey(scalar: hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"))
    }

    @Test(arguments: [
        (
            "sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        ),
        (
            "test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
            "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
        ),
    ])
    func `deterministic signatures are those of RFC 6979 A.2.5`(message: String, r: String, s: String) throws {
        let signature = try key.sign(Array(message.utf8), nonce: .rfc6979)
        #expect(signature == (try hex(r + s)))
        #expect(key.publicKey.verify(signature, of: Array(message.utf8)))
    }

    @Test func `1000 signatures have 64 bytes each, some with leading zeros, and all verify`() throws {
        let key = try P256.PrivateKey.generate(Entropy(seed: [1]))
        var leadingZeros = 0
        for index in 0..<1000 {
            let message = Array("message \(index)".utf8)
            let signature = try key.sign(message, nonce: .rfc6979)
            #expect(signature.count == 64)
            #expect(key.publicKey.verify(signature, of: message))
            if signature[0] == 0 || signature[32] == 0 { leadingZeros += 1 }
        }
        // About one in 128.
        #expect(leadingZeros > 0)
    }

    @Test func `300 random signatures have 64 bytes each, verify, and differ`() throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<300 {
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.verify(signature, of: message))
            seen.insert(signature)
        }
        #expect(seen.count == 300)
    }

    @Test func `a digest signs like its message, and only with 32 bytes`() throws {
        let digest = SHA256.hash(message)
        #expect(try key.sign(digest: digest, nonce: .rfc6979) == key.sign(message, nonce: .rfc6979))
        #expect(key.publicKey.verify(try key.sign(digest: digest), of: message))
        for length in [0, 20, 31, 33, 64] {
            #expect(throws: CryptoError.digestLength(length)) {
                try key.sign(digest: [UInt8](repeating: 1, count: length))
            }
        }
        #expect(!key.publicKey.verify(try key.sign(message), digest: Array(digest.dropLast())))
    }

    @Test func `DER and other lengths are no signatures`() throws {
        let signature = try key.sign(message, nonce: .rfc6979)
        let der = try P256.ECDSASignature.der(raw: signature)
        #expect(!key.publicKey.verify(der, of: message))
        #expect(!key.publicKey.verify([], of: message))
        #expect(!key.publicKey.verify(Array(signature.dropLast()), of: message))
        #expect(!key.publicKey.verify(signature + [0], of: message))
        #expect(!key.publicKey.verify([0] + signature, of: message))
    }

    @Test func `any single flipped bit of signature or message is noticed`() throws {
        let signature = try key.sign(message)
        for bit in 0..<512 { #expect(!key.publicKey.verify(flipping(bit: bit, of: signature), of: message)) }
        for bit in 0..<message.count * 8 {
            #expect(!key.publicKey.verify(signature, of: flipping(bit: bit, of: message)))
        }
    }

    @Test func `zeros, the order and the numbers around it are no signature`() throws {
        let order = try hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let zero = [UInt8](repeating: 0, count: 32)
        let ones = [UInt8](repeating: 0xFF, count: 32)
        for r in [zero, order, ones] {
            for s in [zero, order, ones] { #expect(!key.publicKey.verify(r + s, of: message)) }
        }
        let signature = try key.sign(message)
        #expect(!key.publicKey.verify(zero + signature.suffix(32), of: message))
        #expect(!key.publicKey.verify(signature.prefix(32) + zero, of: message))
    }

    @Test func `another key's signature is no signature`() throws {
        let other = try P256.PrivateKey.generate(.system)
        #expect(!key.publicKey.verify(try other.sign(message), of: message))
    }

    @Test func `raw and DER turn into each other`() throws {
        var stream = EntropyStream(seed: [5])
        var numbers = (0..<200).map { _ in stream.bytes(64) }
        // Numbers of every length, and with the top bit set at each.
        for zeros in 0..<32 {
            numbers.append([UInt8](repeating: 0, count: zeros) + [UInt8](repeating: 0x80, count: 64 - zeros))
            let small = [UInt8](repeating: 0, count: zeros) + stream.bytes(32 - zeros)
            numbers.append([UInt8](repeating: 0x7F, count: 32) + small)
        }
        for raw in numbers {
            let der = try P256.ECDSASignature.der(raw: raw)
            #expect(der.count <= 72)
            #expect(try P256.ECDSASignature.raw(der: der) == raw)
        }
    }

    @Test func `only DER is read as DER`() throws {
        let good = try hex("3006020101020102")
        #expect(try P256.ECDSASignature.raw(der: good).suffix(1) == [2])
        let bad = [
            "", "30", "3006020101", "300602010102010200", "30060201010201ff", "308106020101020102",
            "300702020001020102", "30800201010201020000", "3006020100030102",
            // 33 bytes of r.
            "3026022101" + String(repeating: "00", count: 32) + "020102",
        ]
        for text in bad {
            #expect(throws: CryptoError.der) { try P256.ECDSASignature.raw(der: hex(text)) }
        }
        for length in [0, 63, 65, 72] {
            #expect(throws: CryptoError.signatureLength(length)) {
                try P256.ECDSASignature.der(raw: [UInt8](repeating: 1, count: length))
            }
        }
    }

    @Test func `one key signs and verifies on many threads at once`() async throws {
        let key = key
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for round in 0..<40 {
                        let message = Array("\(task) \(round)".utf8)
                        let signature = try key.sign(message)
                        guard key.publicKey.verify(signature, of: message) else { return false }
                        guard !key.publicKey.verify(signature, of: message + [0]) else { return false }
                        // A key of its own, and the shared parts of HMAC.
                        let other = try P256.PublicKey(x963: key.publicKey.x963)
                        guard other.verify(try key.sign(message, nonce: .rfc6979), of: message) else { return false }
                    }
                    return true
                }
            }
            for try await agreed in group { #expect(agreed) }
        }
    }
}
