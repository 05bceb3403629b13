public import Crypto
public import Encoding
public import HTTP
public import OAuth
public import Profiles
public import Transport

/// What a run is made with.
public struct ConformanceSetup: Sendable {
    /// The issuer, and what its metadata says.
    public var metadata: ServerMetadata
    /// The opted-in public application the phone signs in to.
    public var clientID: String
    /// The enrolled phone.
    public var phone: ProbePhone
    /// The base of a resource API that takes the tenant's tokens, which is also their audience; nil for none.
    public var api: HTTPURL?
    /// What a probe asks the API for, behind its base.
    public var apiPath: String
    /// The base of the reference IdP's management API; nil for none.
    public var management: HTTPURL?
    /// The rules to judge; nil for all.
    public var only: Set<String>?
    /// The words of the wire.
    public var profile: SenseCryptProfile
    /// What vouches for the phones where the server wants evidence; nil for phones that bring none.
    public var vouching: Vouching?
    /// Whether the issuer is known to enforce attestation; else the run finds out whether it does.
    public var enforcesAttestation = false
    /// Chance.
    public var entropy: Entropy
    /// The time.
    public var now: @Sendable () -> Instant
    /// Sends one request; throws where there is no answer.
    public var send: @Sendable (ClientRequest) async throws(ProbeFault) -> HTTPResponse
    /// Enrols a further phone with a ticket of the management API; nil where none can be made.
    public var newPhone: (@Sendable (_ ticket: String) async throws(ProbeFault) -> ProbePhone)?
    /// An unused enrolment ticket, where no management API can make any.
    public var spareTicket: String?
    /// Lets so many seconds pass, where the server's clock cannot be moved; nil where nobody wants to wait.
    public var wait: (@Sendable (_ seconds: Int64) async -> Void)?

    /// A run at an issuer, without API and management, of every rule.
    public init(
        metadata: ServerMetadata, clientID: String, phone: ProbePhone, profile: SenseCryptProfile = .builtIn,
        entropy: Entropy = .system, now: @escaping @Sendable () -> Instant,
        send: @escaping @Sendable (ClientRequest) async throws(ProbeFault) -> HTTPResponse
    ) {
        self.metadata = metadata
        self.clientID = clientID
        self.phone = phone
        self.profile = profile
        self.entropy = entropy
        self.now = now
        self.send = send
        apiPath = profile.paths.accounts
    }
}
