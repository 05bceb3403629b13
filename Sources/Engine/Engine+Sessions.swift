public import Device
public import Encoding

/// Confidential clients.
extension Engine {
    /// Registers who speaks for a client on every device, as apps do when they are launched.
    ///
    /// Flows of the client begin with that provider. Throws `.hostNotAllowed` or `.invalid` where a backend is one the
    /// phone may not talk to.
    public func launchClientAssertions(_ source: ClientAssertionSource, for clientID: String) throws(EngineError) {
        world.assertions.launch(try source.provider(in: world), for: clientID)
    }

    /// Registers who speaks for a client on a device, or for any client where none is named, in place of any other.
    ///
    /// It serves refresh and sign-out, and flows that are taken up again. Throws `.noSuchDevice`, or where a backend
    /// is one the phone may not talk to.
    public func registerClientAssertions(
        _ source: ClientAssertionSource, for clientID: String?, on device: DeviceID
    ) throws(EngineError) {
        let id = try actor(device).id
        let registration = ClientAssertionBook.Registration(
            clientID: clientID, provider: try source.provider(in: world))
        world.assertions.register(registration, on: id)
    }

    /// Forgets who speaks for clients on a device.
    public func clearClientAssertions(on device: DeviceID) throws(EngineError) {
        world.assertions.clear(try actor(device).id)
    }
}

/// Enrolment, session and API calls.
extension Engine {
    /// Asks the issuer to mail a sign-up code to an address.
    public func requestSignUp(_ email: String, issuer: String, device: DeviceID) async throws(EngineError) {
        try await actor(device).requestSignUp(email, issuer: issuer)
    }

    /// Enrols a user on a device with a ticket or a mailed code.
    public func enrol(
        _ credential: EnrolmentCredential, issuer: String, device: DeviceID,
        attestationDefect defect: AttestationDefect? = nil
    ) async throws(EngineError) -> Enrolment {
        try await actor(device).enrol(credential, issuer: issuer, defect: defect)
    }

    /// Forgets an enrolment and its key.
    public func forgetEnrolment(issuer: String, email: String, device: DeviceID) async throws(EngineError) {
        try await actor(device).forgetEnrolment(issuer: issuer, email: email)
    }

    /// The device's session, with the device's present time to judge it by.
    public func session(of device: DeviceID) async throws(EngineError) -> (session: TokenSession, now: Instant)? {
        try await actor(device).sessionNow()
    }

    /// Renews the device's session with its refresh token, or shares a refresh that is under way.
    ///
    /// Throws `.noSession`; `.refresh` with one of the three refresh errors; `.storage`.
    public func refreshSession(
        of device: DeviceID, faults: [PlannedFault] = []
    ) async throws(EngineError) -> (session: TokenSession, now: Instant) {
        try await actor(device).renewSession(faults: FaultPlan(faults))
    }

    /// Clears the session and revokes what it held, best effort.
    public func signOut(_ device: DeviceID) async throws(EngineError) {
        try await actor(device).signOut()
    }

    /// Calls an API with the device's session; faults are counted by the requests that go out.
    public func fetch(
        _ request: APIRequest, device: DeviceID, faults: [PlannedFault] = []
    ) async throws(EngineError) -> Fetched {
        try await actor(device).fetch(request, faults: FaultPlan(faults))
    }

    /// Calls an API with the device's session and does the first request wrong.
    public func fetch(
        _ request: APIRequest, device: DeviceID, wrong: WrongOnPurpose
    ) async throws(EngineError) -> Fetched {
        let place = PlannedFault.Place(point: .fetch)
        return try await fetch(
            request, device: device, faults: [PlannedFault(id: wrong.rawValue, kind: .wrong(wrong), at: place)])
    }
}
