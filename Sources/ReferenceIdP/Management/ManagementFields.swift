import Encoding

/// The fields of a management body, each read once; what nobody read is refused by ``end()``.
struct ManagementFields {
    private let object: JSONObject
    private var read: Set<String> = []
    /// The field these are members of; empty for those of the body itself.
    private let outer: String

    init(_ object: JSONObject, within outer: String = "") {
        self.object = object
        self.outer = outer
    }

    /// A field's name from the body down, such as `attestation.boot`.
    func path(_ name: String) -> String { outer.isEmpty ? name : "\(outer).\(name)" }

    /// A string field, or nil where the body leaves it out.
    mutating func text(_ name: String, _ rule: TextRule) throws(Refusal) -> String? {
        guard let value = take(name) else { return nil }
        guard let text = value.string, rule.allows(text) else { throw wrong(name, rule.wanted, rule.name) }
        return text
    }

    /// A string field that must be there.
    mutating func requiredText(_ name: String, _ rule: TextRule) throws(Refusal) -> String {
        guard let text = try text(name, rule) else { throw wrong(name, "\(name) is required", "required") }
        return text
    }

    mutating func bool(_ name: String) throws(Refusal) -> Bool? {
        guard let value = take(name) else { return nil }
        guard let bool = value.bool else { throw wrong(name, "true or false", "boolean") }
        return bool
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(Refusal) -> Int64? {
        guard let value = take(name) else { return nil }
        guard let integer = value.int, range.contains(integer) else {
            throw wrong(name, "an integer from \(range.lowerBound) to \(range.upperBound)", "range")
        }
        return integer
    }

    mutating func texts(_ name: String, _ rule: TextRule, limit: Int = 32) throws(Refusal) -> [String]? {
        guard let value = take(name) else { return nil }
        let wanted = "an array of at most \(limit) strings, each \(rule.wanted)"
        guard let array = value.array, array.count <= limit else { throw wrong(name, wanted, "array") }
        var texts: [String] = []
        for element in array {
            guard let text = element.string, rule.allows(text) else { throw wrong(name, wanted, rule.name) }
            texts.append(text)
        }
        return texts
    }

    mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String) throws(Refusal) -> Word? {
        guard let value = take(name) else { return nil }
        guard let word = value.string.flatMap(Word.init(rawValue:)) else {
            throw wrong(name, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))", "word")
        }
        return word
    }

    mutating func bytes(_ name: String, limit: Int) throws(Refusal) -> [UInt8]? {
        guard let value = take(name) else { return nil }
        guard let text = value.string, !text.isEmpty, let bytes = try? Base64URL.decode(text), bytes.count <= limit
        else { throw wrong(name, "base64url without padding, at most \(limit) bytes", "base64url") }
        return bytes
    }

    /// Whether the body sets a field to null, which a few fields allow; the field counts as read then.
    mutating func isNull(_ name: String) -> Bool {
        guard object[name] == .null else { return false }
        read.insert(name)
        return true
    }

    /// Refuses a field nobody read.
    func end() throws(Refusal) {
        guard let unknown = object.names.first(where: { !read.contains($0) }) else { return }
        throw .problem(422, "invalid_field", "no such field", field: Clipped.text(path(unknown)), rule: "unknown")
    }

    /// The refusal of a field's value.
    func wrong(_ name: String, _ wanted: String, _ rule: String) -> Refusal {
        .problem(422, "invalid_field", "\(path(name)): \(wanted)", field: path(name), rule: rule)
    }

    /// A field as it is, which counts as read from here on.
    mutating func take(_ name: String) -> JSON? {
        read.insert(name)
        return object[name]
    }
}

/// What a text of the management API may be.
enum TextRule: Sendable {
    case name, tenantID, clientID, email, scope, uri, redirectURI, word, appID, digest, pem

    var name: String {
        switch self {
        case .name: "name"
        case .tenantID: "tenant_id"
        case .clientID: "client_id"
        case .email: "email"
        case .scope: "scope"
        case .uri: "uri"
        case .redirectURI: "redirect_uri"
        case .word: "word"
        case .appID: "app_id"
        case .digest: "digest"
        case .pem: "pem"
        }
    }

    var wanted: String {
        switch self {
        case .name: "1 to 200 characters"
        case .tenantID: "1 to 63 of a-z, 0-9 and '-', beginning with a letter or digit"
        case .clientID: "1 to 128 of letters, digits, '.', '_' and '-'"
        case .email: "an email address"
        case .scope: "a scope token"
        case .uri: "an absolute URI without a fragment"
        case .redirectURI: "an absolute URI without a fragment"
        case .word: "a word"
        case .appID: "a team of 10 characters, a dot and a bundle id"
        case .digest: "64 hexadecimal digits"
        case .pem: "certificates in PEM, at most 64 KiB"
        }
    }

    func allows(_ text: String) -> Bool {
        switch self {
        case .name: return (1...200).contains(text.count) && !text.utf8.contains { $0 < 0x20 }
        case .tenantID:
            let reserved = ["manage"]
            return (1...63).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
                && text.utf8.allSatisfy(Self.isTenantByte) && !reserved.contains(text)
        case .clientID:
            return (1...128).contains(text.utf8.count)
                && text.utf8.allSatisfy { Self.isAlphanumeric($0) || [0x2D, 0x2E, 0x5F].contains($0) }
        case .email: return EmailAddress.isPlausible(text)
        case .scope:
            return (1...128).contains(text.utf8.count)
                && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        case .uri, .redirectURI:
            guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return false }
            return text.utf8.count <= 2048 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x23 }
                && text[..<colon].utf8.allSatisfy { Self.isAlphanumeric($0) || [0x2B, 0x2D, 0x2E].contains($0) }
                && text.index(after: colon) != text.endIndex
        case .word: return (1...64).contains(text.utf8.count)
        case .appID:
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 && parts[0].utf8.count == 10 && parts[0].utf8.allSatisfy(Self.isAlphanumeric)
                && TextRule.clientID.allows(String(parts[1]))
        case .digest: return text.utf8.count == 64 && (try? Hex.decode(text)) != nil
        case .pem: return (1...65_536).contains(text.utf8.count)
        }
    }

    private static func isTenantByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
    }
}
