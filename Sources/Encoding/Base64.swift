/// The base64url alphabet without padding (RFC 4648 section 5), as JOSE wants it: strict both ways.
public enum Base64URL {
    /// Encodes bytes; the result has no `=`.
    public static func encode(_ bytes: [UInt8]) -> String {
        encode(bytes[...])
    }

    /// Encodes a slice; the result has no `=`.
    public static func encode(_ bytes: ArraySlice<UInt8>) -> String {
        Sextets.encode(bytes, alphabet: .url, padded: false)
    }

    /// Decodes text that must be exactly what ``encode(_:)-(_)`` would have produced.
    ///
    /// Throws on padding, on the standard alphabet's `+` and `/`, on blanks, and on spare bits that are
    /// not zero (RFC 7515 section 2; RFC 4648 section 3.5).
    public static func decode(_ text: some StringProtocol) throws(EncodingError) -> [UInt8] {
        try Sextets.decode(text, alphabet: .url, padded: false)
    }
}

/// The standard base64 alphabet with padding (RFC 4648 section 4), strict both ways.
public enum Base64 {
    /// Encodes bytes, padded with `=` to a multiple of four characters.
    public static func encode(_ bytes: [UInt8]) -> String {
        Sextets.encode(bytes[...], alphabet: .standard, padded: true)
    }

    /// Decodes padded text without line breaks; throws on anything ``encode(_:)`` would not produce.
    public static func decode(_ text: some StringProtocol) throws(EncodingError) -> [UInt8] {
        try Sextets.decode(text, alphabet: .standard, padded: true)
    }
}

/// One alphabet of 64 characters and its inverse.
private struct Alphabet: Sendable {
    let characters: [UInt8]
    /// Value of each byte, 0xFF where the byte is not of the alphabet.
    let values: [UInt8]

    static let url = Alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    static let standard = Alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

    init(_ text: StaticString) {
        characters = text.withUTF8Buffer { Array($0) }
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
    }
}

/// Three bytes are four characters; this does both directions for both alphabets.
private enum Sextets {
    static func encode(_ bytes: ArraySlice<UInt8>, alphabet: Alphabet, padded: Bool) -> String {
        let length = padded ? (bytes.count + 2) / 3 * 4 : (bytes.count * 4 + 2) / 3
        return String(unsafeUninitializedCapacity: length) { output in
            alphabet.characters.withUnsafeBufferPointer { characters in
                bytes.withUnsafeBufferPointer { input in
                    var read = 0
                    var written = 0
                    while read + 3 <= input.count {
                        let group = UInt32(input[read]) << 16 | UInt32(input[read + 1]) << 8 | UInt32(input[read + 2])
                        output[written] = characters[Int(group >> 18)]
                        output[written + 1] = characters[Int(group >> 12 & 63)]
                        output[written + 2] = characters[Int(group >> 6 & 63)]
                        output[written + 3] = characters[Int(group & 63)]
                        read += 3
                        written += 4
                    }
                    let rest = input.count - read
                    guard rest > 0 else { return }
                    let second = rest == 2 ? UInt32(input[read + 1]) : 0
                    let group = UInt32(input[read]) << 16 | second << 8
                    output[written] = characters[Int(group >> 18)]
                    output[written + 1] = characters[Int(group >> 12 & 63)]
                    written += 2
                    if rest == 2 {
                        output[written] = characters[Int(group >> 6 & 63)]
                        written += 1
                    }
                    while written < length {
                        output[written] = UInt8(ascii: "=")
                        written += 1
                    }
                }
            }
            return length
        }
    }

    static func decode(
        _ text: some StringProtocol, alphabet: Alphabet, padded: Bool
    ) throws(EncodingError) -> [UInt8] {
        var text = String(text)
        let result: Result<[UInt8], EncodingError> = text.withUTF8 { characters in
            do throws(EncodingError) {
                return .success(try decode(characters, alphabet: alphabet, padded: padded))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, alphabet: Alphabet, padded: Bool
    ) throws(EncodingError) -> [UInt8] {
        var count = text.count
        if padded {
            guard count % 4 == 0 else { throw .impossibleLength(count) }
            while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        }
        guard count % 4 != 1 else { throw .impossibleLength(count) }
        var bytes = [UInt8]()
        bytes.reserveCapacity(count * 3 / 4)
        var group: UInt32 = 0
        for offset in 0..<count {
            let value = alphabet.values[Int(text[offset])]
            guard value != 0xFF else { throw .illegalCharacter(offset: offset) }
            group = group << 6 | UInt32(value)
            guard offset % 4 == 3 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
            group = 0
        }
        switch count % 4 {
        case 2:
            guard group & 0xF == 0 else { throw .spareBits }
            bytes.append(UInt8(truncatingIfNeeded: group >> 4))
        case 3:
            guard group & 0x3 == 0 else { throw .spareBits }
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
        default:
            break
        }
        return bytes
    }
}
