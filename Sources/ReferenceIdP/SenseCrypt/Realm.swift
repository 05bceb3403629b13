import Crypto
import Encoding
import JOSE
import Profiles

/// One tenant whole: its settings, its people, and everything of theirs that is under way.
///
/// Nothing of a tenant is reachable through another: handles, codes, tokens and keys are looked up in
/// the realm of the path they came by. Every table is bounded and every step below costs the same
/// whatever the tables hold.
struct Realm: Sendable {
    var tenant: Tenant
    var applications = OrderedTable<String, Application>()
    var users = OrderedTable<String, User>()
    /// User ids by ``AddressKey``.
    var usersByAddress: [String: String] = [:]
    /// Enrolled devices by key thumbprint.
    var devices: [String: EnrolledDevice] = [:]
    var tickets: ExpiringTable<String, Ticket>
    var signupCodes: ExpiringTable<String, SignupCode>
    var inbox: Inbox
    /// By H(`auth_session`).
    var sessions: ExpiringTable<String, Session>
    /// By the hash of the code.
    var codes: ExpiringTable<String, AuthorizationCode>
    var grants: ExpiringTable<String, Grant>
    var revokedTokens: ExpiringTable<String, RevokedToken>
    /// Proofs seen at the IdP.
    var proofs: ReplayCache
    /// Proofs seen at the resource API.
    var apiProofs: ReplayCache
    /// Client assertions seen, at whichever endpoint.
    var assertions: ReplayCache
    /// App Attest keys, by id.
    var attestedKeys: ExpiringTable<String, AttestedKey>
    /// Pieces of evidence taken of late.
    var evidence: ReplayCache
    /// Proofs of possession of OAuth client attestations seen.
    var attestationProofs: ReplayCache
    /// How many applications authenticate by attestation.
    var applicationsByAttestation = 0
    /// Starts of late, by application and address.
    var startsByAddress: ExpiringTable<String, RateWindow>
    /// Starts of late.
    var starts: RateWindow?
    /// How many applications want their ID tokens signed with RSA.
    var applicationsWithRS256 = 0
    /// Authorization codes are drawn from this, so that a code can be said again and yet is stored as a
    /// hash only.
    let codeSecret: [UInt8]

    init(tenant: Tenant, profile: SenseCryptProfile, codeSecret: [UInt8]) {
        let limits = profile.limits
        self.tenant = tenant
        startsByAddress = ExpiringTable(capacity: profile.rateLimits.addresses)
        tickets = ExpiringTable(capacity: limits.tickets)
        signupCodes = ExpiringTable(capacity: limits.signupCodes)
        inbox = Inbox(capacity: limits.inbox)
        sessions = ExpiringTable(capacity: limits.sessions)
        codes = ExpiringTable(capacity: limits.sessions)
        grants = ExpiringTable(capacity: limits.grants)
        revokedTokens = ExpiringTable(capacity: limits.revokedTokens)
        proofs = ReplayCache(capacity: limits.replayEntries)
        apiProofs = ReplayCache(capacity: limits.replayEntries)
        assertions = ReplayCache(capacity: limits.replayEntries)
        attestedKeys = ExpiringTable(capacity: limits.attestedKeys)
        evidence = ReplayCache(capacity: limits.replayEntries)
        attestationProofs = ReplayCache(capacity: limits.replayEntries)
        self.codeSecret = codeSecret
    }

    /// Answers a well-formed request of this tenant's endpoints.
    mutating func handle(_ content: Intake.Content, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        switch content {
        case .metadata: metadata(turn)
        case .keySet: keySet()
        case .attestationChallenge: attestationChallenge(turn)
        case .start(let request): try start(request, &turn)
        case .completion(let request): try complete(request, &turn)
        case .codeGrant(let request): try redeem(request, &turn)
        case .refreshGrant(let request): try refresh(request, &turn)
        case .revocation(let request): try revoke(request, &turn)
        case .faceToken(let ceremony): try fetchFaceToken(ceremony, &turn)
        case .attempt(let ceremony): try reportMismatch(ceremony, &turn)
        case .abort(let ceremony): try abort(ceremony, &turn)
        case .signup(let request): try signUp(request, &turn)
        case .enrolment(let request): try enrol(request, &turn)
        case .resource(let request): try serve(request, &turn)
        case .refused(let refusal): throw refusal
        case .management: preconditionFailure("the management API is not a tenant's")
        }
    }
}
