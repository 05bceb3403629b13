import Encoding
import JOSE
import Profiles

/// A tenant's settings: its switches, its policy, what it offers of Face PKI.
struct Tenant: Sendable, Hashable {
    /// The rules a tenant's applications live by.
    enum Profile: String, Sendable, Hashable, CaseIterable {
        /// Public clients and confidential ones.
        case standard
        /// FAPI 2.0: confidential clients alone, and codes of a minute at most.
        case fapi2
    }

    /// How strictly evidence about the calling app is taken.
    enum AttestationMode: String, Sendable, Hashable, CaseIterable {
        case off, audit, enforce
    }

    /// The segment of the issuer that names the tenant.
    let id: String
    var name: String
    var profile = Profile.standard
    /// Precondition 1: the tenant runs its own app, with its identity registered.
    var runsOwnApp = true
    var selfSignup = false
    var attestationMode = AttestationMode.off
    /// What evidence must show.
    var attestation = AttestationPolicy()
    /// Whose word is taken for it, where the tenant has anchors of its own.
    var anchors = TenantAnchors()
    var pki: FacePKIOffer
    var policy: Policy
    /// How often the tenant stopped running its own app, see ``FirstPartyPermit``.
    var withdrawals: Int64 = 0
    /// Rules that are not applied here, so that a conformance test can be seen to fail.
    var rulesOff: Set<RuleSwitch> = []
}

/// What a tenant offers of Face PKI; whether an operation runs is never told here.
struct FacePKIOffer: Sendable, Hashable {
    var enabled = false
    var classes: [String]

    /// What the answer to a face-token fetch for an application says about it.
    func json(for application: Application, _ name: SenseCryptProfile.Members.PKIObject) -> JSON {
        .object([
            (name.enabled, .bool(enabled)), (name.tenantScope, .bool(enabled && application.allowsTenantKeys)),
            (name.classes, .texts(enabled ? classes : [])),
        ])
    }
}

/// What a tenant may tune about the flow; times in seconds.
struct Policy: Sendable, Hashable {
    /// Whether a start needs a server nonce.
    ///
    /// Completion, token and refresh always do.
    var nonceOnStart = false
    /// Whether the resource API needs a server nonce.
    var nonceAtResource = false
    var sessionLifetime: Int64
    var codeLifetime: Int64
    var maxReplacements: Int64
    /// Whether starts and requests are limited in number.
    var rateLimits = SenseCryptProfile.RateLimitMode.described
}

/// An application of a tenant: a public client, or a confidential one with keys.
struct Application: Sendable, Hashable {
    let clientID: String
    /// Tells this application from a deleted one of the same id: grants remember it.
    let serial: Int64
    var name: String
    var authentication = ClientAuthentication.none
    /// The public keys a confidential client signs its assertions with; nil until they are registered.
    var clientKeys: JWKSet?
    /// Precondition 2, first half.
    var requireDPoP = true
    /// Precondition 2, second half: must be off.
    var certificateBoundTokens = false
    /// Precondition 3.
    var firstPartyChallenge = false
    /// The last precondition: at least one, although the flow never redirects.
    var redirectURIs: [String] = []
    var scopes: [String] = ["openid"]
    /// Audiences the application may ask for.
    var resources: [String] = []
    /// Seconds; nil means the deployment-wide default.
    var accessTokenLifetime: Int64?
    var idTokenAlgorithm = UnsignedJWT.Algorithm.es256
    /// Whether an administrator allowed it the Face PKI keys all allowed applications of the tenant share.
    var allowsTenantKeys = false
    /// Whether a refresh token is good once only.
    ///
    /// A spent one that comes back revokes its family.
    var rotatesRefreshTokens = true
    /// How often the application's switches stopped holding, see ``FirstPartyPermit``.
    var withdrawals: Int64 = 0
}

/// How a client proves who it is: `token_endpoint_auth_method`.
enum ClientAuthentication: String, Sendable, Hashable, CaseIterable {
    /// Not at all: a public client.
    case none
    /// By an assertion it signs (RFC 7523 section 2.2): a confidential client.
    case privateKeyJWT = "private_key_jwt"
    /// By the word of an attester about its key, and a proof made with that key (attestation-based client
    /// authentication, section 6).
    case attestation = "attest_jwt_client_auth"
    /// The same, with a DPoP proof as the proof.
    case attestationWithDPoP = "attest_jwt_client_auth_dpop"

    /// Whether an attester vouches for the client's instances.
    var isByAttestation: Bool { self == .attestation || self == .attestationWithDPoP }
}
