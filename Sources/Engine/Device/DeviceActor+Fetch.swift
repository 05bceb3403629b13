import Crypto
import Device
public import Encoding
public import HTTP
import JOSE
public import SignIn
import Store
import Transport

/// A request to an API, before the session is added to it.
public struct APIRequest: Sendable {
    /// The method.
    public var method: String
    /// The URL.
    public var url: HTTPURL
    /// The fields a person gave; authorization and proof are the phone's.
    public var fields: HTTPFields
    /// The body.
    public var body: [UInt8]
    /// Whether the body comes from a stream and can be sent once only: such a request is never repeated.
    public var isOneShot: Bool

    /// Describes a request.
    public init(
        method: String = "GET", url: HTTPURL, fields: HTTPFields = [:], body: [UInt8] = [], isOneShot: Bool = false
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.isOneShot = isOneShot
    }
}

/// What came of an API call.
public struct Fetched: Sendable {
    /// One request as it was sent.
    public struct Attempt: Sendable {
        /// The status that came back.
        public let status: Int
        /// Why the request was repeated after it, if it was: `use_dpop_nonce` or `invalid_token`.
        public internal(set) var repeated: String?
        /// The claims of the DPoP proof it carried, if it did.
        public let proof: JSON?
    }

    /// One refresh the call asked for.
    public enum Refresh: Sendable, Hashable {
        /// The session was renewed.
        case renewed
        /// There was no session any more.
        case noSession
        /// It was not renewed.
        case failed(RefreshError)

        /// The name the control API gives it.
        public var name: String {
            switch self {
            case .renewed: "renewed"
            case .noSession: "no_session"
            case .failed(let error): error.code
            }
        }
    }

    /// The URL called.
    public let url: HTTPURL
    /// The method used.
    public let method: String
    /// Whether the session was added to the last request: without one it goes out unchanged.
    public let isAuthorized: Bool
    /// The requests sent, in order.
    public let attempts: [Attempt]
    /// The refreshes asked for, in order: at most one before the request and one after it.
    public let refreshes: [Refresh]
    /// The last answer.
    public let response: HTTPResponse
}

/// Calling an API as the app would: the loop is a value (`APICall`), and this performs what it says.
///
/// Source: SenseCrypt description, "Using the tokens".
extension DeviceActor {
    /// Throws `.unreachable` where no answer came, `.refresh` where the token has ended and could not be renewed now,
    /// and what the host policy or the store refuses.
    ///
    /// Faults are counted by the requests that go out.
    func fetch(_ request: APIRequest, faults: FaultPlan = FaultPlan()) async throws(EngineError) -> Fetched {
        defer { saveNonces() }
        var faults = faults
        var call = APICall(isReplayable: !request.isOneShot)
        var exchange = APIExchange()
        var next = call.start(with: try usableSession(), at: now)
        while true {
            switch next {
            case .send(let session):
                next = call.answered(try await send(request, by: session, &faults, &exchange), at: now)
            case .refresh(let session):
                let result = try await refresh(session)
                exchange.refreshes.append(Fetched.Refresh(result))
                next = call.refreshed(result, at: now)
            case .done:
                guard let response = exchange.response else { preconditionFailure("a call is done with an answer") }
                return Fetched(
                    url: request.url, method: request.method, isAuthorized: exchange.isAuthorized,
                    attempts: exchange.attempts, refreshes: exchange.refreshes, response: response)
            case .fail(let error):
                throw .refresh(error)
            }
        }
    }

    /// The stored session; one whose key is withdrawn has ended, since nobody can prove it any more.
    private func usableSession() throws(EngineError) -> TokenSession? {
        guard let session = try storedSession(), installKeyInvalidated else { return try storedSession() }
        let id = id
        try storing { _ = try world.store.write { store in try store.endSession(of: id, session) } }
        return nil
    }

