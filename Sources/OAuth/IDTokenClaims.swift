public import Encoding

/// The claims of an ID token that passed every check.
public struct IDTokenClaims: Sendable, Equatable {
    /// `sub`.
    public let subject: String
    /// `email`, when it is there.
    public let email: String?
    /// `exp`.
    public let expiresAt: Instant
    /// `iat`.
    public let issuedAt: Instant
    /// All claims, as compact JSON text.
    public let json: String

    init(_ claims: ClaimReader) throws(IDTokenRefusal) {
        subject = try claims.string("sub")
        email = try claims.optionalString("email")
        expiresAt = try claims.date("exp")
        issuedAt = try claims.date("iat")
        json = JSON.object(claims.object).text
    }
}

extension IDTokenClaims: CustomStringConvertible, CustomReflectable {
    /// The times alone; the rest is personal.
    public var description: String { "ID-token claims, \(issuedAt.seconds) to \(expiresAt.seconds)" }

    /// Hides the claims from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["claims": description]) }
}

/// Reads claims, strict on type.
struct ClaimReader {
    let object: JSONObject

    init(payload: [UInt8]) throws(IDTokenRefusal) {
        let json: JSON
        do { json = try JSON(parsing: payload) } catch { throw .malformed(rule: error.description) }
        guard let object = json.object else { throw .malformed(rule: "the payload is \(json.kind)") }
        self.object = object
    }

    func string(_ name: String) throws(IDTokenRefusal) -> String {
        guard let value = try optionalString(name) else { throw .claim(name: name, rule: "is missing") }
        return value
    }

    func optionalString(_ name: String) throws(IDTokenRefusal) -> String? {
        guard let json = object[name] else { return nil }
        guard let value = json.string else { throw .claim(name: name, rule: "is \(json.kind) and no string") }
        return value
    }

    /// `aud`: one string, or an array of them (RFC 7519 section 4.1.3).
    func audiences() throws(IDTokenRefusal) -> [String] {
        guard let json = object["aud"] else { throw .claim(name: "aud", rule: "is missing") }
        if let single = json.string { return [single] }
        let elements = json.array?.map(\.string)
        guard let elements, !elements.isEmpty, !elements.contains(nil) else {
            throw .claim(name: "aud", rule: "is neither a string nor an array of strings")
        }
        return elements.compactMap { $0 }
    }

    /// A NumericDate, which may have a fraction (RFC 7519 section 2).
    func date(_ name: String) throws(IDTokenRefusal) -> Instant {
        guard let json = object[name] else { throw .claim(name: name, rule: "is missing") }
        switch json {
        case .int(let seconds): return Instant(seconds: seconds)
        case .double(let seconds) where seconds.magnitude < 1e12: return Instant(milliseconds: Int64(seconds * 1000))
        case .double: throw .claim(name: name, rule: "is out of range")
        case .null, .bool, .string, .array, .object:
            throw .claim(name: name, rule: "is \(json.kind) and no number")
        }
    }
}
