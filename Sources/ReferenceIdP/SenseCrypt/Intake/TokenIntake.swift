import Encoding
import JOSE
import Profiles

/// Call 4, well-formed.
struct CodeGrantRequest: Sendable {
    let client: ClientClaim
    let codeHash: String
    let codeVerifier: String?
    let proof: ProofInput
}

/// A refresh, well-formed.
struct RefreshGrantRequest: Sendable {
    let client: ClientClaim
    /// The part of the token that names its family.
    let selector: String
    /// The grant the selector belongs to, if it belongs to any.
    let grantID: String
    let tokenHash: String
    /// Scopes asked for, or nil for all that were granted.
    let scope: [String]?
    let resource: String?
    let proof: ProofInput
    /// Whether the token has the shape of those the IdP gives.
    let looksLikeOurs: Bool
}

/// Reads requests of the token endpoint.
enum TokenIntake {
    static func read(_ reading: Reading) throws(Refusal) -> Intake.Content {
        let form = try StrictForm(reading)
        let grantType = try form.required("grant_type")
        return switch grantType {
        case "authorization_code": .codeGrant(try codeGrant(form, reading))
        case "refresh_token": .refreshGrant(try refreshGrant(form, reading))
        default:
            throw Refusal(
                reading.errors.unsupportedGrantType, rule: "token.grant_type",
                expected: "authorization_code or refresh_token", actual: Clipped.text(grantType))
        }
    }

    private static func codeGrant(_ form: StrictForm, _ reading: Reading) throws(Refusal) -> CodeGrantRequest {
        CodeGrantRequest(
            client: try ClientClaim(form, reading),
            codeHash: storedHash(try form.required("code")),
            codeVerifier: try form.optional("code_verifier"),
            proof: reading.context.proof(origin: reading.settings.origin))
    }

    private static func refreshGrant(_ form: StrictForm, _ reading: Reading) throws(Refusal) -> RefreshGrantRequest {
        let token = try form.required("refresh_token")
        return RefreshGrantRequest(
            client: try ClientClaim(form, reading),
            selector: RefreshTokenText.selector(of: token),
            grantID: RefreshTokenText.grantID(of: token),
            tokenHash: storedHash(token),
            scope: try form.optional("scope").map(ScopeText.list),
            resource: try form.optional("resource"),
            proof: reading.context.proof(origin: reading.settings.origin), looksLikeOurs: token.contains("."))
    }
}

/// The shape of a refresh token, `selector.secret`.
enum RefreshTokenText {
    static func make(selector: String, secret: String) -> String { "\(selector).\(secret)" }

    /// The grant a refresh token belongs to, judging by its selector.
    static func grantID(of token: String) -> String {
        Grant.id(selector: selector(of: token))
    }

    /// The part that names the family.
    static func selector(of token: String) -> String { String(token.prefix { $0 != "." }) }
}

/// A revocation, well-formed.
struct RevocationRequest: Sendable {
    /// What the token seems to be.
    ///
    /// A hint of the caller changes nothing: the two look different.
    enum Token: Sendable {
        /// Signed by us: an access token with this `jti`, of this client, until this instant.
        case access(jti: String, clientID: String, expiresAt: Instant)
        /// Anything else.
        case opaque(grantID: String)
    }

    let client: ClientClaim
    let token: Token
    /// The DPoP proof, which clients attested with their DPoP key need.
    let proof: ProofInput
}

/// Reads requests of the revocation endpoint (RFC 7009).
enum RevocationIntake {
    static func read(_ reading: Reading) throws(Refusal) -> Intake.Content {
        let form = try StrictForm(reading)
        let token = try form.required("token", limit: 8192)
        let client = try ClientClaim(form, reading)
        let proof = reading.context.proof(origin: reading.settings.origin)
        if let access = try? AccessToken(token, tenant: reading.tenant, settings: reading.settings) {
            let token = RevocationRequest.Token.access(
                jti: access.jti, clientID: access.clientID, expiresAt: access.expiresAt)
            return .revocation(RevocationRequest(client: client, token: token, proof: proof))
        }
        return .revocation(
            RevocationRequest(
                client: client, token: .opaque(grantID: RefreshTokenText.grantID(of: token)), proof: proof))
    }
}
