import Encoding
import Testing

@Suite struct JSONTests {
    @Test func `members keep their order and slashes stay as they are`() throws {
        let text = #"{"z":1,"a":"https://x/y","m":[true,null,-2.5,{}],"n":9007199254740993}"#
        #expect(try JSON(parsing: text).text == text)
    }

    @Test func `a repeated name is refused at its place`() {
        #expect(throws: JSONError(rule: .repeatedName, offset: 7)) { try JSON(parsing: #"{"a":1,"a":2}"#) }
        #expect(throws: JSONError(rule: .repeatedName, offset: 7)) { try JSON(parsing: #"{"a":1,"\u0061":2}"#) }
        let many = "{" + (0..<40).map { "\"k\($0)\":0" }.joined(separator: ",") + ",\"k3\":1}"
        #expect(throws: JSONError.self) { try JSON(parsing: many) }
    }

    @Test(arguments: [
        "", " ", "{", "[1", "\"a", "tru", "{\"a\"", "{\"a\":", "[1,]", "{,}", "{\"a\":1,}", "01", "+1", "1.", ".5",
        "1e",
        "-", "nul", "'a'", "{a:1}", "[1 2]", "1 2", "\"\\x\"", "\"\\u12\"", "\"\t\"", "NaN", "Infinity", "1e999",
        "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "[1]]", "\u{FEFF}1", "/**/1",
    ])
    func `what RFC 8259 does not allow is refused`(text: String) {
        #expect(throws: JSONError.self) { try JSON(parsing: text) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONError(rule: .notUTF8, offset: 1)) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0x5C, 0x6E, 0xC0, 0x80, 0x22]) }
    }

    @Test func `nesting is bounded`() throws {
        let limit = JSON.depthLimit
        let deepest = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(try JSON(parsing: deepest).array != nil)
        #expect(throws: JSONError(rule: .tooDeep, offset: limit)) { try JSON(parsing: "[" + deepest + "]") }
    }

    @Test func `escapes and surrogate pairs are read`() throws {
        #expect(try JSON(parsing: #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#) == .string("\"\\/\u{8}\u{c}\n\r\té😀"))
        #expect(JSON.string("a\u{1}\"\n").text == #""a\u0001\"\n""#)
    }

    @Test func `integers stay integers and the rest are doubles`() throws {
        #expect(try JSON(parsing: "-9223372036854775808") == .int(.min))
        #expect(try JSON(parsing: "9223372036854775808") == .double(9_223_372_036_854_775_808))
        #expect(try JSON(parsing: "1.0") == .double(1))
        #expect(try JSON(parsing: "1e3").int == nil)
    }

    @Test func `any value survives writing and reading`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3_000 {
            let value = randomValue(depth: 0, using: &random)
            #expect(try JSON(parsing: value.serialized()) == value)
            #expect(try JSON(parsing: value.prettyText) == value)
        }
    }

    @Test func `random bytes never crash the reader`() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array(#"{}[]",:\u0123eE+-.truefalsn "#.utf8) + [0xFF, 0x00]
        for _ in 0..<50_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in alphabet.randomElement() ?? 0 }
            _ = try? JSON(parsing: bytes)
        }
    }

    @Test func `setting a member to nil removes it`() {
        var object = JSONObject([("a", 1), ("b", 2), ("a", 3)])
        #expect(object.names == ["a", "b"])
        #expect(object["a"] == 3)
        object["a"] = nil
        #expect(object.names == ["b"])
    }

    private func randomValue(depth: Int, using random: inout SystemRandomNumberGenerator) -> JSON {
        switch Int.random(in: 0..<(depth < 4 ? 8 : 6), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .int(.random(in: .min ... .max, using: &random))
        case 3: .double(.random(in: -1e6...1e6, using: &random) + 0.5)
        case 4, 5: .string(randomText(using: &random))
        case 6:
            .array(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in randomValue(depth: depth + 1, using: &random) })
        default:
            .object(
                JSONObject(
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        (randomText(using: &random), randomValue(depth: depth + 1, using: &random))
                    }))
        }
    }

    private func randomText(using random: inout SystemRandomNumberGenerator) -> String {
        let scalars: [Character] = ["a", "\"", "\\", "\n", "\u{0}", "é", "😀", "/", "\u{7f}"]
        return String((0..<Int.random(in: 0...6, using: &random)).map { _ in scalars.randomElement() ?? "x" })
    }
}
