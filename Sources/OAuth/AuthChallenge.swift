/// One challenge of a `WWW-Authenticate` field (RFC 9110 section 11.6.1).
public struct AuthChallenge: Sendable, Hashable {
    /// One `name=value` of a challenge.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case; names are compared without regard to case.
        public let name: String
        /// The value, unquoted.
        public let value: String
    }

    /// The scheme as it was sent.
    public let scheme: String
    /// The token68, for schemes that have one instead of parameters.
    public let token68: String?
    /// The parameters in order.
    public let parameters: [Parameter]

    /// The first parameter of a name, given in lower case.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Whether the scheme is this one, without regard to case.
    public func isScheme(_ name: String) -> Bool { scheme.lowercased() == name.lowercased() }
}

/// All challenges of an answer, in order, from one field or several.
public struct AuthChallenges: Sendable, Hashable {
    /// The most bytes all fields together may have.
    public static let sizeLimit = 16_384
    /// The most challenges that are read.
    public static let countLimit = 32

    /// The challenges.
    public let challenges: [AuthChallenge]

    /// Reads the values of all `WWW-Authenticate` fields.
    ///
    /// Throws ``ChallengeHeaderError`` for a value that breaks the grammar or is over a limit. An answer whose
    /// challenges cannot be read asks for nothing: a client then takes the status as it is.
    public init(fields: [String]) throws(ChallengeHeaderError) {
        guard fields.reduce(0, { $0 + $1.utf8.count }) <= Self.sizeLimit else { throw .tooLarge }
        var all: [AuthChallenge] = []
        for field in fields {
            var parser = ChallengeParser(field)
            all += try parser.challenges()
            guard all.count <= Self.countLimit else { throw .tooMany }
        }
        challenges = all
    }

    /// Whether a resource server asks for a proof with a fresh nonce (RFC 9449 section 9).
    public var wantDPoPNonce: Bool {
        challenges.contains { $0.isScheme("DPoP") && $0["error"] == OAuthErrorCode.useDPoPNonce.rawValue }
    }

    /// Whether the access token was refused as expired, revoked or malformed, under whatever scheme (RFC 6750
    /// section 3.1, RFC 9449 section 7.1).
    public var sayInvalidToken: Bool {
        challenges.contains { $0["error"] == OAuthErrorCode.invalidToken.rawValue }
    }
}

/// What is wrong with a `WWW-Authenticate` field.
public enum ChallengeHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A byte the grammar does not allow at this offset.
    case unexpected(offset: Int)
    /// A quoted string without its closing quote.
    case unterminatedString
    /// A parameter that occurs twice in one challenge.
    case repeatedParameter(String)
    /// More bytes than ``AuthChallenges/sizeLimit``.
    case tooLarge
    /// More challenges than ``AuthChallenges/countLimit``.
    case tooMany

    /// A stable name for this error, for reports and tests.
    public var code: String {
        switch self {
        case .unexpected: "oauth.challenge.unexpected"
        case .unterminatedString: "oauth.challenge.unterminated_string"
        case .repeatedParameter: "oauth.challenge.repeated_parameter"
        case .tooLarge: "oauth.challenge.too_large"
        case .tooMany: "oauth.challenge.too_many"
        }
    }

    /// The rule that was broken and where.
    public var description: String {
        switch self {
        case .unexpected(let offset): "WWW-Authenticate breaks the grammar at offset \(offset)"
        case .unterminatedString: "WWW-Authenticate has a quoted string without an end"
        case .repeatedParameter(let name): "WWW-Authenticate repeats the parameter \(DisplayText.shortened(name))"
        case .tooLarge: "WWW-Authenticate has more than \(AuthChallenges.sizeLimit) bytes"
        case .tooMany: "WWW-Authenticate has more than \(AuthChallenges.countLimit) challenges"
        }
    }
}
