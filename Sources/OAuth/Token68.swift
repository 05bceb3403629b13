/// The `token68` syntax of credentials and challenges (RFC 9110 section 11.2).
enum Token68 {
    /// Whether the whole text is a token68.
    static func matches(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return !bytes.isEmpty && length(in: bytes, from: 0) == bytes.count
    }

    /// How many bytes of a token68 begin at an offset; 0 where none does.
    static func length(in bytes: [UInt8], from start: Int) -> Int {
        var end = start
        while end < bytes.count, isCharacter(bytes[end]) { end += 1 }
        guard end > start else { return 0 }
        while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
        return end - start
    }

    private static func isCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