    private func send(
        _ request: APIRequest, by session: APISession?, _ faults: inout FaultPlan,
        _ exchange: inout APIExchange
    ) async throws(EngineError) -> APIAnswer.Observation {
        let fault = takeFault(at: .fetch, attempt: exchange.attempts.count + 1, from: &faults)
        if let fault { publish(fault, at: .fetch) }
        try obey(fault)
        guard fault?.kind != .keyRefused else { throw .storage("the key refuses to sign") }
        var (outgoing, proof) = try authorized(request, by: session, nonce: NonceChoice(fault))
        if let session, case .wrong(let done)? = fault?.kind {
            let outbound = try outbound(outgoing, with: done, by: session)
            if let ahead = outbound.ahead { _ = try await network.send(ahead.request) }
            outgoing = outbound.sent.request
            proof = outgoing.fields["DPoP"]
        }
        let response = try await network.exchange(outgoing, fault: fault?.kind, by: world.clock).get()
        let seen: APIAnswer.Observation
        do throws(APICallError) {
            seen = try APIAnswer.observeResponse(
                url: request.url.text, status: response.status,
                wwwAuthenticate: response.fields.values("WWW-Authenticate"),
                dpopNonce: response.fields.values("DPoP-Nonce"))
        } catch {
            preconditionFailure("a parsed URL has an origin")
        }
        if let nonce = seen.nonce { nonces.record(nonce, .resourceServer, seen.origin) }
        exchange.take(response, proof: proof.flatMap(Self.claims), authorized: session != nil, seen)
        return seen
    }

    private func outbound(
        _ request: ClientRequest, with wrong: WrongOnPurpose, by session: APISession
    ) throws(EngineError) -> Outbound {
        let owner = WrongOwner(issuer: session.tokens.issuer, clientID: session.tokens.clientID)
        let sent = SentCall(request: request, proofs: [], clientAssertionBy: nil)
        do throws(WrongUnavailable) {
            return try outbound(sent, with: wrong, at: .api, of: owner)
        } catch {
            throw .invalid(field: "wrong", rule: error.why, value: wrong.rawValue)
        }
    }

    private func authorized(
        _ request: APIRequest, by session: APISession?, nonce: NonceChoice
    ) throws(EngineError) -> (ClientRequest, proof: String?) {
        var fields = request.fields
        var proof: String?
        if let session {
            let signed = try authorization(of: request, by: session, nonce: nonce)
            for field in signed.fields { fields.append(field.name, field.value) }
            proof = signed.proof
        }
        let outgoing = ClientRequest(
            url: request.url, method: request.method, fields: fields, body: request.body,
            timeoutMilliseconds: world.callTimeout)
        return (outgoing, proof)
    }

    private func authorization(
        of request: APIRequest, by session: APISession, nonce: NonceChoice
    ) throws(EngineError) -> (fields: [(name: String, value: String)], proof: String) {
        do {
            let authorization = try session.authorize(
                method: request.method, url: request.url.text, jti: entropy.token(16),
                nonce: chosenNonce(nonce, .resourceServer, request.url.origin, entropy), at: now)
            let proof = try sign(authorization.proof.signingInput(key: installKey.publicKey), with: installKey)
            return (authorization.fields(signedProof: proof), proof)
        } catch {
            throw .storage("the request cannot be authorized: \(error)")
        }
    }

    private static func claims(of proof: String) -> JSON? {
        (try? JWS(compact: proof)).flatMap { try? JSON(parsing: $0.payload) }
    }
}

/// What one API call has come to so far.
private struct APIExchange {
    var attempts: [Fetched.Attempt] = []
    var refreshes: [Fetched.Refresh] = []
    var response: HTTPResponse?
    var isAuthorized = false
    private var asked: String?

    /// An answer; that the one before asked for a repetition is only known to have been heeded now.
    mutating func take(_ answer: HTTPResponse, proof: JSON?, authorized: Bool, _ seen: APIAnswer.Observation) {
        if !attempts.isEmpty { attempts[attempts.count - 1].repeated = asked }
        asked = seen.isToBeRepeated ? "use_dpop_nonce" : seen.shouldRefresh ? "invalid_token" : nil
        attempts.append(Fetched.Attempt(status: answer.status, proof: proof))
        response = answer
        isAuthorized = authorized
    }
}

extension Fetched.Refresh {
    fileprivate init(_ result: APICall.Refreshed) {
        switch result {
        case .session: self = .renewed
        case .noSession: self = .noSession
        case .failed(let error): self = .failed(error)
        }
    }
}
