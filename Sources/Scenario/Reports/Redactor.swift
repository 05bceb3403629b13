import Crypto
import Encoding
import HTTP
import Transport

/// Takes secrets out of what is written down: each becomes a short hash, the same each time in one run.
///
/// What is secret is known in three ways: by the name of its field, by its form (a signed or encrypted token), and by
/// having been seen under such a name before.
public struct Redactor: Sendable {
    /// Fields whose values are secrets, in forms, queries and JSON.
    static let names: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "code", "authorization_code", "client_assertion",
        "client_attestation", "client_attestation_pop", "assertion", "ceremony_proof", "face_token", "auth_session",
        "code_verifier", "ticket", "request", "attestation", "evidence", "password", "client_secret", "secret",
        "shared_secret", "subject_token", "actor_token", "registration_access_token", "state", "d",
    ]
    /// Header fields whose values are secrets.
    static let headers: Set<String> = [
        "authorization", "proxy-authorization", "dpop", "cookie", "set-cookie", "oauth-client-attestation",
        "oauth-client-attestation-pop",
    ]
    /// Shorter values are secrets under their name alone: anywhere else they might be anything.
    private static let shortest = 12

    private let key: [UInt8]
    /// Fields whose values are secrets, besides ``names``: those of the profile in use.
    private let ownNames: Set<String>
    /// Secrets by their first eight bytes.
    private var known: [UInt64: Set<[UInt8]>] = [:]

    /// Makes a redactor whose hashes are a run's own: the key should be random, or drawn from the run's seed.
    ///
    /// `ownNames` are names of secrets that only a profile knows.
    public init(key: [UInt8], ownNames: Set<String> = []) {
        self.key = key
        self.ownNames = ownNames
    }

    /// The place-holder of a secret.
    public func mark(_ secret: some StringProtocol) -> String {
        let hash = HMAC.sha256(key: key, message: Array(secret.utf8))
        return "REDACTED-" + Hex.encode(Array(hash.prefix(6)))
    }

    /// Learns the secrets of an exchange.
    public mutating func learn(_ exchange: RecordedExchange) {
        learn(exchange.request.fields)
        learn(exchange.query, as: .form)
        learn(exchange.request.body, as: Body(exchange.request.fields))
        guard let response = exchange.response else { return }
        learn(response.fields)
        learn(response.body, as: Body(response.fields))
    }

    private mutating func learn(_ fields: HTTPFields) {
        for field in fields where Self.headers.contains(field.name.lowercased()) {
            learn(String(field.value.split(separator: " ").last ?? ""))
        }
    }

    private mutating func learn(_ bytes: [UInt8], as body: Body) {
        switch body {
        case .form:
            for field in (try? FormFields(decoding: bytes))?.fields ?? [] where isSecret(field.name, false) {
                learn(field.value)
            }
        case .json, .problem:
            if let json = try? JSON(parsing: bytes) { learn(json, isProblem: body == .problem) }
        case .other: break
        }
    }

    private mutating func learn(_ json: JSON, isProblem: Bool) {
        for element in json.array ?? [] { learn(element, isProblem: isProblem) }
        for member in json.object?.members ?? [] {
            if let text = member.value.string, isSecret(member.name, isProblem) { learn(text) }
            learn(member.value, isProblem: isProblem)
        }
    }

    private mutating func learn(_ secret: String) {
        let bytes = Array(secret.utf8)
        guard bytes.count >= Self.shortest else { return }
        known[Self.prefix(bytes[...]), default: []].insert(bytes)
    }

    /// The code of a problem document is no secret, that of a grant is.
    private func isSecret(_ name: String, _ isProblem: Bool) -> Bool {
        (Self.names.contains(name) || ownNames.contains(name)) && !(isProblem && name == "code")
    }

    fileprivate static func prefix(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// What a body is, as far as its secrets are concerned.
enum Body {
    case form, json, problem, other

    init(_ fields: HTTPFields) {
        guard let type = MediaType(fields: fields) else {
            self = .other
            return
        }
        switch type.essence {
        case "application/x-www-form-urlencoded": self = .form
        case "application/problem+json": self = .problem
        default: self = type.isJSON ? .json : .other
        }
    }
}

/// Redacting.
extension Redactor {
    /// A text without the secrets that are known, and without anything of a token's form.
    public func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var at = 0
        var isChanged = false
        while at < bytes.count {
            let length = knownSecret(bytes, at) ?? token(bytes, at)
            if let length {
                output += Array(mark(String(decoding: bytes[at..<(at + length)], as: UTF8.self)).utf8)
                at += length
                isChanged = true
            } else {
                output.append(bytes[at])
                at += 1
            }
        }
        return isChanged ? String(decoding: output, as: UTF8.self) : text
    }

    private func knownSecret(_ bytes: [UInt8], _ at: Int) -> Int? {
        guard bytes.count - at >= Self.shortest else { return nil }
        guard let candidates = known[Self.prefix(bytes[at...])] else { return nil }
        return candidates.filter { bytes[at...].starts(with: $0) }.map(\.count).max()
    }

    /// The length of the signed or encrypted token that begins here: parts of base64url with dots between, the first of
    /// which is an object.
    private func token(_ bytes: [UInt8], _ at: Int) -> Int? {
        guard bytes[at...].starts(with: [0x65, 0x79, 0x4A]) else { return nil }
        let run = bytes[at...].prefix { byte in
            byte == 0x2E || byte == 0x2D || byte == 0x5F || (0x30...0x39).contains(byte)
                || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        return run.count { $0 == 0x2E } >= 2 ? run.count : nil
    }

    /// A document without secrets.
    func json(_ json: JSON) -> JSON { self.json(json, isProblem: false) }

    private func json(_ json: JSON, isProblem: Bool) -> JSON {
        switch json {
        case .string(let text): .string(self.text(text))
        case .array(let elements): .array(elements.map { self.json($0, isProblem: isProblem) })
        case .object(let object):
            .object(
                object.members.map { member in
                    guard let secret = member.value.string, isSecret(member.name, isProblem) else {
                        return (member.name, self.json(member.value, isProblem: isProblem))
                    }
                    return (member.name, .string(mark(secret)))
                })
        case .null, .bool, .int, .double: json
        }
    }

    /// Entries of a journal: members of their own have other meanings than those of a body, so `state` stays.
    func journal(_ entry: JSON) -> JSON {
        switch entry {
        case .string(let text): .string(self.text(text))
        case .array(let elements): .array(elements.map(journal))
        case .object(let object): .object(object.members.map { ($0.name, journal($0.value)) })
        case .null, .bool, .int, .double: entry
        }
    }

    /// The value of a header field.
    func header(_ field: HTTPField) -> String {
        guard Self.headers.contains(field.name.lowercased()) else { return text(field.value) }
        let parts = field.value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return mark(field.value) }
        return "\(parts[0]) \(mark(parts[1]))"
    }

    /// The parameters of a query or form, in order.
    func parameters(_ form: FormFields) -> [(name: String, value: String)] {
        form.fields.map { ($0.name, isSecret($0.name, false) ? mark($0.value) : text($0.value)) }
    }

    /// A body as text; nil where it is none.
    func body(_ bytes: [UInt8], _ fields: HTTPFields) -> String? {
        let kind = Body(fields)
        switch kind {
        case .form:
            guard let form = try? FormFields(decoding: bytes) else { return nil }
            return String(decoding: FormFields(parameters(form).map { ($0.name, $0.value) }).encoded(), as: UTF8.self)
        case .json, .problem:
            if let json = try? JSON(parsing: bytes) { return self.json(json, isProblem: kind == .problem).text }
        case .other: break
        }
        return String(validating: bytes, as: UTF8.self).map(text)
    }
}
