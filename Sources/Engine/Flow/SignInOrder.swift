public import Device
public import SignIn

/// What a sign-in is asked to be: its configuration, what the camera will see, and what shall go wrong.
public struct SignInOrder: Sendable {
    /// Issuer, client, scopes, hint and resource.
    public var config: SignInConfig
    /// Scan outcomes for this flow alone, before the camera's own queue.
    public var scans: [ScanOutcome]
    /// Faults for this flow alone.
    public var faults: [PlannedFault]
    /// Who speaks for a confidential client; nil for a public one, or where the launch has registered somebody.
    public var clientAssertions: ClientAssertionSource?

    /// Describes a sign-in.
    public init(
        config: SignInConfig, scans: [ScanOutcome] = [], faults: [PlannedFault] = [],
        clientAssertions: ClientAssertionSource? = nil
    ) {
        self.config = config
        self.scans = scans
        self.faults = faults
        self.clientAssertions = clientAssertions
    }
}
