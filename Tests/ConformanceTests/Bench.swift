import Conformance
import Crypto
import Device
import Encoding
import HTTP
import JOSE
import OAuth
import Profiles
import ReferenceIdP
import Synchronization
import Testing
import Transport

/// A reference IdP in this process with one enrolled phone, to be judged.
///
/// Time stands still but for what the management API makes of it, and what a test lets pass. The address has no port, so
/// that the default one can be spelled out.
struct Bench: Sendable {
    let origin = "http://127.0.0.1"
    let api = "http://127.0.0.2"
    let server: ReferenceIdPServer
    let entropy: Entropy
    let profile: SenseCryptProfile
    let start = Instant(seconds: 1_800_000_000)
    /// Seconds that a test let pass.
    let passed = Passed()

    /// Time that passed.
    final class Passed: Sendable {
        private let seconds = Mutex<Int64>(0)
        var value: Int64 { seconds.withLock { $0 } }
        func add(_ more: Int64) { seconds.withLock { $0 += more } }
    }

    /// The authorities of every bench's phones, made once.
    static let roots: Result<AttestationRoots, CryptoError> = Result {
        () throws(CryptoError) in try AttestationRoots.generate(Entropy(seed: Array("conformance roots".utf8)))
    }
    let roots: AttestationRoots
    /// What starts bring where evidence is wanted.
    let startFormat: EvidenceFormat

    init(
        seed: String = "bench", startFormat: EvidenceFormat = .appAttest, profile: SenseCryptProfile = .builtIn
    ) throws {
        self.profile = profile
        let (start, passed) = (start, passed)
        self.startFormat = startFormat
        roots = try Self.roots.get()
        let published = roots.published
        entropy = Entropy(seed: Array("conformance \(seed)".utf8))
        var configuration = ReferenceIdPServer.Configuration(
            origin: origin, apiOrigin: api, profile: profile, entropy: Entropy(seed: Array("idp \(seed)".utf8)),
            wallClock: { start.adding(seconds: passed.value) })
        configuration.attestationTrust = try AttestationTrust(
            appleRoots: published.appleRoot, androidRoots: published.androidRoot,
            playDecryptionKey: published.playDecryptionKey, playVerificationKey: published.playVerificationKey,
            attesters: nil)
        server = try ReferenceIdPServer(configuration)
    }

    var issuer: String { "\(origin)/acme" }

    func send(_ request: ClientRequest) -> HTTPResponse {
        let isAPI = request.url.origin == api
        var fields = request.fields
        fields.set("Host", request.url.authority)
        return server.handle(
            HTTPRequest(method: request.method, target: request.url.target, fields: fields, body: request.body),
            surface: isAPI ? .resourceAPI : .identityProvider, peerIsLoopback: true, hostIsLoopback: true)
    }

    @discardableResult
    func manage(_ method: String, _ path: String, _ body: JSON? = nil) throws -> JSON {
        let request = ClientRequest(
            url: try HTTPURL("\(origin)/manage/\(path)"), method: method,
            fields: body == nil ? [:] : ["Content-Type": "application/json"], body: body?.serialized() ?? [])
        let response = send(request)
        #expect(response.status < 300, "\(method) \(path)")
        return response.body.isEmpty ? .null : try JSON(parsing: response.body)
    }

    /// Enrols a phone with a ticket, as a phone does.
    func enrol(_ ticket: String) throws -> ProbePhone {
        let key = try P256.PrivateKey.generate(entropy)
        let face = Face.drawn(from: entropy)
        let sealed = try FaceToken.seal(
            .drawn(from: entropy, at: start), face: face, generation: 1, binding: FaceTokenBinding(issuer: issuer),
            entropy: entropy)
        let jws = EnrolmentJWS(
            issuer: issuer, ticket: ticket, faceToken: sealed, platform: .ios, issuedAt: server.now.seconds,
            jti: entropy.token(16))
        let input = jws.signingInput(key: key.publicKey, names: profile.ceremony)
        let compact = EnrolmentJWS.assemble(signingInput: input, signature: try key.sign(Array(input.utf8)))
        let name = profile.members.enrollment
        var body = JSONObject([
            (name.ticket, .string(ticket)), (name.enrollment, .string(compact)),
            (name.faceToken, .string(Base64URL.encode(sealed))),
        ])
        body[name.attestation] = try evidence(for: key)?.json
        let response = send(
            ClientRequest(
                url: try HTTPURL("\(issuer)/device-ceremony/enroll"), method: "POST",
                fields: ["Content-Type": "application/json"], body: JSON.object(body).serialized()))
        let email = try #require(try JSON(parsing: response.body)[profile.members.enrollmentAnswer.email]?.string)
        return ProbePhone(
            installKey: try P256.PrivateKey.generate(entropy), deviceKey: key, face: face, email: email)
    }

    /// Evidence for an enrolment of a device key, where the tenant looks at evidence.
    private func evidence(for key: P256.PrivateKey) throws -> Evidence? {
        let answer = send(
            ClientRequest(
                url: try HTTPURL(issuer + SenseCryptProfile.builtIn.paths.attestationChallenge), method: "POST"))
        guard let challenge = try? JSON(parsing: answer.body)["attestation_challenge"]?.string else { return nil }
        let format: EvidenceFormat = startFormat.isAppAttest ? .appAttest : .androidKey
        let request = EvidenceRequest(
            format: format,
            clientData: .enrolment(challenge: challenge, kid: JWK.p256(key.publicKey).thumbprint), issuer: issuer)
        return try Attestor(roots: roots).evidence(
            request, of: AttestedInstall(),
            keys: EvidenceKeys(appAttest: try P256.PrivateKey.generate(entropy), subject: key.publicKey),
            settings: AttestationSettings(), at: server.now, entropy: entropy
        ).0
    }

    /// A new user's phone.
    func phone(of email: String = "ada@acme.example") throws -> ProbePhone {
        let user = try manage("POST", "tenants/acme/users", ["email": .string(email), "ticket": true])
        return try enrol(try #require(user["ticket"]?.string))
    }

    /// Everything a run can have.
    func setup(_ change: (inout ConformanceSetup) throws -> Void = { _ in }) throws -> ConformanceSetup {
        let document = send(ClientRequest(url: try HTTPURL("\(issuer)/.well-known/openid-configuration")))
        let metadata = try ServerMetadata(
            status: document.status, mediaType: document.fields["Content-Type"], body: document.body, issuer: issuer,
            allowPlainHTTPOnLoopback: true,
            ceremonyMember: profile.members.metadata.deviceCeremonyEndpoint)
        let (start, passed) = (start, passed)
        var setup = ConformanceSetup(
            metadata: metadata, clientID: "app_demo", phone: try phone(), profile: profile, entropy: entropy,
            now: { start.adding(seconds: passed.value) },
            send: { send($0) })
        setup.vouching = Vouching(roots: roots, startFormat: startFormat)
        setup.api = try HTTPURL("\(api)/acme")
        setup.management = try HTTPURL("\(origin)/manage")
        setup.newPhone = { ticket throws(ProbeFault) in
            do { return try enrol(ticket) } catch { throw .broken("an enrolment failed: \(error)") }
        }
        try change(&setup)
        return setup
    }
}
