internal import Encoding

/// An OAuth `error` code: an open set, since every extension and every server adds its own.
public struct OAuthErrorCode: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The code as it was sent.
    public let rawValue: String

    /// Takes a code as it was sent.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The code, fit for one line.
    public var description: String { DisplayText.shortened(rawValue) }

    /// More steps are needed (draft-ietf-oauth-first-party-apps section 5.3).
    public static let insufficientAuthorization = OAuthErrorCode(rawValue: "insufficient_authorization")
    /// The `auth_session` is unknown, over or dead (draft-ietf-oauth-first-party-apps section 5.3).
    public static let invalidSession = OAuthErrorCode(rawValue: "invalid_session")
    /// The request is malformed (RFC 6749 section 5.2).
    public static let invalidRequest = OAuthErrorCode(rawValue: "invalid_request")
    /// The client is unknown or did not authenticate (RFC 6749 section 5.2).
    public static let invalidClient = OAuthErrorCode(rawValue: "invalid_client")
    /// The code or refresh token is not good any more (RFC 6749 section 5.2).
    public static let invalidGrant = OAuthErrorCode(rawValue: "invalid_grant")
    /// The client may not do this (RFC 6749 section 5.2).
    public static let unauthorizedClient = OAuthErrorCode(rawValue: "unauthorized_client")
    /// The request was refused (RFC 6749 section 4.1.2.1).
    public static let accessDenied = OAuthErrorCode(rawValue: "access_denied")
    /// A token is expired, revoked or malformed (RFC 6750 section 3.1).
    public static let invalidToken = OAuthErrorCode(rawValue: "invalid_token")
    /// The DPoP proof is not accepted (RFC 9449 section 5).
    public static let invalidDPoPProof = OAuthErrorCode(rawValue: "invalid_dpop_proof")
    /// The DPoP proof needs a fresh nonce (RFC 9449 section 8).
    public static let useDPoPNonce = OAuthErrorCode(rawValue: "use_dpop_nonce")
    /// The attestation needs a fresh challenge (draft-ietf-oauth-attestation-based-client-auth section 8).
    public static let useAttestationChallenge = OAuthErrorCode(rawValue: "use_attestation_challenge")
    /// The client attestation is too old (draft-ietf-oauth-attestation-based-client-auth section 8).
    public static let useFreshAttestation = OAuthErrorCode(rawValue: "use_fresh_attestation")
    /// The client attestation is no good (draft-ietf-oauth-attestation-based-client-auth section 8).
    public static let invalidClientAttestation = OAuthErrorCode(rawValue: "invalid_client_attestation")
}

/// The JSON body of a refusal (RFC 6749 section 5.2).
///
/// The RFC restricts the characters of `error` and `error_description`; servers in the field do not always
/// keep to it, so any string is taken and made fit for one line before it is shown.
public struct OAuthErrorBody: Sendable, Equatable {
    /// The `error`.
    public let code: OAuthErrorCode
    /// The `error_description`, a text for developers.
    public let detail: String?
    /// The whole body, for members the endpoint adds.
    public let members: AnswerMembers

    /// Reads the body of a refusal; nil where `error` is absent, empty or no string.
    ///
    /// An `error_description` of another type is ignored: it changes nothing about what was refused.
    public init?(_ members: AnswerMembers) {
        guard let error = members.object["error"]?.string, !error.isEmpty else { return nil }
        code = OAuthErrorCode(rawValue: error)
        detail = members.object["error_description"]?.string.map(DisplayText.shortened)
        self.members = members
    }
}

extension OAuthErrorBody: CustomStringConvertible {
    /// The code, and the description in brackets where there is one.
    public var description: String { detail.map { "\(code) (\($0))" } ?? code.description }
}
