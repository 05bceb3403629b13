import Encoding
import HTTP
import Profiles

/// A form body in which no name repeats and empty values count as absent (RFC 6749 section 3.1).
struct StrictForm {
    private let reading: Reading
    private let fields: FormFields

    init(_ reading: Reading) throws(Refusal) {
        let request = reading.context.request
        guard request.mediaType?.isForm ?? false else {
            throw reading.malformed(
                "request.content_type", expected: "application/x-www-form-urlencoded", actual: "another content type")
        }
        do {
            fields = try FormFields(decoding: request.body)
        } catch {
            throw reading.malformed("request.form", expected: "a well-formed form body", actual: error.description)
        }
        if let name = fields.repeatedNames.first, !reading.skips(.formRepeated) {
            throw reading.malformed(
                "request.repeated", expected: "each parameter once", actual: "\(Clipped.text(name)) twice")
        }
        self.reading = reading
    }

    /// The value of a parameter, or nil where it is absent or empty.
    func optional(_ name: String, limit: Int? = nil) throws(Refusal) -> String? {
        guard let value = fields[name], !value.isEmpty else { return nil }
        let limit = limit ?? reading.limits.parameterBytes
        guard value.utf8.count <= limit else {
            throw reading.malformed(
                "request.\(name)", expected: "at most \(limit) bytes", actual: "\(value.utf8.count) bytes")
        }
        return value
    }

    /// The value of a parameter that must be there.
    func required(_ name: String, limit: Int? = nil) throws(Refusal) -> String {
        guard let value = try optional(name, limit: limit) else {
            throw reading.malformed("request.\(name)", expected: "\(name)", actual: "nothing")
        }
        return value
    }

    /// A parameter that must have one value.
    func fixed(_ name: String, _ wanted: String) throws(Refusal) {
        let value = try required(name)
        guard value == wanted else {
            throw reading.malformed("request.\(name)", expected: wanted, actual: Clipped.text(value))
        }
    }

    /// The first of these names that the form has, empty or not.
    func firstPresent(of names: [String]) -> String? { names.first { fields[$0] != nil } }

    /// A parameter of base64url without padding.
    func bytes(_ name: String, limit: Int) throws(Refusal) -> [UInt8] {
        let text = try required(name, limit: limit / 3 * 4 + 4)
        return try reading.bytes(text, name: name, limit: limit)
    }
}

extension Reading {
    /// Bytes from base64url without padding.
    func bytes(_ text: String, name: String, limit: Int) throws(Refusal) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try Base64URL.decode(text)
        } catch {
            throw malformed("request.\(name)", expected: "base64url without padding", actual: error.description)
        }
        guard bytes.count <= limit else {
            throw malformed("request.\(name)", expected: "at most \(limit) bytes", actual: "\(bytes.count) bytes")
        }
        return bytes
    }
}
