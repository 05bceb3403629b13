public import Encoding
internal import HTTP

/// A request to be registered as a client (RFC 7591 section 2), for the kind of client this program is: public, native,
/// by code, with bound tokens.
public struct ClientRegistration: Sendable, Hashable {
    /// Where browsers may be sent back to; at least one.
    public var redirectURIs: [RedirectURI]
    /// What a person is shown.
    public var name: String
    /// The scopes the client will ask for; none leaves the choice to the server.
    public var scopes: [String]

    /// Describes a client.
    public init(redirectURIs: [RedirectURI], name: String = "Understudy", scopes: [String] = []) {
        self.redirectURIs = redirectURIs
        self.name = name
        self.scopes = scopes
    }

    /// The body to send.
    public var json: JSON {
        // OpenID Connect Registration takes a client for a web site, without loopback, unless it says otherwise.
        let isNative = redirectURIs.contains { (try? HTTPURL($0.text))?.isSecure != true }
        var members: [(String, JSON)] = [
            ("client_name", .string(name)), ("redirect_uris", .array(redirectURIs.map { .string($0.text) })),
            ("grant_types", ["authorization_code", "refresh_token"]), ("response_types", ["code"]),
            ("token_endpoint_auth_method", "none"), ("application_type", isNative ? "native" : "web"),
            ("dpop_bound_access_tokens", true),
        ]
        if !scopes.isEmpty { members.append(("scope", .string(scopes.joined(separator: " ")))) }
        return .object(members)
    }
}

/// A client a server registered (RFC 7591 section 3.2.1), as far as a public client needs to know.
///
/// A secret or a management token the server gave as well is not kept: nothing here would use it.
public struct RegisteredClient: Sendable, Hashable {
    /// The name the server gave.
    public let clientID: String
    /// How the client is to authenticate at the token endpoint; only `none` is of use here.
    public let authentication: String
    /// The redirect URIs as the server keeps them; nil where it does not say.
    public let redirectURIs: [String]?
    /// The scopes the client may ask for; nil where the server does not say.
    public let scope: String?

    /// Reads the answer of a registration endpoint.
    ///
    /// Throws ``AnswerError``: another status than 201 (some servers say 200), no JSON object, or a member missing or
    /// of the wrong type.
    public init(status: Int, mediaType: String?, body: [UInt8]) throws(AnswerError) {
        guard status == 201 || status == 200 else { throw .unexpectedStatus(status) }
        let members = try AnswerMembers(status: status, mediaType: mediaType, body: body)
        clientID = try members.string("client_id")
        // RFC 7591 section 2: the default is a client secret.
        authentication = members.object["token_endpoint_auth_method"]?.string ?? "client_secret_basic"
        redirectURIs = try members.optionalStrings("redirect_uris")
        scope = members.object["scope"]?.string
    }
}
