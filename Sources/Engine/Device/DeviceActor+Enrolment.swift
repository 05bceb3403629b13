import Crypto
import Device
import Encoding
import HTTP
import JOSE
import OAuth
import Profiles
import SignIn
import Store
import Transport

/// What entitles a device to enrol a user.
public enum EnrolmentCredential: Sendable, Hashable {
    /// A one-time ticket from the identity provider's management.
    case ticket(String)
    /// The code that was mailed to an address after ``Engine/requestSignUp(_:issuer:device:)``.
    case code(String, email: String)

    var secret: String {
        switch self {
        case .ticket(let ticket): ticket
        case .code(let code, _): code
        }
    }
}

/// One enrolment, whatever it is sent with.
private struct EnrolmentRequest {
    let credential: EnrolmentCredential
    let issuer: String
    let key: P256.PrivateKey
    let kid: String
    /// The face token of generation 1.
    let sealed: [UInt8]
    /// What is wrong on purpose with its evidence, where that was asked for.
    let defect: AttestationDefect?
}

extension EnrolmentCredential {
    /// What it is in the body.
    fileprivate func members(_ name: SenseCryptProfile.Members.Enrollment) -> [(String, JSON)] {
        switch self {
        case .ticket(let ticket): [(name.ticket, .string(ticket))]
        case .code(let code, let email): [(name.email, .string(email)), (name.code, .string(code))]
        }
    }
}

/// Registration: a new device key, a face token of generation 1, and one signed call.
///
/// Source: SenseCrypt description, "Registration"; the shape is assumed (SenseCrypt wire, section 9).
extension DeviceActor {
    /// Throws `.attestationRefused` where the issuer wants evidence about the app and cannot take this phone's, and
    /// `.attestation` where the phone was asked for evidence it cannot make.
    func enrol(
        _ credential: EnrolmentCredential, issuer: String, defect: AttestationDefect? = nil
    ) async throws(EngineError) -> Enrolment {
        if let defect, !device.platform.canHave(defect, isEnrolment: true) {
            throw .noSuchDefect(defect, on: device.platform, isEnrolment: true)
        }
        let endpoint = try await ceremonyEndpoint(of: issuer)
        let key = try naming("device key") { () throws(CryptoError) in try P256.PrivateKey.generate(entropy) }
        let sealed = try naming("face token") { () throws(FaceTokenError) in
            try FaceToken.seal(
                .drawn(from: entropy, at: now), face: device.face, generation: 1,
                binding: FaceTokenBinding(issuer: issuer), entropy: entropy)
        }
        let request = EnrolmentRequest(
            credential: credential, issuer: issuer, key: key, kid: JWK.p256(key.publicKey).thumbprint, sealed: sealed,
            defect: defect)
        return try keep(try await send(request, to: endpoint), issuer: issuer, key: key, kid: request.kid)
    }

    /// Sends an enrolment, and once more where it was refused with a challenge to make evidence for.
    private func send(_ request: EnrolmentRequest, to endpoint: HTTPURL) async throws(EngineError) -> JSON {
        let path = world.profile.ceremonyPaths.enroll
        let challenge = try await enrolmentChallenge(of: request.issuer)
        var (body, sent) = try body(of: request, challenge: challenge)
        var response = try await exchange(body, with: endpoint, path: path, at: .enroll)
        learn(from: response, to: sent, issuer: request.issuer)
        if let challenge = wanted(by: response) {
            (body, sent) = try self.body(of: request, challenge: challenge)
            response = try await exchange(body, with: endpoint, path: path, at: .enroll)
            learn(from: response, to: sent, issuer: request.issuer)
        }
        return try read(response, of: "enroll", expecting: [201])
    }

    /// The challenge a refusal asks to make evidence for; nil where it asks for none, or this app sends no evidence.
    private func wanted(by response: HTTPResponse) -> String? {
        let asking = [OAuthErrorCode.useAttestationChallenge.rawValue, world.wire.attestationRequired]
        guard device.attestation.sending != .never, response.status == 400,
            let error = (try? JSON(parsing: response.body))?["error"]?.string, asking.contains(error)
        else { return nil }
        return AttestationChallenge.challenge(response.fields.values(AttestationChallenge.field))
    }

