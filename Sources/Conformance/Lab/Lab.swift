import Crypto
import Device
import Encoding
import Engine
import HTTP
import JOSE
import OAuth
import Profiles
import SignIn
import Transport

/// One run: the server under test, the phone, and everything that lasts from one row to the next.
///
/// Used by one task, one row after the other.
final class Lab {
    let setup: ConformanceSetup
    /// Newest nonces, by origin.
    private var nonces: [String: String] = [:]
    /// Seconds the server's clock was moved ahead by the run.
    var drift: Int64 = 0
    /// Places where everything before was done right, each until something went through there.
    private var stages: [WrongOnPurpose.Place: Stage] = [:]
    /// Answers to calls of the issuer that may be stored, by what was called.
    private(set) var storable: [String] = []
    /// How many answers of the issuer were looked at for that.
    private(set) var answered = 0
    /// What was made over the management API.
    var made = Made()
    /// The metadata while the run makes the tenant enforce attestation.
    var metadataMeanwhile: ServerMetadata?
    /// The newest challenge for evidence that an answer brought, and when.
    var newestChallenge: (challenge: String, received: Instant)?
    /// Whether the server has taken genuine evidence by hand.
    var isVouchedFor = false
    /// Installs of the app, by their DPoP keys.
    var installs: [String: ProbeInstall] = [:]

    init(_ setup: ConformanceSetup) { self.setup = setup }

    /// The server's time, as far as the run moved it.
    var now: Instant { setup.now().adding(seconds: drift) }
    var phone: ProbePhone { setup.phone }
    var issuer: String { setup.metadata.issuer }
    /// What the issuer says of itself at this moment.
    var metadata: ServerMetadata { metadataMeanwhile ?? setup.metadata }

    /// The access tokens' audience, where there is an API.
    var resource: String? { setup.api.map { $0.text.hasSuffix("/") ? String($0.text.dropLast()) : $0.text } }

    /// Forgets every nonce.
    func forgetNonces() { nonces = [:] }

    /// Forgets what was prepared: the server's time, or what it allows, was another meanwhile.
    func forgetStages() { stages = [:] }
}

/// Sending.
extension Lab {
    /// Sends a request and keeps the nonce of the answer.
    ///
    /// A server that refuses for the number of requests cannot be judged.
    func fire(_ request: ClientRequest, limited: Bool = true) async throws(ProbeFault) -> Answer {
        let answer = Answer(response: try await setup.send(request))
        if let nonce = DPoPNonceField.nonce(answer.nonces) { nonces[request.url.origin] = nonce }
        look(at: answer, of: request)
        if request.url.origin == setup.metadata.tokenEndpoint.origin { note(challengeOf: answer) }
        guard answer.status != 429 || !limited else {
            throw .missing("the server's limit on requests stands in the way: wait, or turn it off")
        }
        return answer
    }

    private func look(at answer: Answer, of request: ClientRequest) {
        guard request.method == "POST", request.url.origin == setup.metadata.tokenEndpoint.origin,
            request.url.path == setup.metadata.tokenEndpoint.path
                || request.url.path == setup.metadata.authorizationChallengeEndpoint?.path
        else { return }
        // A further completion makes another generation of the face token current.
        if answer.json?["authorization_code"] != nil { stages[.completion] = nil }
        guard answer.status < 300 || answer.error != nil else { return }
        answered += 1
        if !answer.response.fields.hasToken("no-store", in: "Cache-Control") {
            storable.append("\(request.url.path) answered \(answer.summary)")
        }
    }

    /// Sends a call as it should be sent, with a nonce once it is asked for.
    func exchange(_ call: Call, by other: ProbePhone? = nil) async throws(ProbeFault) -> Answer {
        let answer = try await fire(try request(call, by: other))
        guard answer.error == "use_dpop_nonce" else { return answer }
        return try await fire(try request(call, by: other))
    }

