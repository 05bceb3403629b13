import Device
import Encoding
import SignIn
import Store
import Transport

/// The stored session: showing it, and ending it here and at the issuer.
extension DeviceActor {
    func deviceView() throws(EngineError) -> DeviceView {
        DeviceView(
            device: device, installThumbprint: installThumbprint, enrolments: try storedEnrolments(),
            session: try storedSession(), now: now)
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
        if let call = session.revocation { sendBestEffort(call) }
    }

    /// Makes a call whose answer changes nothing; a lost one is made once more.
    func sendBestEffort(_ call: Call) {
        let underWay = world.underWay
        underWay.begin()
        Task {
            defer { underWay.end() }
            if await !isAnswered(call) { _ = await isAnswered(call) }
        }
    }

    private func isAnswered(_ call: Call) async -> Bool {
        guard let (request, _) = try? request(for: call) else { return false }
        return (try? await world.network.send(request)) != nil
    }
}
