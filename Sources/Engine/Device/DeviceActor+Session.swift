import Crypto
import Device
import Encoding
import HTTP
import OAuth
import SignIn
import Store
import Transport

/// The stored session: showing it, and ending it here and at the issuer.
extension DeviceActor {
    func deviceView() throws(EngineError) -> DeviceView {
        DeviceView(
            device: device, installThumbprint: installThumbprint, enrolments: try storedEnrolments(),
            session: try storedSession(),
            clientAssertions: world.assertions.registration(on: id).map { ($0.provider.kind, $0.clientID) }, now: now)
    }

    func sessionNow() throws(EngineError) -> (session: TokenSession, now: Instant)? {
        try storedSession().map { ($0, now) }
    }

    /// Clears the session first, so that it is gone whatever the issuer answers.
    func signOut() throws(EngineError) {
        let id = id
        let ended = try storing {
            try world.store.write { store in try store.deleteSession(of: id) }
        }
        guard let ended else { throw .noSession(id.rawValue) }
        revoke(ended)
    }

    /// Ends every flow of the device, before it is wiped.
    func cancelAll() {
        for flow in Array(flows.keys) { deliver(.cancel, to: flow) }
    }

    /// Revokes what a session holds at its issuer (RFC 7009), best effort: nobody waits for the answer.
    func revoke(_ session: TokenSession) {
        guard let call = session.revocation else { return }
        sendBestEffort(call, by: authenticator(of: session))
    }

    /// Makes a call whose answer changes nothing; a lost one is made once more.
    func sendBestEffort(_ call: Call, by authenticator: Authenticator?) {
        let underWay = world.underWay
        underWay.begin()
        // It runs beside whatever comes next, which must not draw other bytes for that.
        let source = entropy.isSeeded ? Entropy(seed: entropy.bytes(32)) : entropy
        Task {
            defer { underWay.end() }
            if await !isAnswered(call, by: authenticator, source) {
                _ = await isAnswered(call, by: authenticator, source)
            }
        }
    }

    private func isAnswered(_ call: Call, by authenticator: Authenticator?, _ source: Entropy) async -> Bool {
        do {
            let (response, attestation) = try await answer(to: call, by: authenticator, source)
            let asked = Self.repetition(asked: response, of: attestation)
            // In combined mode this is a call with a DPoP proof like any other.
            let needsNonce =
                attestation?.needsDPoP == true
                && (try? JSON(parsing: response.body))?["error"]?.string == OAuthErrorCode.useDPoPNonce.rawValue
            if asked.isWanted || needsNonce {
                _ = try await answer(to: call, by: authenticator, source, isFresh: asked.isFresh)
            }
            return true
        } catch {
            return false
        }
    }

    private func answer(
        to call: Call, by authenticator: Authenticator?, _ source: Entropy, isFresh: Bool = false
    ) async throws -> (HTTPResponse, ClientAuthentication?) {
        // Nil is a public client's, and goes out all the same.
        let authentication = try await authenticator.authentication(isFresh: isFresh)
        let sent = try request(for: call, authenticatedBy: authentication, drawingFrom: source)
        var none = FaultPlan()
        let fault = takeFault(at: .call(call.purpose), attempt: call.attempt, from: &none)
        if let fault { publish(fault, at: .call(call.purpose)) }
        try obey(fault)
        let response = try await network.exchange(sent.request, fault: fault?.kind, by: world.clock).get()
        _ = record(.success(response), of: call, sent: sent, spent: .zero)
        return (response, sent.attestation)
    }
}
