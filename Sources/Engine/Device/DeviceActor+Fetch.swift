import Crypto
import Device
public import Encoding
public import HTTP
import JOSE
import SignIn
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

    /// Describes a request.
    public init(method: String = "GET", url: HTTPURL, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// What came of an API call.
public struct Fetched: Sendable {
    /// One request as it was sent.
    public struct Attempt: Sendable {
        /// The status that came back.
        public let status: Int
        /// Why the request was repeated after it, if it was.
        public let repeated: String?
        /// The claims of the DPoP proof it carried, if it did.
        public let proof: JSON?
    }

    /// The URL called.
    public let url: HTTPURL
    /// The method used.
    public let method: String
    /// Whether the session was added: without one the request goes out unchanged.
    public let isAuthorized: Bool
    /// The requests sent, in order.
    public let attempts: [Attempt]
    /// The last answer.
    public let response: HTTPResponse
}

/// Calling an API as the app would: a fresh proof for every attempt, and one repetition when a nonce is asked for.
///
/// Source: SenseCrypt description, "Using the tokens".
extension DeviceActor {
    func fetch(_ request: APIRequest) async throws(EngineError) -> Fetched {
        let session = APISession.current(try storedSession(), at: now)
        var attempts: [Fetched.Attempt] = []
        while true {
            let (outgoing, proof) = try authorized(request, by: session)
            let response = try await world.network.send(outgoing)
            let isToBeRepeated = observe(response, from: request.url) && session != nil && attempts.isEmpty
            attempts.append(
                Fetched.Attempt(
                    status: response.status, repeated: isToBeRepeated ? "use_dpop_nonce" : nil,
                    proof: proof.flatMap(Self.claims)))
            guard isToBeRepeated else {
                return Fetched(
                    url: request.url, method: request.method, isAuthorized: session != nil, attempts: attempts,
                    response: response)
            }
        }
    }

    private func authorized(
        _ request: APIRequest, by session: APISession?
    ) throws(EngineError) -> (ClientRequest, proof: String?) {
        var fields = request.fields
        var proof: String?
        if let session {
            let signed = try authorization(of: request, by: session)
            for field in signed.fields { fields.append(field.name, field.value) }
            proof = signed.proof
        }
        let outgoing = ClientRequest(
            url: request.url, method: request.method, fields: fields, body: request.body,
            timeoutMilliseconds: world.callTimeout)
        return (outgoing, proof)
    }

    private func authorization(
        of request: APIRequest, by session: APISession
    ) throws(EngineError) -> (fields: [(name: String, value: String)], proof: String) {
        do {
            let authorization = try session.authorize(
                method: request.method, url: request.url.text, jti: world.entropy.token(16),
                nonce: nonces.newest(.resourceServer, request.url.origin), at: now)
            let proof = try sign(authorization.proof.signingInput(key: installKey.publicKey), with: installKey)
            return (authorization.fields(signedProof: proof), proof)
        } catch {
            throw .storage("the request cannot be authorized: \(error)")
        }
    }

    /// Records the nonce a response carried; true where the server asks for the request again with that nonce.
    private func observe(_ response: HTTPResponse, from url: HTTPURL) -> Bool {
        let observation = try? APIAnswer.observe(
            url: url.text, status: response.status, wwwAuthenticate: response.fields.values("WWW-Authenticate"),
            dpopNonce: response.fields.values("DPoP-Nonce"))
        guard let observation else { return false }
        if let nonce = observation.nonce { nonces.record(nonce, .resourceServer, observation.origin) }
        return observation.isToBeRepeated
    }

    private static func claims(of proof: String) -> JSON? {
        (try? JWS(compact: proof)).flatMap { try? JSON(parsing: $0.payload) }
    }
}
