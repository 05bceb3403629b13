public import Device
public import SignIn

/// What a sign-in is asked to be: its configuration, what the camera will see, and what shall go wrong.
public struct SignInOrder: Sendable {
    /// What kind of server it signs in at.
    public enum System: Sendable, Hashable {
        /// The SenseCrypt in-app sign-in.
        case senseCrypt
        /// Any standard authorization server: code, PKCE and DPoP, by way of a browser.
        case oauth(BrowserDoor)

        /// The calls such a sign-in may make, and faults may be planned for.
        public var calls: [Call.Purpose] {
            switch self {
            case .senseCrypt: Call.Purpose.ofSignIn
            case .oauth: Call.Purpose.ofBrowserSignIn
            }
        }
    }

    /// What kind of server it signs in at.
    public var system: System
    /// Issuer, client, scopes, hint and resource.
    public var config: SignInConfig
    /// Scan outcomes for this flow alone, before the camera's own queue.
    public var scans: [ScanOutcome]
    /// Faults for this flow alone.
    public var faults: [PlannedFault]
    /// Who speaks for a confidential client; nil for a public one, or where the launch has registered somebody.
    public var clientAssertions: ClientAssertionSource?

    /// How the client authenticates by attestation; nil where it does not.
    public var clientAttestation: ClientAttestationOrder?
    /// What is wrong on purpose with this flow's evidence about the app; nil for what the device's settings say.
    public var attestationDefect: AttestationDefect?

    /// Describes a sign-in.
    public init(
        _ system: System = .senseCrypt, config: SignInConfig, scans: [ScanOutcome] = [], faults: [PlannedFault] = [],
        clientAssertions: ClientAssertionSource? = nil, clientAttestation: ClientAttestationOrder? = nil,
        attestationDefect: AttestationDefect? = nil
    ) {
        self.system = system
        self.config = config
        self.scans = scans
        self.faults = faults
        self.clientAssertions = clientAssertions
        self.clientAttestation = clientAttestation
        self.attestationDefect = attestationDefect
    }
}