    /// The challenge an enrolment's evidence is for: the newest, else one that is asked for; nil where none is wanted.
    private func enrolmentChallenge(of issuer: String) async throws(EngineError) -> String? {
        let facts = attestationFacts(for: issuer)
        let url = try await metadata(of: issuer).challengeEndpoint
        switch (facts.sending, url) {
        case (.never, _), (.auto, nil): return nil
        case (.always, nil): return facts.challenge ?? ""
        case (_, let url?):
            if let challenge = facts.challenge { return challenge }
            return try await askForChallenge(at: url)
        }
    }

    /// Asks a challenge endpoint; a lost answer is asked for once more.
    func askForChallenge(at url: HTTPURL) async throws(EngineError) -> String? {
        let fields = HTTPFields([
            ("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"),
        ])
        let request = ClientRequest(
            url: url, method: "POST", fields: fields, body: [], timeoutMilliseconds: world.callTimeout)
        let response: HTTPResponse
        do throws(EngineError) {
            response = try await exchange(request, at: .call(.attestationChallenge))
        } catch .unreachable {
            response = try await exchange(request, at: .call(.attestationChallenge), attempt: 2)
        }
        recordChallenge(of: response, from: url, isChallengeEndpoint: true)
        do throws(AnswerError) {
            return try AttestationChallenge.challenge(
                status: response.status, mediaType: response.fields["Content-Type"], body: response.body)
        } catch {
            throw .badAnswer(call: "attestationChallenge", why: error.description)
        }
    }

    /// One send of an enrolment: signed, and vouched for where there is a challenge.
    private func body(
        of request: EnrolmentRequest, challenge: String?
    ) throws(EngineError) -> (JSON, SentEvidence?) {
        let jws = EnrolmentJWS(
            issuer: request.issuer, ticket: request.credential.secret, faceToken: request.sealed,
            platform: device.platform, issuedAt: now.seconds, jti: entropy.token(16))
        let compact = try naming("enrolment") { () throws(CryptoError) in
            try sign(jws.signingInput(key: request.key.publicKey, names: world.profile.ceremony), with: request.key)
        }
        let name = world.profile.members.enrollment
        var members = request.credential.members(name)
        members += [
            (name.enrollment, .string(compact)), (name.faceToken, .string(Base64URL.encode(request.sealed))),
        ]
        guard let challenge else { return (.object(members), nil) }
        let made = try evidence(
            for: .enrolment(challenge: challenge, kid: request.kid), issuer: request.issuer,
            subject: request.key.publicKey, asked: request.defect)
        members.append((name.attestation, made.evidence.json))
        return (.object(members), made.sent)
    }

    /// Asks for a sign-up code by mail; the answer tells nothing about the address.
    func requestSignUp(_ email: String, issuer: String) async throws(EngineError) {
        let endpoint = try await ceremonyEndpoint(of: issuer)
        let body = JSONObject([(world.profile.members.signup.email, .string(email))])
        let response = try await exchange(
            .object(body), with: endpoint, path: world.profile.ceremonyPaths.signup, at: .signup)
        _ = try read(response, of: "signup", expecting: [202, 200])
    }

    /// Forgets an enrolment and its key.
    func forgetEnrolment(issuer: String, email: String) throws(EngineError) {
        let id = id
        let known = try storedEnrolments().filter { $0.issuer == issuer && $0.email == email }
        guard !known.isEmpty else { throw .noSuchEnrolment(issuer: issuer, email: email) }
        try storing {
            try world.store.write { store in
                for enrolment in known {
                    try store.deleteEnrolment(kid: enrolment.kid, issuer: issuer, of: id)
                    try store.deleteKey(enrolment.key, of: id)
                }
            }
        }
        for enrolment in known { deviceKeys[enrolment.kid] = nil }
    }

    /// What the metadata call the address that enrolments go to.
    private var ceremonyMember: String { world.profile.members.metadata.deviceCeremonyEndpoint }

