import Foundation

/// The rules for names of the wire: none is empty, and no two in one object are the same.
///
/// They are read out of the document once more, so that an error names a field as the document spells it.
enum NameRules {
    private struct Document: Decodable {
        struct Ceremony: Decodable { let claims: [String: String] }
        let ceremony: Ceremony
        let members: [String: [String: String]]
    }

    /// Names that a standard gives to other parts of an object, by the object.
    private static let standard: [String: Set<String>] = [
        "ceremony.claims": ["aud", "iat", "jti"],
        "members.metadata": [
            "issuer", "authorization_challenge_endpoint", "authorization_endpoint", "token_endpoint",
            "revocation_endpoint", "registration_endpoint", "challenge_endpoint", "jwks_uri",
        ],
        "members.challenge_form": [
            "response_type", "client_id", "client_assertion", "client_assertion_type", "client_secret", "scope",
            "resource", "login_hint", "nonce", "code_challenge", "code_challenge_method", "dpop_jkt", "auth_session",
        ],
        "members.start_answer": ["error", "error_description", "error_uri", "auth_session", "expires_in"],
    ]

    static func check(_ document: [UInt8]) throws(ProfileError) {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let names: Document
        do { names = try decoder.decode(Document.self, from: Data(document)) } catch {
            throw .unreadable(String(describing: error))
        }
        try check(names.ceremony.claims, of: "ceremony.claims")
        for (object, members) in names.members.sorted(by: { $0.key < $1.key }) {
            try check(members, of: "members.\(object)")
        }
    }

    private static func check(_ names: [String: String], of object: String) throws(ProfileError) {
        var fields: [String: String] = [:]
        for (field, name) in names.sorted(by: { $0.key < $1.key }) {
            if name.isEmpty { throw .emptyName("\(object).\(field)") }
            if standard[object]?.contains(name) == true { throw .standardName(field: "\(object).\(field)", name: name) }
            if let other = fields[name] { throw .sameName(object: object, fields: [other, field], name: name) }
            fields[name] = field
        }
    }
}
