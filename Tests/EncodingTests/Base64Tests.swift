import Encoding
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 section 10, with the padding taken off.
    static let vectors = [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors) func `RFC 4648 vectors encode and decode`(plain: String, coded: String) throws {
        #expect(Base64URL.encode(Array(plain.utf8)) == coded)
        #expect(try Base64URL.decode(coded) == Array(plain.utf8))
        let padded = coded + String(repeating: "=", count: (4 - coded.count % 4) % 4)
        #expect(Base64.encode(Array(plain.utf8)) == padded)
        #expect(try Base64.decode(padded) == Array(plain.utf8))
    }

    @Test func `the two alphabets differ in their last two characters`() throws {
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
    }

    @Test(arguments: ["Zg==", "Zg=", "Zm+v", "Zm/v", "Zm v", "Zm9v\n", " Zm9v", "Zm9vé"])
    func `padding, the standard alphabet and blanks are refused in base64url`(text: String) {
        #expect(throws: EncodingError.self) { try Base64URL.decode(text) }
    }

    @Test func `spare bits that are not zero are refused`() {
        #expect(throws: EncodingError.spareBits) { try Base64URL.decode("Zh") }
        #expect(throws: EncodingError.spareBits) { try Base64URL.decode("Zm9") }
        #expect(throws: EncodingError.spareBits) { try Base64.decode("Zh==") }
    }

    @Test func `a length no encoder produces is refused`() {
        #expect(throws: EncodingError.impossibleLength(5)) { try Base64URL.decode("Zm9vY") }
        #expect(throws: EncodingError.impossibleLength(2)) { try Base64.decode("Zg") }
        #expect(throws: EncodingError.self) { try Base64.decode("Z===") }
    }

    @Test func `every decodable text is the encoding of what it decodes to`() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("ABCabc019-_+/= ")
        for _ in 0..<20_000 {
            let text = String((0..<Int.random(in: 0...9, using: &random)).map { _ in alphabet.randomElement() ?? "A" })
            if let bytes = try? Base64URL.decode(text) { #expect(Base64URL.encode(bytes) == text) }
            if let bytes = try? Base64.decode(text) { #expect(Base64.encode(bytes) == text) }
        }
    }

    @Test func `hex takes either case and refuses the rest`() throws {
        #expect(Hex.encode([0x00, 0xAB, 0xFF]) == "00abff")
        #expect(try Hex.decode("00aBFf") == [0x00, 0xAB, 0xFF])
        #expect(throws: EncodingError.impossibleLength(3)) { try Hex.decode("abc") }
        #expect(throws: EncodingError.illegalCharacter(offset: 1)) { try Hex.decode("0x") }
    }
}
