internal import Encoding

/// What a token answer issued, read as leniently as can be: enough to revoke it.
///
/// An answer that is refused for any reason may still have opened a grant at the server.
public struct IssuedGrant: Sendable, Equatable {
    /// The token to revoke.
    ///
    /// A refresh token takes its access tokens with it (RFC 7009 section 2.1).
    public let token: String
    /// The kind of ``token``.
    public let kind: TokenKind

    /// Finds a token in the body of a 2xx answer; nil where there is none, or where the body does not parse.
    public init?(status: Int, body: [UInt8]) {
        guard (200...299).contains(status), let members = (try? JSON(parsing: body))?.object else { return nil }
        if let token = members["refresh_token"]?.string, !token.isEmpty {
            self.init(token: token, kind: .refreshToken)
        } else if let token = members["access_token"]?.string, !token.isEmpty {
            self.init(token: token, kind: .accessToken)
        } else {
            return nil
        }
    }

    /// Takes a token that is already known.
    public init(token: String, kind: TokenKind) {
        self.token = token
        self.kind = kind
    }
}

extension IssuedGrant: CustomStringConvertible, CustomReflectable {
    /// The kind alone.
    public var description: String { "a grant held by its \(kind.rawValue)" }

    /// Hides the token from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind]) }
}
