import Device
import Encoding
import HTTP
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
        guard let address = session.revocationEndpoint, let url = try? HTTPURL(address) else { return }
        let token = session.refreshToken ?? session.accessToken
        let hint = session.refreshToken == nil ? "access_token" : "refresh_token"
        let form = FormFields([("token", token), ("token_type_hint", hint), ("client_id", session.clientID)])
        let request = ClientRequest(
            url: url, method: "POST",
            fields: HTTPFields([("Content-Type", "application/x-www-form-urlencoded")]), body: form.encoded(),
            timeoutMilliseconds: world.callTimeout)
        let (network, underWay) = (world.network, world.underWay)
        underWay.begin()
        Task {
            defer { underWay.end() }
            _ = try? await network.send(request)
        }
    }
}
