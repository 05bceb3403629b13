/// Percent-encoding of text in URLs (RFC 3986 section 2.1).
public enum PercentCoding {
    /// Encodes every byte but the unreserved ones (letters, digits, `-`, `.`, `_`, `~`).
    public static func encode(_ text: some StringProtocol) -> String {
        var output = [UInt8]()
        output.reserveCapacity(text.utf8.count)
        for byte in text.utf8 { append(byte, to: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes `%XX`; throws on a `%` without two digits and on a result that is not UTF-8.
    public static func decode(_ text: some StringProtocol) throws(EncodingError) -> String {
        try string(bytes(Array(text.utf8)[...], plusIsBlank: false))
    }

    /// Whether a byte stands for itself in every part of a URL (RFC 3986 section 2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func append(_ byte: UInt8, to output: inout [UInt8]) {
        if isUnreserved(byte) {
            output.append(byte)
            return
        }
        let digits: StaticString = "0123456789ABCDEF"
        output.append(UInt8(ascii: "%"))
        output.append(digits.utf8Start[Int(byte >> 4)])
        output.append(digits.utf8Start[Int(byte & 15)])
    }

    static func bytes(_ text: ArraySlice<UInt8>, plusIsBlank: Bool) throws(EncodingError) -> [UInt8] {
        var output = [UInt8]()
        output.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < text.endIndex, let high = Hex.value(text[index + 1]),
                    let low = Hex.value(text[index + 2])
                else { throw .malformedPercent(offset: index) }
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return output
    }

    static func string(_ bytes: [UInt8]) throws(EncodingError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return text
    }
}
