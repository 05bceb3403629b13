/// Comparisons and conversions of text that HTTP defines over ASCII octets.
///
/// Swift's own `==` on strings compares by canonical equivalence and `lowercased()` knows every script; both
/// answer a different question than the protocol asks.
enum ASCIIText {
    /// Whether two texts are the same when upper and lower case ASCII letters count as equal.
    static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        let answer = left.utf8.withContiguousStorageIfAvailable { leftBytes in
            right.utf8.withContiguousStorageIfAvailable { rightBytes in
                equalIgnoringCase(leftBytes, rightBytes)
            } ?? nil
        }
        if let known = answer ?? nil { return known }
        return left.utf8.elementsEqual(right.utf8) { Byte.lowered($0) == Byte.lowered($1) }
    }

    private static func equalIgnoringCase(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> Bool? {
        for index in left.indices where left[index] != right[index] {
            guard Byte.lowered(left[index]) == Byte.lowered(right[index]) else { return false }
        }
        return true
    }

    /// Whether two texts are made of the same octets.
    static func identical(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
    }

    /// The text with its ASCII letters in lower case.
    static func lowercased(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map(Byte.lowered), as: UTF8.self)
    }

    /// The octets as text: UTF-8 where they are UTF-8, else ISO 8859-1.
    ///
    /// RFC 9110 section 5.5 calls octets above ASCII opaque and names ISO 8859-1 as what they once meant. A
    /// peer that still writes it is read rather than refused; encoding such text again gives UTF-8.
    static func text(_ bytes: Span<UInt8>) -> String {
        if let valid = try? UTF8Span(validating: bytes) { return String(copying: valid) }
        var text = ""
        text.reserveCapacity(bytes.count * 2)
        for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
        return text
    }

    /// The part between leading and trailing spaces and tabs.
    static func trimmed(_ text: Substring) -> Substring {
        var utf8 = text.utf8
        while let first = utf8.first, Byte.isBlank(first) { utf8 = utf8.dropFirst() }
        while let last = utf8.last, Byte.isBlank(last) { utf8 = utf8.dropLast() }
        return Substring(utf8)
    }
}
