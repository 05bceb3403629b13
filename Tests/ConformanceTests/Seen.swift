import Encoding
import HTTP
import Synchronization
import Transport

/// The secrets that went by in a run.
final class Seen: Sendable {
    private let found = Mutex<Set<String>>([])
    var secrets: Set<String> { found.withLock { $0 } }

    func note(_ request: ClientRequest, _ response: HTTPResponse) {
        let names = [
            "access_token", "refresh_token", "id_token", "authorization_code", "auth_session", "face_token", "ticket",
        ]
        let json = try? JSON(parsing: response.body)
        let form = try? FormFields(decoding: request.body)
        let values =
            names.compactMap { json?[$0]?.string }
            + ["ceremony_proof", "client_assertion", "code_verifier"].compactMap { form?[$0] }
            + request.fields.values("DPoP")
        found.withLock { $0.formUnion(values.filter { $0.count > 16 }) }
    }
}
