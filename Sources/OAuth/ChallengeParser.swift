/// Reads the value of one `WWW-Authenticate` field.
///
/// The grammar nests two comma lists: of challenges, and of a challenge's parameters. What follows a comma is a
/// parameter where a token is followed by `=`, and a new challenge otherwise.
struct ChallengeParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ field: String) { bytes = Array(field.utf8) }

    mutating func challenges() throws(ChallengeHeaderError) -> [AuthChallenge] {
        var found: [AuthChallenge] = []
        skipBlanksAndCommas()
        while position < bytes.count {
            found.append(try challenge())
            skipBlanksAndCommas()
        }
        return found
    }

    private mutating func challenge() throws(ChallengeHeaderError) -> AuthChallenge {
        let scheme = try token()
        guard position < bytes.count, bytes[position] == UInt8(ascii: " ") else {
            guard isAtElementEnd(position) else { throw .unexpected(offset: position) }
            return AuthChallenge(scheme: scheme, token68: nil, parameters: [])
        }
        skipBlanks()
        if let value = token68() { return AuthChallenge(scheme: scheme, token68: value, parameters: []) }
        return AuthChallenge(scheme: scheme, token68: nil, parameters: try parameters())
    }

    /// A token68 only where nothing else of the element follows: `a=` is one, `a=b` is a parameter.
    private mutating func token68() -> String? {
        let end = position + Token68.length(in: bytes, from: position)
        guard end > position, isAtElementEnd(end) else { return nil }
        defer { position = end }
        return String(decoding: bytes[position..<end], as: UTF8.self)
    }

    private mutating func parameters() throws(ChallengeHeaderError) -> [AuthChallenge.Parameter] {
        var found: [AuthChallenge.Parameter] = []
        while true {
            let before = position
            skipBlanksAndCommas()
            guard position < bytes.count, startsParameter() else {
                // What follows is the next challenge, which only a comma can begin.
                guard isAtElementEnd(before) else { throw .unexpected(offset: before) }
                position = before
                return found
            }
            let name = try token().lowercased()
            guard !found.contains(where: { $0.name == name }) else { throw .repeatedParameter(name) }
            skipBlanks()
            position += 1  // the "=" that startsParameter saw
            skipBlanks()
            let value = try self.value()
            guard isAtElementEnd(position) else { throw .unexpected(offset: position) }
            found.append(AuthChallenge.Parameter(name: name, value: value))
        }
    }

    /// Whether a token and an `=` follow.
    private func startsParameter() -> Bool {
        var index = position
        while index < bytes.count, Self.isTokenByte(bytes[index]) { index += 1 }
        guard index > position else { return false }
        while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: "=")
    }

    private mutating func value() throws(ChallengeHeaderError) -> String {
        guard position < bytes.count else { throw .unexpected(offset: position) }
        return bytes[position] == UInt8(ascii: "\"") ? try quotedString() : try token()
    }

    private mutating func quotedString() throws(ChallengeHeaderError) -> String {
        var value: [UInt8] = []
        position += 1
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard position < bytes.count else { throw .unterminatedString }
                byte = bytes[position]
                position += 1
            }
            guard byte == UInt8(ascii: "\t") || (byte >= 0x20 && byte != 0x7F) else {
                throw .unexpected(offset: position - 1)
            }
            value.append(byte)
        }
        throw .unterminatedString
    }

    private mutating func token() throws(ChallengeHeaderError) -> String {
        let start = position
        while position < bytes.count, Self.isTokenByte(bytes[position]) { position += 1 }
        guard position > start else { throw .unexpected(offset: position) }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipBlanks() {
        while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
    }

    private mutating func skipBlanksAndCommas() {
        while position < bytes.count, Self.isBlank(bytes[position]) || bytes[position] == UInt8(ascii: ",") {
            position += 1
        }
    }

    /// Whether only blanks stand between an offset and the next comma or the end.
    private func isAtElementEnd(_ offset: Int) -> Bool {
        var index = offset
        while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
        return index == bytes.count || bytes[index] == UInt8(ascii: ",")
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// `tchar` (RFC 9110 section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
