internal import Encoding

/// What an authorization server said in a redirect to the client (RFC 6749 sections 4.1.2 and 4.1.2.1).
public enum AuthorizationResponse: Sendable, Hashable {
    /// The code, a secret.
    case code(String)
    /// The server refused.
    case refused(OAuthErrorCode, detail: String?)

    /// The names that must not come twice.
    private static let names = ["code", "state", "iss", "error", "error_description"]

    /// Reads the query of a redirect.
    ///
    /// `state` is the one that was sent, `issuer` the server the flow began with, and `issuerIsDue` whether that server
    /// says that it names itself in every redirect (RFC 9207 section 2.4). `state` and `iss` are checked before
    /// anything else is believed, a refusal included. Throws the first ``RedirectRefusal``.
    public init(
        query: String, state: String, issuer: String, issuerIsDue: Bool
    ) throws(RedirectRefusal) {
        let form: FormFields
        do { form = try FormFields(decoding: Array(query.utf8)) } catch { throw .unreadable(rule: error.description) }
        let repeated = form.repeatedNames.first(where: Self.names.contains)
        if let repeated { throw .repeated(name: repeated) }
        guard let found = form["state"] else { throw .missing(name: "state") }
        guard found.hasSameBytes(as: state) else { throw .state }
        if let named = form["iss"] {
            guard named.hasSameBytes(as: issuer) else {
                throw .issuer(expected: issuer, found: DisplayText.shortened(named))
            }
        } else if issuerIsDue {
            throw .missing(name: "iss")
        }
        if let error = form["error"], !error.isEmpty {
            let detail = form["error_description"].map(DisplayText.shortened)
            self = .refused(OAuthErrorCode(rawValue: error), detail: detail)
        } else {
            guard let code = form["code"], !code.isEmpty else { throw .missing(name: "code") }
            self = .code(code)
        }
    }
}

extension AuthorizationResponse: CustomStringConvertible, CustomReflectable {
    /// The refusal, never the code.
    public var description: String {
        switch self {
        case .code: "a code"
        case .refused(let error, let detail): detail.map { "\(error) (\($0))" } ?? error.description
        }
    }

    /// Hides the code from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}

/// Why a redirect is not believed; no case carries a code or a state.
public enum RedirectRefusal: Error, Sendable, Hashable, Codable {
    /// The query is no form, for the rule named.
    case unreadable(rule: String)
    /// A parameter comes twice.
    case repeated(name: String)
    /// A parameter that must be there is not.
    case missing(name: String)
    /// `state` is not the one this flow sent: the redirect belongs to another request, or to nobody's.
    case state
    /// `iss` names another server than the one this flow began with (RFC 9207, mix-up).
    case issuer(expected: String, found: String)

    /// A stable name for this error, for reports and tests.
    public var code: String {
        switch self {
        case .unreadable: "oauth.redirect.unreadable"
        case .repeated: "oauth.redirect.repeated"
        case .missing: "oauth.redirect.missing"
        case .state: "oauth.redirect.state"
        case .issuer: "oauth.redirect.iss"
        }
    }
}

extension RedirectRefusal: CustomStringConvertible {
    /// The rule that was broken and the value that broke it, where it is no secret.
    public var description: String {
        switch self {
        case .unreadable(let rule): "the redirect's query cannot be read: \(rule)"
        case .repeated(let name): "the redirect has \(name) twice"
        case .missing(let name): "the redirect has no \(name)"
        case .state: "the redirect's state is not the one this sign-in sent"
        case .issuer(let expected, let found): "the redirect's iss is \(found) where \(expected) was expected"
        }
    }
}
