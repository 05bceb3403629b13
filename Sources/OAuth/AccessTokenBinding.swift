internal import Encoding
internal import JOSE

/// Which key an access token says it is bound to, as far as a client can read it.
public enum AccessTokenBinding: Sendable, Equatable {
    /// The token is no JWT this client can read; only the resource server knows.
    case unreadable
    /// The token is a JWT without `cnf.jkt`: anybody who holds it can use it.
    case unbound
    /// The token is a JWT bound to the key with this thumbprint (RFC 9449 section 6.1).
    case bound(thumbprint: String)

    /// Reads a token without verifying it; the client is not its audience.
    public init(of accessToken: String) {
        guard let token = try? JWS(compact: accessToken), let claims = (try? JSON(parsing: token.payload))?.object
        else {
            self = .unreadable
            return
        }
        self = claims["cnf"]?["jkt"]?.string.map { .bound(thumbprint: $0) } ?? .unbound
    }
}
