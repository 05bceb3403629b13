/// The wire of SenseCrypt in-app sign-in as data: names, paths, statuses, lifetimes and limits.
///
/// The built-in profile is the document `sensecrypt.json5`, which says of each value whether the public
/// description states it or whether it is assumed. The reference IdP
/// reads all of it; the phone reads the ceremony's paths, words and names and a few spellings of `error`, and
/// finds the rest in the metadata. It holds no conditions; what depends on one is Swift.
public struct SenseCryptProfile: Sendable, Hashable, Codable {
    /// The profile's name.
    public let name: String
    /// Where the endpoints are, as suffixes of the issuer.
    public let paths: Paths
    /// Suffixes of `device_ceremony_endpoint`.
    public let ceremonyPaths: CeremonyPaths
    /// The names inside a signed device request.
    public let ceremony: Ceremony
    /// What the members of requests and answers are called.
    public let members: Members
    /// How long things live, in seconds.
    public let lifetimes: Lifetimes
    /// How far clocks may differ, in seconds.
    public let windows: Windows
    /// How much of everything there may be.
    public let limits: Limits
    /// How often things may be asked for.
    public let rateLimits: RateLimits
    /// Statuses and spellings of refusals.
    public let errors: Errors
    /// The rules of a refused save.
    public let saveRules: SaveRules
    /// What Face PKI is made of.
    public let facePki: FacePKI

    /// What Face PKI is made of.
    public struct FacePKI: Sendable, Hashable, Codable {
        /// The key classes of a tenant that turns it on and says nothing else.
        public let classes: [String]
        /// What is signed of a 64-byte hash: `leftmost` (its first 32 bytes) or `sha256` (the hash of all 64).
        public let longOperand: String
    }

    /// Suffixes of the issuer, except ``management`` (of the IdP's origin) and ``oauthMetadata`` (between
    /// the origin and the issuer's path).
    public struct Paths: Sendable, Hashable, Codable {
        /// OpenID Connect Discovery.
        public let openidConfiguration: String
        /// RFC 8414 metadata.
        public let oauthMetadata: String
        /// The first-party authorization challenge endpoint.
        public let challenge: String
        /// The token endpoint.
        public let token: String
        /// The revocation endpoint (RFC 7009).
        public let revocation: String
        /// The key set.
        public let jwks: String
        /// The device ceremony endpoint, the stem of ``CeremonyPaths``.
        public let ceremony: String
        /// Where challenges for attestation are given out.
        public let attestationChallenge: String
        /// The resource API's accounts.
        public let accounts: String
        /// The management API.
        public let management: String
    }

    /// Suffixes of `device_ceremony_endpoint`.
    public struct CeremonyPaths: Sendable, Hashable, Codable {
        /// Call 2, the face-token fetch.
        public let faceToken: String
        /// The report of a mismatch.
        public let attempt: String
        /// The end of a session from the phone's side.
        public let abort: String
        /// Self-signup: asks for a code by mail.
        public let signup: String
        /// Registration of a device.
        public let enroll: String
    }

    /// The names inside a signed device request.
    public struct Ceremony: Sendable, Hashable, Codable {
        /// `typ` of a ceremony request.
        public let type: String
        /// `typ` of an enrolment request.
        public let enrollmentType: String
        /// Values of the act.
        public let acts: Acts
        /// Values of the outcome.
        public let outcomes: Outcomes
        /// Values of the platform.
        public let platforms: Platforms
        /// What the claims are called.
        public let claims: Claims
    }

    /// Values of the act in a signed device request.
    public struct Acts: Sendable, Hashable, Codable {
        /// Call 2.
        public let faceToken: String
        /// A mismatch.
        public let attempt: String
        /// Call 3.
        public let complete: String
        /// The end of a session.
        public let abort: String
        /// Registration.
        public let enroll: String
    }

