import Encoding
import HTTP
import SignIn
import Transport

/// Client authentication of a confidential client: asked for anew at every attempt, and added to its form.
extension DeviceActor {
    /// Who authenticates a flow's call; nil for a public client, and for calls that carry no authentication.
    func authenticator(of call: Call, in flowID: FlowID) -> Authenticator? {
        guard call.mayCarryClientAuthentication, let config = flows[flowID]?.machine.config,
            let provider = world.assertions.provider(of: flowID, for: config.clientID, on: id)
        else { return nil }
        return Authenticator(provider, clientID: config.clientID, issuer: config.issuer, jkt: installThumbprint)
    }

    /// Who authenticates a call with the stored session of a client; nil for a public one.
    func authenticator(for clientID: String, at issuer: String) -> Authenticator? {
        world.assertions.provider(for: clientID, on: id).map {
            Authenticator($0, clientID: clientID, issuer: issuer, jkt: installThumbprint)
        }
    }
}

/// A provider, and what it will be asked.
struct Authenticator: Sendable {
    private let provider: any ClientAssertionProvider
    private let request: ClientAssertionRequest

    init(_ provider: any ClientAssertionProvider, clientID: String, issuer: String, jkt: String) {
        self.provider = provider
        request = ClientAssertionRequest(clientID: clientID, audience: issuer, dpopJkt: jkt)
    }

    /// What the provider is.
    var kind: String { provider.kind }

    /// A fresh assertion, for one attempt.
    func authentication() async throws(ClientAssertionError) -> ClientAuthentication {
        ClientAuthentication(kind: provider.kind, assertion: try await provider.clientAssertion(for: request))
    }
}

extension Authenticator? {
    /// A fresh assertion, for one attempt, or nil for a public client.
    func authentication() async throws(ClientAssertionError) -> ClientAuthentication? {
        try await self?.authentication()
    }
}

/// One attempt at a call as it goes out, and what is to be said of it.
struct SentCall: Sendable {
    let request: ClientRequest
    var proofs: [SentProof]
    let clientAssertionBy: String?
}

/// A client assertion on its way into a form; its description shows nothing of it.
struct ClientAuthentication: Sendable, CustomStringConvertible, CustomReflectable {
    let kind: String
    private let assertion: String

    init(kind: String, assertion: String) {
        self.kind = kind
        self.assertion = assertion
    }

    /// A form with the two parameters of RFC 7521 section 4.2 behind its own.
    func added(to form: FormFields) -> FormFields {
        var form = form
        form.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        form.append("client_assertion", assertion)
        return form
    }

    var description: String { "client assertion by \(kind)" }
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
