import Device
import Encoding
import HTTP
import SignIn
import Transport

/// Client authentication: made anew for every attempt, in the form or in the fields of the request.
extension DeviceActor {
    /// Who authenticates a flow's call; nil for a public client, and for calls that carry no authentication.
    func authenticator(of call: Call, in flowID: FlowID) -> Authenticator? {
        guard call.mayCarryClientAuthentication, let config = flows[flowID]?.machine.config else { return nil }
        if let client = attestedClient(in: flowID) { return .attestation(self, client) }
        return world.assertions.provider(of: flowID, for: config.clientID, on: id).map {
            assertions(of: $0, for: config.clientID, at: config.issuer)
        }
    }

    /// Who authenticates a call with a stored session; nil for that of a public client.
    func authenticator(of session: TokenSession) -> Authenticator? {
        if let client = attestedClient(of: session) { return .attestation(self, client) }
        return world.assertions.provider(for: session.clientID, on: id).map {
            assertions(of: $0, for: session.clientID, at: session.issuer)
        }
    }

    private func assertions(
        of provider: any ClientAssertionProvider, for clientID: String, at issuer: String
    ) -> Authenticator {
        .assertions(
            provider,
            ClientAssertionRequest(clientID: clientID, audience: issuer, dpopJkt: installThumbprint))
    }
}

/// Who authenticates a client's calls, and what will be asked.
enum Authenticator: Sendable {
    /// Somebody who speaks for the client.
    case assertions(any ClientAssertionProvider, ClientAssertionRequest)
    /// This phone, as an attested instance of the client.
    case attestation(DeviceActor, AttestedClient)

    /// Fresh authentication, for one attempt; `isFresh` asks for a new attestation as well.
    func authentication(isFresh: Bool = false) async throws(ClientAssertionError) -> ClientAuthentication {
        switch self {
        case .assertions(let provider, let request):
            ClientAuthentication(
                kind: provider.kind, assertion: try await provider.clientAssertion(for: request))
        case .attestation(let device, let client):
            try await device.authentication(of: client, isFresh: isFresh)
        }
    }
}

extension Authenticator? {
    /// A fresh assertion, for one attempt, or nil for a public client.
    func authentication(isFresh: Bool = false) async throws(ClientAssertionError) -> ClientAuthentication? {
        try await self?.authentication(isFresh: isFresh)
    }
}

/// One attempt at a call as it goes out, and what is to be said of it.
struct SentCall: Sendable {
    let request: ClientRequest
    var proofs: [SentProof]
    let clientAssertionBy: String?
    /// How the client authenticates by attestation, where it does.
    var attestation: ClientAuthentication?
}

/// Client authentication on its way into a request; its description shows nothing of it.
struct ClientAuthentication: Sendable, CustomStringConvertible, CustomReflectable {
    let kind: String
    /// The client that authenticates by attestation; nil for one that does by an assertion.
    let client: AttestedClient?
    /// What stands in the request's fields.
    let fields: [(name: String, value: String)]
    private let assertion: String?

    /// An assertion (RFC 7523).
    init(kind: String, assertion: String) {
        self.kind = kind
        self.assertion = assertion
        fields = []
        client = nil
    }

    /// An attestation, and the proof of its key where that has a field of its own.
    init(kind: String, fields: [(name: String, value: String)], client: AttestedClient) {
        self.kind = kind
        self.fields = fields
        self.client = client
        assertion = nil
    }

    /// Whether the DPoP proof is the proof of the attested key, so that every call needs one.
    var needsDPoP: Bool { client?.mode == .combined }

    /// A form with the two parameters of RFC 7521 section 4.2 behind its own, where there is an assertion.
    func added(to form: FormFields) -> FormFields {
        guard let assertion else { return form }
        var form = form
        form.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        form.append("client_assertion", assertion)
        return form
    }

    var description: String { client == nil ? "client assertion by \(kind)" : kind }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension Call.Body {
    /// The bytes to send, with the client's assertion where it has one: only forms carry any.
    func bytes(authenticatedBy authentication: ClientAuthentication?) -> [UInt8] {
        guard let authentication, case .form(let form) = self else { return bytes }
        return authentication.added(to: form).encoded()
    }
}

extension CallStep {
    /// An attempt that never went out for want of an assertion; the description has it count as lost.
    init(unsent call: Call, because error: ClientAssertionError, spent: Duration) {
        self.init(
            call: call.purpose.rawValue, attempt: call.attempt, method: "POST", url: call.url,
            outcome: .lost(error.description), proofs: [], milliseconds: spent / .milliseconds(1))
    }
}
