/// Why an issuer or its metadata document cannot be used.
public enum MetadataError: Error, Hashable, Sendable, Codable {
    /// The issuer is no URL this client may talk to, for the rule named.
    case issuer(rule: String)
    /// The document is no JSON object, or a member is missing or of the wrong type.
    case answer(AnswerError)
    /// The document names another issuer than the one it was asked from (RFC 8414 section 3.3).
    case issuerMismatch(expected: String, found: String)
    /// An endpoint is no URL this client may talk to, for the rule named.
    case endpoint(name: String, rule: String)
    /// The server says that it does not support something this client cannot do without.
    case unsupported(member: String, needed: String)

    /// A stable name for this error, for reports and tests.
    public var code: String {
        switch self {
        case .issuer: "oauth.metadata.issuer"
        case .answer(let error): error.code
        case .issuerMismatch: "oauth.metadata.issuer_mismatch"
        case .endpoint: "oauth.metadata.endpoint"
        case .unsupported: "oauth.metadata.unsupported"
        }
    }
}

extension MetadataError: CustomStringConvertible {
    /// The rule that was broken and the value that broke it.
    public var description: String {
        switch self {
        case .issuer(let rule): "the issuer \(rule)"
        case .answer(let error): "the metadata document: \(error.description)"
        case .issuerMismatch(let expected, let found):
            "the metadata document names the issuer \(found) where \(expected) was expected, byte for byte"
        case .endpoint(let name, let rule): "the metadata document's \(name) \(rule)"
        case .unsupported(let member, let needed): "the metadata document's \(member) does not contain \(needed)"
        }
    }
}
