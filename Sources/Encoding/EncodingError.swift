/// What is wrong with a text that should have been base64url, base64, hex, percent or form coded.
///
/// No case carries the text itself: what is decoded here is often a token or a key.
public enum EncodingError: Error, Hashable, Sendable {
    /// A character outside the alphabet, such as `=`, `+` or a blank in base64url, at this byte offset.
    case illegalCharacter(offset: Int)
    /// A length no encoder produces, such as 5 characters of base64url.
    case impossibleLength(Int)
    /// Bits that carry no data but are not zero, so that two texts would mean the same bytes.
    case spareBits
    /// `%` without two hexadecimal digits behind it, at this byte offset.
    case malformedPercent(offset: Int)
    /// Bytes that are not UTF-8 where text was expected.
    case notUTF8
    /// More form fields than the limit named here.
    case tooManyFields(limit: Int)

    /// A stable name for this error, for reports and tests.
    public var code: String {
        switch self {
        case .illegalCharacter: "encoding.illegal_character"
        case .impossibleLength: "encoding.impossible_length"
        case .spareBits: "encoding.spare_bits"
        case .malformedPercent: "encoding.malformed_percent"
        case .notUTF8: "encoding.not_utf8"
        case .tooManyFields: "encoding.too_many_fields"
        }
    }
}

extension EncodingError: CustomStringConvertible {
    /// The rule that was broken and where, without the text that broke it.
    public var description: String {
        switch self {
        case .illegalCharacter(let offset): "a character outside the alphabet at offset \(offset)"
        case .impossibleLength(let length): "\(length) characters is not a length this encoding produces"
        case .spareBits: "the unused bits of the last character are not zero"
        case .malformedPercent(let offset): "a '%' without two hexadecimal digits at offset \(offset)"
        case .notUTF8: "the bytes are not UTF-8"
        case .tooManyFields(let limit): "more than \(limit) form fields"
        }
    }
}
