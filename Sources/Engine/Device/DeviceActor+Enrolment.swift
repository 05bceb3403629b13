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

/// Registration: a new device key, a face token of generation 1, and one signed call.
///
/// Source: SenseCrypt description, "Registration"; the shape is assumed (SenseCrypt wire, section 9).
extension DeviceActor {
    func enrol(_ credential: EnrolmentCredential, issuer: String) async throws(EngineError) -> Enrolment {
        let endpoint = try await ceremonyEndpoint(of: issuer)
        let key = try naming("device key") { () throws(CryptoError) in try P256.PrivateKey.generate(entropy) }
        let kid = JWK.p256(key.publicKey).thumbprint
        let sealed = try naming("face token") { () throws(FaceTokenError) in
            try FaceToken.seal(
                .drawn(from: entropy, at: now), face: device.face, generation: 1,
                binding: FaceTokenBinding(issuer: issuer), entropy: entropy)
        }
        let jws = EnrolmentJWS(
            issuer: issuer, ticket: credential.secret, faceToken: sealed, platform: device.platform,
            issuedAt: now.seconds, jti: entropy.token(16))
        let compact = try naming("enrolment") { () throws(CryptoError) in
            try sign(jws.signingInput(key: key.publicKey, names: world.profile.ceremony), with: key)
        }
        let body = enrolmentBody(credential, enrolment: compact, sealed: sealed)
        let answer = try await post(
            body, to: endpoint, path: world.profile.ceremonyPaths.enroll, call: "enroll", expecting: [201])
        return try keep(answer, issuer: issuer, key: key, kid: kid)
    }

    /// Asks for a sign-up code by mail; the answer tells nothing about the address.
    func requestSignUp(_ email: String, issuer: String) async throws(EngineError) {
        let endpoint = try await ceremonyEndpoint(of: issuer)
        _ = try await post(
            ["email": .string(email)], to: endpoint, path: world.profile.ceremonyPaths.signup, call: "signup",
            expecting: [202, 200])
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

    private func ceremonyEndpoint(of issuer: String) async throws(EngineError) -> HTTPURL {
        let metadata = try await metadata(of: issuer)
        guard let endpoint = metadata.deviceCeremonyEndpoint else {
            throw .badAnswer(call: "discovery", why: "the metadata names no device_ceremony_endpoint")
        }
        return endpoint
    }

    /// The issuer's metadata, fetched if it is not known yet.
    func metadata(of issuer: String) async throws(EngineError) -> ServerMetadata {
        try await world.reaching(network).serverMetadata(of: issuer, in: metadataCache)
    }

    private func enrolmentBody(_ credential: EnrolmentCredential, enrolment: String, sealed: [UInt8]) -> JSON {
        var members: [(String, JSON)] =
            switch credential {
            case .ticket(let ticket): [("ticket", .string(ticket))]
            case .code(let code, let email): [("email", .string(email)), ("code", .string(code))]
            }
        members += [("enrollment", .string(enrolment)), ("face_token", .string(Base64URL.encode(sealed)))]
        return .object(members)
    }

    private func post(
        _ body: JSON, to endpoint: HTTPURL, path: String, call: String, expecting statuses: Set<Int>
    ) async throws(EngineError) -> JSON {
        guard let url = try? endpoint.appending(path: path) else {
            throw .badAnswer(call: "discovery", why: "the device_ceremony_endpoint cannot be extended by \(path)")
        }
        let fields = HTTPFields([("Accept", "application/json"), ("Content-Type", "application/json")])
        let request = ClientRequest(
            url: url, method: "POST", fields: fields, body: body.serialized(),
            timeoutMilliseconds: world.callTimeout)
        var none = FaultPlan()
        let point: FaultPoint = call == "signup" ? .signup : .enroll
        let fault = takeFault(at: point, from: &none)
        if let fault { publish(fault, at: point) }
        let response = try await network.exchange(request, fault: fault?.kind, by: world.clock).get()
        let answer = try? JSON(parsing: response.body)
        guard statuses.contains(response.status) else {
            throw .refused(
                call: call, status: response.status, error: answer?["error"]?.string ?? "without an error code",
                description: answer?["error_description"]?.string)
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
        guard let subject = answer["sub"]?.string, let email = answer["email"]?.string else {
            throw .badAnswer(call: "enroll", why: "'sub' and 'email' must be strings")
        }
        guard answer["kid"]?.string == kid else {
            throw .badAnswer(call: "enroll", why: "'kid' is not the thumbprint of the key that was sent")
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
