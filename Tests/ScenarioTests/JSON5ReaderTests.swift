import Encoding
import Testing

@Suite("Reading JSON5")
struct JSON5ReaderTests {
    @Test(
        "everything JSON5 allows is read",
        arguments: [
            ("// c\n{ a: 1, 'b': \"x\", /* c */ c_$1: [true, null,], }", #"{"a":1,"b":"x","c_$1":[true,null]}"#),
            (#"'it\'s \u0041\x42 \ud83d\ude00\n'"#, #""it's AB 😀\n""#), ("'a\\\nb'", #""ab""#), ("+5", "5"),
            ("-5", "-5"), (".5", "0.5"), ("1e2", "100.0"), ("0", "0"), ("-0.25", "-0.25"), ("[]", "[]"),
            ("\u{FEFF}{}", "{}"), ("{ü: 1}", #"{"ü":1}"#),
        ])
    func reads(text: String, json: String) throws {
        #expect(try JSON5Reader.read(text).json.text == json)
    }

    @Test(
        "what is broken is refused with its place and the rule",
        arguments: [
            ("", "1:1: expected a value, found the end of the file"),
            ("{", "1:2: expected a name, found the end of the file"),
            ("{a 1}", "1:4: expected ':' behind 'a', found '1'"),
            ("{a: 1 b: 2}", "1:7: expected ',' or '}', found 'b'"),
            ("{a: 1,\n a: 2}", "2:2: 'a' stands twice in this object"),
            ("[1 2]", "1:4: expected ',' or ']', found '2'"),
            ("{} {}", "1:4: expected the end of the file, found '{'"),
            ("'abc", "1:1: the text that begins here has no closing '"),
            ("'a\nb'", "1:1: the text that begins here has no closing '"),
            ("/* a", "1:5: expected the end of the comment that began at 1:1, found the end of the file"),
            ("/a", "1:2: expected // or /*, found 'a'"),
            ("yes", "1:1: expected a value, found 'yes'; text stands in quotes"),
            ("0x10", "1:1: '0x10' is no decimal number"), ("01", "1:1: '01' is no decimal number"),
            ("1-2", "1:1: '1-2' is no decimal number"),
            ("Infinity", "1:1: expected a value, found 'Infinity'; text stands in quotes"),
            ("[,]", "1:2: expected a name, found ','"),
            (#"'\x4'"#, #"1:3: \x is followed by two and \u by four hexadecimal digits"#),
            (#"'\ud800'"#, "1:3: the escape stands for half a character"),
            (#"'\1'"#, #"1:3: \ is not followed by a digit; use \u0000"#),
        ])
    func refuses(text: String, message: String) {
        let error = #expect(throws: JSON5Error.self) { try JSON5Reader.read(text) }
        #expect(error?.description == message)
    }

    @Test("size and depth are bounded") func bounds() {
        let deep = String(repeating: "[", count: 70)
        #expect(throws: JSON5Error.self) { try JSON5Reader.read(deep) }
        let long = "'" + String(repeating: "a", count: JSON5Reader.longest) + "'"
        #expect(throws: JSON5Error.self) { try JSON5Reader.read(long) }
    }

    @Test("every value and key knows its line and column") func places() throws {
        let value = try JSON5Reader.read("{\n  a: [1,\n      'x'],\r\n  b: {} }")
        #expect(value.place == TextPlace(line: 1, column: 1))
        #expect(value.members?.map(\.place) == [TextPlace(line: 2, column: 3), TextPlace(line: 4, column: 3)])
        #expect(value["a"]?.elements?.map(\.place) == [TextPlace(line: 2, column: 7), TextPlace(line: 3, column: 7)])
        #expect(value["b"]?.place == TextPlace(line: 4, column: 6))
    }
}