    private func ceremonyEndpoint(of issuer: String) async throws(EngineError) -> HTTPURL {
        let metadata = try await metadata(of: issuer)
        guard let endpoint = metadata.deviceCeremonyEndpoint else {
            throw .badAnswer(call: "discovery", why: "the metadata names no \(ceremonyMember)")
        }
        return endpoint
    }

    /// The issuer's metadata, fetched if it is not known yet.
    func metadata(of issuer: String) async throws(EngineError) -> ServerMetadata {
        if let known = metadataCache.known(issuer, at: world.clock.now()) { return known }
        var none = FaultPlan()
        let fault = takeFault(at: .discovery, from: &none)
        if let fault { publish(fault, at: .discovery) }
        try obey(fault)
        return try await world.reaching(network).serverMetadata(of: issuer, in: metadataCache, fault: fault?.kind)
    }

    private func exchange(
        _ body: JSON, with endpoint: HTTPURL, path: String, at point: FaultPoint
    ) async throws(EngineError) -> HTTPResponse {
        guard let url = try? endpoint.appending(path: path) else {
            throw .badAnswer(call: "discovery", why: "the \(ceremonyMember) cannot be extended by \(path)")
        }
        let fields = HTTPFields([("Accept", "application/json"), ("Content-Type", "application/json")])
        let request = ClientRequest(
            url: url, method: "POST", fields: fields, body: body.serialized(),
            timeoutMilliseconds: world.callTimeout)
        let response = try await exchange(request, at: point)
        recordChallenge(of: response, from: url, isChallengeEndpoint: false)
        return response
    }

    private func read(
        _ response: HTTPResponse, of call: String, expecting statuses: Set<Int>
    ) throws(EngineError) -> JSON {
        let answer = try? JSON(parsing: response.body)
        guard statuses.contains(response.status) else {
            let error = answer?["error"]?.string ?? "without an error code"
            let description = answer?["error_description"]?.string
            if world.wire.isAboutAttestation(OAuthErrorCode(rawValue: error)) {
                throw .attestationRefused(status: response.status, error: error, description: description)
            }
            throw .refused(call: call, status: response.status, error: error, description: description)
        }
        guard let answer, answer.object != nil else {
            throw .badAnswer(call: call, why: "the body is no JSON object")
        }
        return answer
    }

    /// Stores the key and the enrolment together; an earlier enrolment of the same user gives way.
    private func keep(
        _ answer: JSON, issuer: String, key: P256.PrivateKey, kid: String
    ) throws(EngineError) -> Enrolment {
        let name = world.profile.members.enrollmentAnswer
        guard let subject = answer[name.subject]?.string, let email = answer[name.email]?.string else {
            throw .badAnswer(call: "enroll", why: "'\(name.subject)' and '\(name.email)' must be strings")
        }
        guard answer[name.kid]?.string == kid else {
            throw .badAnswer(call: "enroll", why: "'\(name.kid)' is not the thumbprint of the key that was sent")
        }
        let handle = KeyHandle(rawValue: "device-" + entropy.token(9))
        let moment = world.clock.now()
        let stored = StoredKey(handle: handle, purpose: .device, scalar: try scalar(of: key), createdAt: moment)
        let enrolment = Enrolment(
            issuer: issuer, email: email, subject: subject, kid: kid, key: handle, createdAt: moment)
        let renewal = try installKeyInvalidated ? renewedInstall(at: moment) : nil
        let superseded = try storedEnrolments().filter { $0.issuer == issuer && $0.email == email }
        let id = id
        try storing {
            try world.store.write { store in
                for old in superseded {
                    try store.deleteEnrolment(kid: old.kid, issuer: issuer, of: id)
                    try store.deleteKey(old.key, of: id)
                }
                try store.insert(stored, for: id)
                try store.insert(enrolment, for: id)
                if let renewal { try store.renewInstall(as: renewal.device, key: renewal.stored) }
            }
        }
        if let renewal { adopt(renewal) }
        deviceKeys[kid] = key
        return enrolment
    }

    private func naming<T, E: Error>(_ what: String, _ work: () throws(E) -> T) throws(EngineError) -> T {
        do throws(E) { return try work() } catch { throw .storage("the \(what) could not be made: \(error)") }
    }
}