    /// How long things live, in seconds.
    public struct Lifetimes: Sendable, Hashable, Codable {
        /// A session.
        public let session: Int64
        /// An authorization code.
        public let code: Int64
        /// An access token, where the application says nothing else.
        public let accessToken: Int64
        /// An ID token.
        public let idToken: Int64
        /// A refresh token family, from its sign-in on.
        public let refreshToken: Int64
        /// An enrolment ticket.
        public let ticket: Int64
        /// A code sent by mail.
        public let signupCode: Int64
        /// How far a client assertion's `exp` may lie behind its `iat`, or behind now where it has none.
        public let clientAssertion: Int64
        /// A challenge for evidence, and how long evidence that was taken is remembered.
        public let attestationChallenge: Int64
        /// The age from which an OAuth client attestation is not fresh any more.
        public let clientAttestation: Int64
        /// How long after its last use an App Attest key is forgotten.
        public let attestedKey: Int64
        /// How long a dead session is still told from one that never was.
        public let linger: Int64
    }

    /// How far clocks may differ, in seconds.
    public struct Windows: Sendable, Hashable, Codable {
        /// DPoP `iat` in the past, without a nonce.
        public let proofAge: Int64
        /// DPoP `iat` in the future, without a nonce.
        public let proofAhead: Int64
        /// DPoP `iat` in the future, with a fresh nonce.
        public let proofAheadWithNonce: Int64
        /// Ceremony `iat` before the session was opened.
        public let ceremonyBeforeSession: Int64
        /// Ceremony `iat` in the future.
        public let ceremonyAhead: Int64
        /// Enrolment `iat` in the past.
        public let enrollmentAge: Int64
        /// A client assertion's `iat` and `nbf` in the future.
        public let clientAssertionAhead: Int64
        /// `iat` of an OAuth client attestation's proof of possession, in the past.
        public let clientAttestationAge: Int64
        /// `iat` of an OAuth client attestation and of its proof of possession, in the future.
        public let clientAttestationAhead: Int64
        /// `timestampMillis` of a Play Integrity token in the past.
        public let playTokenAge: Int64
        /// `timestampMillis` of a Play Integrity token in the future.
        public let playTokenAhead: Int64
        /// The length of a DPoP nonce's time bucket.
        public let nonceBucket: Int64
    }

    /// How much of everything there may be.
    public struct Limits: Sendable, Hashable, Codable {
        /// Face mismatches of a session; the last one ends it.
        public let mismatches: Int
        /// Replacement codes of a session.
        public let replacements: Int
        /// Bytes of a request body at the IdP.
        public let bodyBytes: Int
        /// Bytes of a request body at the resource API.
        public let resourceBodyBytes: Int
        /// Bytes of a sealed face token.
        public let faceTokenBytes: Int
        /// Characters of a signed device request.
        public let jwsBytes: Int
        /// Bytes of any other form value.
        public let parameterBytes: Int
        /// Bytes of a piece of evidence about the calling app, as it is sent.
        public let evidenceBytes: Int
        /// App Attest keys a tenant knows.
        public let attestedKeys: Int
        /// Roots of one kind, app identities and attesters of a tenant.
        public let trustAnchors: Int
        /// Devices a user may have.
        public let devicesPerUser: Int
        /// Public keys an application may register.
        public let clientKeys: Int
        /// Sessions of a tenant.
        public let sessions: Int
        /// Grants of a tenant.
        public let grants: Int
        /// Unused enrolment tickets of a tenant.
        public let tickets: Int
        /// Unused mail codes of a tenant.
        public let signupCodes: Int
        /// Mails of a tenant.
        public let inbox: Int
        /// Remembered proofs of a tenant.
        public let replayEntries: Int
        /// Access tokens revoked one by one, of a tenant.
        public let revokedTokens: Int
        /// Findings of the whole IdP.
        public let findings: Int
        /// Entries of a listing.
        public let page: Int
    }

    /// How often things may be asked for.
    public struct RateLimits: Sendable, Hashable, Codable {
        /// What a new tenant does about them.
        public let mode: RateLimitMode
        /// Starts of one application for one address.
        public let address: RateLimit
        /// Starts of a tenant.
        public let tenant: RateLimit
        /// Requests of one peer address, all protocol endpoints together.
        public let caller: RateLimit
        /// Addresses of a tenant that are counted at once.
        public let addresses: Int
        /// Peer addresses that are counted at once.
        public let callers: Int
    }

