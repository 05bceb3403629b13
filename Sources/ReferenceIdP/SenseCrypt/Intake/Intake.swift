import Encoding
import HTTP
public import JOSE

/// A request as far as it can be judged without the state: read, well-formed, its signatures checked.
///
/// This is the expensive half of a request and needs no lock. What is wrong with the form of a request
/// is already a refusal in here; what is wrong with its meaning is for
/// ``SenseCryptIdP/handle(_:now:entropy:)`` to say.
public struct Intake: Sendable {
    /// Where the request went, for findings: `challenge`, `token`, `ceremony`, `api`, `manage` and so on.
    public let endpoint: String
    /// The tenant named by the path.
    public let tenant: String?
    /// The client named by the request, as far as it was readable.
    var clientID: String?
    /// Whose `DPoP-Nonce` the answer carries, because the request came with a proof.
    var nonceFrom: NonceIssuer?
    /// The peer's address, where requests of it are counted.
    var callerAddress: String?
    /// What is asked.
    let content: Content

    enum NonceIssuer: Sendable { case identityProvider, resourceAPI }

    enum Content: Sendable {
        case metadata
        case keySet
        case attestationChallenge
        case start(StartRequest)
        case completion(CompletionRequest)
        case codeGrant(CodeGrantRequest)
        case refreshGrant(RefreshGrantRequest)
        case revocation(RevocationRequest)
        case faceToken(CeremonyJWS)
        case attempt(CeremonyJWS)
        case abort(CeremonyJWS)
        case signup(SignupRequest)
        case enrolment(EnrolmentRequest)
        case resource(ResourceRequest)
        case management(ManagementRequest)
        case refused(Refusal)

        /// The client that asks, where the request names one.
        var clientID: String? {
            switch self {
            case .start(let request): request.client.id
            case .completion(let request): request.client.id
            case .codeGrant(let request): request.client.id
            case .refreshGrant(let request): request.client.id
            case .revocation(let request): request.client.id
            default: nil
            }
        }
    }
}

/// Which of the IdP's two origins a request came to.
public enum IdPSurface: Sendable, Hashable {
    /// The identity provider.
    case identityProvider
    /// The resource API.
    case resourceAPI
}

/// Where a request came from, as the listener saw it: the management API is for loopback alone.
public struct IdPCaller: Sendable, Hashable {
    /// Whether the peer's address is a loopback one.
    public let peerIsLoopback: Bool
    /// Whether the `Host` field names a loopback host; a page in a browser can reach us by another name.
    public let hostIsLoopback: Bool
    /// The peer's address, for the rate limit that all endpoints share; nil is never limited.
    public let address: String?

    /// Makes a caller.
    public init(peerIsLoopback: Bool, hostIsLoopback: Bool, address: String? = nil) {
        self.peerIsLoopback = peerIsLoopback
        self.hostIsLoopback = hostIsLoopback
        self.address = address
    }

    /// Whether the caller may manage the IdP.
    var mayManage: Bool { peerIsLoopback && hostIsLoopback }
}

/// Looks up the X9.63 point of a device key by tenant and thumbprint; nil for a key nobody enrolled.
///
/// One of the two things an intake asks of the state. The answer for a thumbprint never changes, since the
/// thumbprint determines the key.
public typealias DeviceKeyLookup = (_ tenant: String, _ kid: String) -> [UInt8]?

/// Looks up the public keys of a confidential client by tenant and client id; nil for a client without any.
///
/// Keys may be replaced between this answer and ``SenseCryptIdP/handle(_:now:entropy:)``, which therefore looks again
/// whether the key that verified an assertion is still one of the client's.
public typealias ClientKeyLookup = (_ tenant: String, _ clientID: String) -> JWKSet?

/// Looks up what evidence at a tenant is compared with, and the App Attest key of an id; nil for a tenant that is not.
///
/// A tenant may change its mind between this answer and ``SenseCryptIdP/handle(_:now:entropy:)``, which then looks at the
/// evidence again.
public typealias AttestationLookup = (_ tenant: String, _ keyID: String?) -> AttestationBasis?

/// What an intake needs besides the request.
struct IntakeContext {
    let request: HTTPRequest
    let settings: IdPSettings
    let deviceKey: DeviceKeyLookup
    let clientKeys: ClientKeyLookup
    let attestation: AttestationLookup
    let rulesOff: RulesOffLookup
    /// The rules that are off where the request goes, once its tenant is known.
    private(set) var off: Set<RuleSwitch> = []

    init(
        request: HTTPRequest, settings: IdPSettings, deviceKey: @escaping DeviceKeyLookup,
        clientKeys: @escaping ClientKeyLookup, attestation: @escaping AttestationLookup,
        rulesOff: @escaping RulesOffLookup
    ) {
        self.request = request
        self.settings = settings
        self.deviceKey = deviceKey
        self.clientKeys = clientKeys
        self.attestation = attestation
        self.rulesOff = rulesOff
    }

    /// The same for a request that goes to a tenant.
    func at(_ tenant: String) -> IntakeContext {
        var context = self
        context.off = rulesOff(tenant)
        return context
    }

    /// The URL the request was sent to, built from what we advertise and the raw path.
    func url(_ origin: String) -> String { origin + request.path }

    /// The DPoP proof of the request, checked as far as it goes without time and state.
    func proof(origin: String, accessToken: String? = nil) -> ProofInput {
        ProofInput {
            () throws(DPoPRefusal) in
            try DPoPVerifier.check(
                headerValues: request.fields.values("DPoP"), method: request.method, url: url(origin),
                accessToken: accessToken, off: off.proofRules)
        }
    }
}

/// A DPoP proof that was checked without time and state, or why it is bad: said once it is its turn.
typealias ProofInput = Result<CheckedProof, DPoPRefusal>

extension Result where Failure == DPoPRefusal {
    fileprivate init(_ check: () throws(DPoPRefusal) -> Success) {
        do { self = .success(try check()) } catch { self = .failure(error) }
    }
}