    /// A call as a request, with a proof made now.
    func request(_ call: Call, by other: ProbePhone? = nil) throws(ProbeFault) -> ClientRequest {
        let url = try own("the address of a call") { try HTTPURL(call.url) }
        var request = ClientRequest(
            url: url, method: "POST",
            fields: HTTPFields([("Accept", "application/json"), ("Content-Type", call.body.mediaType)]),
            body: call.body.bytes)
        if call.needsDPoP { request.fields.append("DPoP", try proof(for: request, by: other ?? phone)) }
        return request
    }

    /// The same request with another form and a proof of its own.
    func request(
        _ call: Call, by other: ProbePhone? = nil, _ edit: (inout FormFields) -> Void
    ) throws(ProbeFault) -> ClientRequest {
        guard case .form(var form) = call.body else { throw .own("the call has no form") }
        edit(&form)
        var request = try request(call, by: other)
        request.body = form.encoded()
        return request
    }

    /// A DPoP proof for a request, with the newest nonce of its origin.
    func proof(
        for request: ClientRequest, by other: ProbePhone, token: String? = nil, htu: String? = nil
    ) throws(ProbeFault) -> String {
        let proof = DPoPProof(
            method: request.method, url: htu ?? request.url.text, jti: setup.entropy.token(16), issuedAt: now.seconds,
            accessToken: token, nonce: nonces[request.url.origin])
        return try own("a proof") { try proof.signed(with: other.installKey, nonce: setup.entropy.signingNonce) }
    }

    /// A proof with other claims, signed as it should be.
    func proof(
        for request: ClientRequest, by phone: ProbePhone, claims edit: (inout JSONObject) -> Void
    ) throws(ProbeFault) -> String {
        let proof = DPoPProof(
            method: request.method, url: request.url.text, jti: setup.entropy.token(16), issuedAt: now.seconds,
            nonce: nonces[request.url.origin])
        var claims = proof.claims
        edit(&claims)
        let payload = JSON.object(claims).serialized()
        return try own("a proof") {
            try JWS.sign(
                header: DPoPProof.header(key: phone.installKey.publicKey), payload: payload, key: phone.installKey,
                nonce: setup.entropy.signingNonce)
        }
    }

    /// The newest nonce of the API, for probes at the issuer, and the other way round.
    func nonceOfOtherRole(than place: WrongOnPurpose.Place) -> String? {
        place == .api ? nonces[setup.metadata.tokenEndpoint.origin] : setup.api.flatMap { nonces[$0.origin] }
    }

    /// Something of the program's own, whose failure says nothing about the server.
    func own<Value>(_ what: String, _ work: () throws -> Value) throws(ProbeFault) -> Value {
        do { return try work() } catch { throw .own("\(what) could not be made: \(error)") }
    }
}

/// Going through a call wrongly.
extension Lab {
    /// A place before a call, with everything before it done right.
    func stage(_ place: WrongOnPurpose.Place) async throws(ProbeFault) -> Stage {
        if let stage = stages[place] { return stage }
        let stage = try await Stage(at: place, in: self)
        stages[place] = stage
        return stage
    }

    /// Does a call wrong and says what came back.
    ///
    /// A stage that something went through at is not used again.
    func mutate(_ wrong: WrongOnPurpose, at place: WrongOnPurpose.Place) async throws(ProbeFault) -> Answer {
        let stage = try await stage(place)
        let right = try await stage.request(in: self)
        var drawn: (ahead: ClientRequest?, request: ClientRequest)
        do throws(EngineError) {
            drawn = try wrong.altered(
                right, at: place, installKey: phone.installKey, ceremonyKey: phone.deviceKey,
                nonceOfOtherRole: nonceOfOtherRole(than: place), entropy: setup.entropy,
                profile: setup.profile)
        } catch .invalid(_, let rule, _) {
            throw .missing(rule)
        } catch { throw .own(error.description) }
        if let ahead = drawn.ahead {
            stages[place] = nil
            _ = try await fire(ahead)
            // The evidence that went ahead is used up, which is another rule than that of the proof: here comes another
            // start with the same proof.
            if stage.held.flatMap(evidence(in:)) != nil {
                drawn.request.body = try await ProbeFlow(self).advance(to: .start).body.bytes
            }
        }
        let answer = try await fire(drawn.request)
        if answer.isAccepted { stages[place] = nil }
        return answer
    }
}