    /// So many in so many seconds.
    public struct RateLimit: Sendable, Hashable, Codable {
        /// How many are let through.
        public let count: Int
        /// How long a window lasts, in seconds.
        public let seconds: Int64
    }

    /// Whether a tenant limits rates.
    public enum RateLimitMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// As described.
        case described
        /// Not at all, for runs of many sign-ins.
        case off
    }

    /// A refusal's status and the spelling of its `error`.
    public struct ErrorSpelling: Sendable, Hashable, Codable {
        /// The HTTP status.
        public let status: Int
        /// The value of `error`.
        public let code: String
        /// The value of `error_description`, where it is fixed.
        public let description: String?

        /// Makes a spelling; those of the protocol come from the profile.
        public init(status: Int, code: String, description: String? = nil) {
            self.status = status
            self.code = code
            self.description = description
        }
    }

    /// Statuses and spellings of refusals, named for what they mean.
    public struct Errors: Sendable, Hashable, Codable {
        /// A session is open and wants its ceremony.
        public let insufficientAuthorization: ErrorSpelling
        /// The request is malformed.
        public let invalidRequest: ErrorSpelling
        /// The body is over its limit.
        public let tooLarge: ErrorSpelling
        /// The tenant has no such client.
        public let invalidClient: ErrorSpelling
        /// A first-party precondition does not hold.
        public let unauthorizedClient: ErrorSpelling
        /// The application may not ask for this scope.
        public let invalidScope: ErrorSpelling
        /// The application may not ask for this resource.
        public let invalidTarget: ErrorSpelling
        /// The DPoP proof is missing or bad.
        public let invalidDpopProof: ErrorSpelling
        /// The DPoP proof needs a fresh nonce of the server.
        public let useDpopNonce: ErrorSpelling
        /// The session is unknown, over, dead, or somebody else's.
        public let invalidSession: ErrorSpelling
        /// The ceremony proof does not fit the session.
        public let invalidCeremonyProof: ErrorSpelling
        /// A newer generation of the face token exists.
        public let faceTokenStale: ErrorSpelling
        /// The device was removed or the user lost access.
        public let accessDenied: ErrorSpelling
        /// A ceremony cannot go on, for a reason that is nobody's business.
        public let uniformRefusal: ErrorSpelling
        /// The code or refresh token is no good.
        public let invalidGrant: ErrorSpelling
        /// The grant type is not served.
        public let unsupportedGrantType: ErrorSpelling
        /// The tenant wants evidence about the calling app and got none it can verify.
        public let attestationRequired: ErrorSpelling
        /// The evidence about the calling app breaks a rule.
        public let attestationFailed: ErrorSpelling
        /// The evidence, or the client's attestation, needs a fresh challenge of the server.
        public let useAttestationChallenge: ErrorSpelling
        /// The client's attestation is too old.
        public let useFreshAttestation: ErrorSpelling
        /// The client's attestation, or the proof that goes with it, is no good.
        public let invalidClientAttestation: ErrorSpelling
        /// Too many starts.
        public let rateLimited: ErrorSpelling
        /// The server failed.
        public let serverError: ErrorSpelling
        /// The access token is no good.
        public let invalidToken: ErrorSpelling
        /// There is nothing at this path.
        public let notFound: ErrorSpelling
        /// The path does not take this method.
        public let methodNotAllowed: ErrorSpelling
    }

    /// The rules of a refused save.
    public struct SaveRules: Sendable, Hashable, Codable {
        /// The tenant must run its own app.
        public let requiresTenantApp: String
        /// The application must require DPoP proofs.
        public let requiresDpop: String
        /// The application must not bind tokens to a client certificate.
        public let conflictsWithMtls: String
        /// The application must have a redirect URI.
        public let requiresRedirectUri: String
        /// A confidential client must have keys registered.
        public let requiresClientKeys: String
        /// Every application of a FAPI 2.0 tenant must be confidential.
        public let fapiRequiresConfidential: String
        /// Its redirect URIs must be https or loopback.
        public let fapiRequiresSecureRedirect: String
        /// Its codes must not live longer than a minute.
        public let fapiLimitsCodeLifetime: String
    }
}
