internal import Encoding
public import HTTP

/// An authorization server's metadata, checked (RFC 8414, OpenID Connect Discovery).
public struct ServerMetadata: Codable, Sendable, Hashable {
    /// The issuer, the same bytes as the one asked.
    public let issuer: String
    /// Where a first-party sign-in starts and completes (draft-ietf-oauth-first-party-apps section 4), when the server
    /// offers one.
    public let authorizationChallengeEndpoint: HTTPURL?
    /// Where a sign-in in a browser starts, when the server offers one.
    public let authorizationEndpoint: HTTPURL?
    /// Where codes and refresh tokens are redeemed.
    public let tokenEndpoint: HTTPURL
    /// Where tokens are revoked (RFC 7009), when the server has such a place.
    public let revocationEndpoint: HTTPURL?
    /// Where the server's signing keys are, when it says so.
    public let jwksURI: HTTPURL?
    /// What the signed device ceremony calls are built on (SenseCrypt wire, section 1; assumed).
    public let deviceCeremonyEndpoint: HTTPURL?
    /// Where clients register themselves (RFC 7591), when the server has such a place.
    public let registrationEndpoint: HTTPURL?
    /// Where challenges for attestation come from (draft-ietf-oauth-attestation-based-client-auth section 8), when the
    /// server has such a place.
    public let challengeEndpoint: HTTPURL?
    /// The methods clients authenticate by at the token endpoint, in the server's order; nil where it does not say.
    public let tokenEndpointAuthMethods: [String]?
    /// Whether every redirect back to the client names the issuer (RFC 9207 section 3).
    public let redirectsNameIssuer: Bool

    /// Reads the answer of a metadata address.
    ///
    /// Throws ``MetadataError/answer(_:)`` for another status than 200 and for a body that is no JSON object, naming
    /// status and media type, and otherwise what ``init(members:issuer:allowPlainHTTPOnLoopback:ceremonyMember:)`` throws.
    public init(
        status: Int, mediaType: String?, body: [UInt8], issuer: String, allowPlainHTTPOnLoopback: Bool,
        ceremonyMember: String
    ) throws(MetadataError) {
        let members: AnswerMembers
        do throws(AnswerError) {
            members = try AnswerMembers(status: status, mediaType: mediaType, body: body)
            guard status == 200 else { throw AnswerError.unexpectedStatus(status) }
        } catch { throw .answer(error) }
        try self.init(
            members: members, issuer: issuer, allowPlainHTTPOnLoopback: allowPlainHTTPOnLoopback,
            ceremonyMember: ceremonyMember)
    }

    /// Checks a document that was asked from an issuer; members it does not know are ignored.
    ///
    /// `ceremonyMember` is the one ``deviceCeremonyEndpoint`` is read from: its name is assumed, unlike the others.
    ///
    /// Which of the endpoints a client cannot do without besides the token endpoint is for its flow to say. Throws
    /// ``MetadataError``: the issuer cannot be used or is not the document's, the token endpoint is missing, an
    /// endpoint is no absolute URL or less secure than the issuer, or the server says it supports neither `S256`
    /// nor `ES256` proofs.
    public init(
        members: AnswerMembers, issuer: String, allowPlainHTTPOnLoopback: Bool,
        ceremonyMember: String
    ) throws(MetadataError) {
        let url = try IssuerRule.url(issuer, allowPlainHTTPOnLoopback: allowPlainHTTPOnLoopback)
        let reader = MetadataReader(members: members, issuerIsSecure: url.isSecure)
        try reader.checkIssuer(is: issuer)
        try reader.checkSupport()
        self.issuer = issuer
        authorizationChallengeEndpoint = try reader.optionalEndpoint("authorization_challenge_endpoint")
        authorizationEndpoint = try reader.optionalEndpoint("authorization_endpoint")
        tokenEndpoint = try reader.endpoint("token_endpoint")
        revocationEndpoint = try reader.optionalEndpoint("revocation_endpoint")
        jwksURI = try reader.optionalEndpoint("jwks_uri")
        deviceCeremonyEndpoint = try reader.optionalEndpoint(ceremonyMember)
        registrationEndpoint = try reader.optionalEndpoint("registration_endpoint")
        challengeEndpoint = try reader.optionalEndpoint("challenge_endpoint")
        tokenEndpointAuthMethods = try reader.optionalStrings("token_endpoint_auth_methods_supported")
        redirectsNameIssuer = try reader.flag("authorization_response_iss_parameter_supported")
    }

    /// The two addresses of an issuer's document: OpenID Connect Discovery appends to the issuer, RFC 8414 section
    /// 3.1 inserts between host and path.
    ///
    /// Throws ``MetadataError/issuer(rule:)`` as ``IssuerRule`` does.
    public static func addresses(
        of issuer: String, allowPlainHTTPOnLoopback: Bool
    ) throws(MetadataError) -> (openID: String, oauth: String) {
        let url = try IssuerRule.url(issuer, allowPlainHTTPOnLoopback: allowPlainHTTPOnLoopback)
        var path = url.target
        while path.hasSuffix("/") { path.removeLast() }
        return (
            url.origin + path + "/.well-known/openid-configuration",
            url.origin + "/.well-known/oauth-authorization-server" + path
        )
    }
}

/// Reads one metadata document by the rules that hold for all its members.
private struct MetadataReader {
    let members: AnswerMembers
    let issuerIsSecure: Bool

    func checkIssuer(is expected: String) throws(MetadataError) {
        let found: String
        do { found = try members.string("issuer") } catch { throw .answer(error) }
        guard found.hasSameBytes(as: expected) else {
            throw .issuerMismatch(expected: DisplayText.shortened(expected), found: DisplayText.shortened(found))
        }
    }

    /// A list that is absent says nothing; one that is there must contain what this client uses.
    func checkSupport() throws(MetadataError) {
        try check("code_challenge_methods_supported", contains: PKCE.method)
        try check("dpop_signing_alg_values_supported", contains: "ES256")
    }

    private func check(_ member: String, contains needed: String) throws(MetadataError) {
        let values = try optionalStrings(member)
        guard values?.contains(needed) ?? true else { throw .unsupported(member: member, needed: needed) }
    }

    func optionalStrings(_ name: String) throws(MetadataError) -> [String]? {
        do { return try members.optionalStrings(name) } catch { throw .answer(error) }
    }

    func endpoint(_ name: String) throws(MetadataError) -> HTTPURL {
        guard let url = try optionalEndpoint(name) else { throw .answer(.missing(member: name)) }
        return url
    }

    /// A truth value that means no where it is absent.
    func flag(_ name: String) throws(MetadataError) -> Bool {
        guard members.object[name] != nil else { return false }
        do { return try members.bool(name) } catch { throw .answer(error) }
    }

    func optionalEndpoint(_ name: String) throws(MetadataError) -> HTTPURL? {
        let text: String?
        do { text = try members.optionalString(name) } catch { throw .answer(error) }
        guard let text else { return nil }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .endpoint(name: name, rule: "has a fragment") }
        let url: HTTPURL
        do { url = try HTTPURL(text) } catch {
            throw .endpoint(name: name, rule: "is no absolute http or https URL")
        }
        if url.isSecure { return url }
        guard !issuerIsSecure else {
            throw .endpoint(name: name, rule: "is plain http while the issuer is https")
        }
        guard url.isLoopback else { throw .endpoint(name: name, rule: "is plain http and not on loopback") }
        return url
    }
}
