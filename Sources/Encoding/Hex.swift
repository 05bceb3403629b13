/// Hexadecimal text: lower case out, either case in.
public enum Hex {
    /// Two lower-case digits for each byte.
    public static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: bytes.count * 2) { output in
            for (index, byte) in bytes.enumerated() {
                output[index * 2] = digits[Int(byte >> 4)]
                output[index * 2 + 1] = digits[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }

    /// Decodes an even number of digits; throws on anything else, blanks and `0x` included.
    public static func decode(_ text: some StringProtocol) throws(EncodingError) -> [UInt8] {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { throw .impossibleLength(digits.count) }
        var bytes = [UInt8]()
        bytes.reserveCapacity(digits.count / 2)
        for offset in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[offset]) else { throw .illegalCharacter(offset: offset) }
            guard let low = value(digits[offset + 1]) else { throw .illegalCharacter(offset: offset + 1) }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The value of one digit, or nil where the byte is no hexadecimal digit.
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
