internal import Encoding

/// A token endpoint's success, read but not yet believed (RFC 6749 section 5.1, RFC 9449 section 5).
public struct TokenResponse: Sendable, Equatable {
    /// The access token.
    public let accessToken: String
    /// How long the access token lives, in seconds.
    public let expiresInSeconds: Int64
    /// The ID token, when the server issued one.
    public let idToken: String?
    /// The refresh token, when the server issued one.
    public let refreshToken: String?
    /// The scopes granted; nil where the answer does not say, which means as asked.
    public let scope: [String]?
    /// Whether `token_type` is `DPoP`, compared without regard to case.
    ///
    /// A client that asked for bound tokens discards anything else.
    public let isDPoPBound: Bool

    /// Reads the answer of a token endpoint to a grant.
    ///
    /// An optional member that is null counts as absent, and so does an empty `scope`: servers in the field send both.
    /// `expires_in` is optional where a lifetime to assume is given (RFC 6749 recommends it, profiles demand it).
    /// Throws ``AnswerError``: status other than 200, no JSON object, a member missing or of the wrong type, or an
    /// access token that cannot be sent in an `Authorization` field.
    public init(
        status: Int, mediaType: String?, body: [UInt8], assumedLifetime: Int64? = nil
    ) throws(AnswerError) {
        guard status == 200 else { throw .unexpectedStatus(status) }
        let members = try AnswerMembers(status: status, mediaType: mediaType, body: body)
        accessToken = try members.string("access_token")
        guard Token68.matches(accessToken) else {
            throw .unusable(member: "access_token", rule: "it must be a token68 (RFC 9449 section 7.1)")
        }
        isDPoPBound = try members.string("token_type").lowercased() == "dpop"
        if let assumedLifetime, members.isAbsent("expires_in") {
            expiresInSeconds = assumedLifetime
        } else {
            expiresInSeconds = try members.integer("expires_in", in: 1...31_536_000)
        }
        idToken = try members.text("id_token")
        refreshToken = try members.text("refresh_token")
        let scope = members.object["scope"] == "" ? nil : try members.text("scope")
        self.scope = scope?.split(separator: " ").map(String.init)
    }
}

extension AnswerMembers {
    /// Whether a member is absent or null.
    fileprivate func isAbsent(_ name: String) -> Bool { (object[name] ?? .null) == .null }

    /// A string that is not empty; nil where the member is absent or null.
    fileprivate func text(_ name: String) throws(AnswerError) -> String? {
        isAbsent(name) ? nil : try string(name)
    }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    /// What was issued, never a token.
    public var description: String {
        "token response: \(isDPoPBound ? "DPoP" : "not DPoP"), expires in \(expiresInSeconds) s, "
            + "\(idToken == nil ? "no" : "an") ID token, \(refreshToken == nil ? "no" : "a") refresh token"
    }

    /// Hides the tokens from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}
