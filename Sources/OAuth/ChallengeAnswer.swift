internal import Encoding

/// What an authorization challenge endpoint answered (draft-ietf-oauth-first-party-apps sections 5.1 to 5.3).
public enum ChallengeAnswer: Sendable, Equatable {
    /// `200`: the authorization code.
    case code(String)
    /// `insufficient_authorization`: the session goes on with these members.
    case goOn(ChallengeSession)
    /// Any other `error`.
    case refused(OAuthErrorBody)

    /// Reads an answer below 500.
    ///
    /// The `error` is looked at first and the status last: earlier revisions of the draft answered a challenge with
    /// 400 or 401. Throws ``AnswerError`` for a body that is no JSON object, has no usable `error`, or lacks the
    /// members of its kind; ``AnswerError/unexpectedStatus(_:)`` for a status that is neither 200 nor 4xx.
    public init(status: Int, mediaType: String?, body: [UInt8]) throws(AnswerError) {
        let members = try AnswerMembers(status: status, mediaType: mediaType, body: body)
        if status == 200 {
            self = .code(try members.string("authorization_code"))
            return
        }
        guard (400...499).contains(status) else { throw .unexpectedStatus(status) }
        guard let error = OAuthErrorBody(members) else { throw .missing(member: "error") }
        if error.code == .insufficientAuthorization, ChallengeSession.statuses.contains(status) {
            self = .goOn(try ChallengeSession(members, status: status))
        } else {
            self = .refused(error)
        }
    }
}

/// A challenge that asks for more: the session's handle and the members a profile adds.
public struct ChallengeSession: Sendable, Equatable {
    /// The statuses such an answer may have; the draft's revision 04 demands 403.
    public static let statuses = [403, 400, 401]

    /// `auth_session`, a secret that stands for the session.
    public let handle: String
    /// `expires_in` in seconds, when the server says so.
    public let expiresInSeconds: Int64?
    /// The status it came with.
    public let status: Int
    /// The whole body, for the profile's members.
    public let members: AnswerMembers

    init(_ members: AnswerMembers, status: Int) throws(AnswerError) {
        handle = try members.string("auth_session")
        guard handle.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .unusable(member: "auth_session", rule: "it must be visible ASCII")
        }
        expiresInSeconds = try members.optionalInteger("expires_in", in: 0...31_536_000)
        self.status = status
        self.members = members
    }
}

extension ChallengeSession: CustomStringConvertible {
    /// The status and the names of the members, never the handle.
    public var description: String { "challenge \(status) with \(members.object.names.joined(separator: ", "))" }
}
