import Crypto
import Encoding
import JOSE
import Testing

@Suite struct JWETests {
    static let key = [UInt8](repeating: 7, count: 32)

    private func message(_ text: String = "inside") throws -> String {
        try JWE.encrypt(Array(text.utf8), key: Self.key, entropy: Entropy(seed: [1]))
    }

    @Test func `what is encrypted is decrypted, of any length`() throws {
        for count in [0, 1, 15, 16, 17, 5000] {
            let plain = [UInt8](repeating: 3, count: count)
            let text = try JWE.encrypt(plain, key: Self.key, entropy: .system)
            let opened = try JWE.decrypt(text, key: Self.key)
            #expect(opened.plain == plain)
            #expect(opened.header["alg"] == "A256KW")
        }
    }

    @Test func `no character can be changed`() throws {
        let text = Array(try message().utf8)
        for index in text.indices {
            var changed = text
            changed[index] = text[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let string = String(decoding: changed, as: UTF8.self)
            #expect(throws: JWEError.self, "character \(index)") { try JWE.decrypt(string, key: Self.key) }
        }
    }

    @Test func `each fault has its own rule`() throws {
        let text = try message()
        let parts = text.split(separator: ".").map(String.init)
        func refusal(_ text: String, limit: Int = JWE.defaultLimit, key: [UInt8] = Self.key) -> JWEError? {
            #expect(throws: JWEError.self) { try JWE.decrypt(text, key: key, limit: limit) }
        }
        func headed(_ header: String) -> String {
            ([Base64URL.encode(Array(header.utf8))] + parts.dropFirst()).joined(separator: ".")
        }
        #expect(refusal(text, limit: 10) == .tooLong(limit: 10))
        #expect(refusal(parts.prefix(4).joined(separator: ".")) == .segmentCount(4))
        #expect(refusal(text + "=") == .segmentEncoding(4))
        #expect(refusal(headed("[]")) == .header)
        #expect(refusal(headed(#"{"alg":"A256KW","enc":"A256GCM","zip":"DEF"}"#)) == .extensions)
        #expect(refusal(headed(#"{"alg":"dir","enc":"A256GCM"}"#)) == .algorithm("alg", "dir"))
        #expect(refusal(headed(#"{"alg":"A256KW","enc":"A128GCM"}"#)) == .algorithm("enc", "A128GCM"))
        #expect(refusal(headed(#"{"alg":"A256KW", "enc":"A256GCM"}"#)) == .notAuthentic)
        #expect(refusal(text, key: [UInt8](repeating: 8, count: 32)) == .notAuthentic)
        #expect(refusal(text + "AAAA") == .length("authentication tag", 19, expected: 16))
    }

    @Test func `a key of another length is refused by its length`() {
        #expect(throws: CryptoError.keyLength(16)) {
            try JWE.encrypt([], key: [UInt8](repeating: 1, count: 16), entropy: .system)
        }
    }
}
