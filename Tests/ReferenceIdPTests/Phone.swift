import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

/// A phone written from the wire page, which can also get everything wrong on purpose.
final class Phone {
    typealias Form = [(String, String)]

    /// What goes wrong with a proof.
    struct ProofEdit {
        var header: (inout JSONObject) -> Void = { _ in }
        var claims: (inout JSONObject) -> Void = { _ in }
        /// The values of the `DPoP` fields, made of the good one.
        var values: (String) -> [String] = { [$0] }
        var key: P256.PrivateKey?
        /// Whether a nonce challenge is answered once, as a good phone does.
        var answersNonceChallenge = false

        static var none: ProofEdit { ProofEdit(answersNonceChallenge: true) }
    }

    let world: World
    let tenant: String
    let clientID: String
    let entropy: Entropy
    let email: String
    /// One per install.
    let dpopKey: P256.PrivateKey
    /// Of the enrolment.
    let deviceKey: P256.PrivateKey
    let verifier: String
    let oidcNonce = "n-0S6_WzA2Mj-oidc"

    /// What a confidential client adds to each request; drawn anew for every attempt.
    var credentials: (Phone) throws -> Form = { _ in [] }

    /// Header fields of a client that authenticates by attestation; made anew for every attempt.
    var attestation: (Phone) throws -> Form = { _ in [] }

    var nonce: String?
    var apiNonce: String?
    var authSession = ""
    var ceremonyID = ""
    var ceremonyChallenge = ""
    var generation: Int64 = 1
    var code = ""
    var accessToken = ""
    var refreshToken = ""
    var mismatches: Int64 = 0

    init(
        _ world: World, tenant: String = "acme", clientID: String = "app_demo", email: String = "ada@acme.example",
        seed: UInt8 = 7
    ) throws {
        self.world = world
        self.tenant = tenant
        self.clientID = clientID
        self.email = email
        entropy = Entropy(seed: [seed] + Array(email.utf8) + Array(tenant.utf8))
        dpopKey = try P256.PrivateKey.generate(entropy)
        deviceKey = try P256.PrivateKey.generate(entropy)
        verifier = entropy.token(32)
    }

    /// The same phone at another world, drawing on from the same randomness.
    init(of phone: Phone, at world: World) {
        self.world = world
        tenant = phone.tenant
        clientID = phone.clientID
        email = phone.email
        entropy = phone.entropy
        dpopKey = phone.dpopKey
        deviceKey = phone.deviceKey
        verifier = phone.verifier
        credentials = phone.credentials
    }

    var issuer: String { "\(world.origin)/\(tenant)" }
    var jkt: String { JWK.p256(dpopKey.publicKey).thumbprint }
    var kid: String { JWK.p256(deviceKey.publicKey).thumbprint }
    func path(_ suffix: String) -> String { "/\(tenant)\(suffix)" }

    // MARK: Registration

    /// Enrols with a ticket of a new user, or with one given.
    @discardableResult
    func enrol(ticket: String? = nil) throws -> Phone {
        let response = try enrolment(ticket: try ticket ?? world.newUser(email, tenant: tenant).ticket)
        #expect(response.status == 201, "\(response.summary)")
        return self
    }

    func enrolment(
        ticket: String, key: P256.PrivateKey? = nil, edit: (inout JSONObject) -> Void = { _ in },
        claims edit2: (inout JSONObject) -> Void = { _ in }, header edit3: (inout JSONObject) -> Void = { _ in }
    ) throws -> HTTPResponse {
        let faceToken = self.faceToken(1)
        let key = key ?? deviceKey
        var header = JSONObject([
            ("typ", "device-enrollment+jwt"), ("alg", "ES256"), ("jwk", JWK.p256(key.publicKey).json),
        ])
        var claims = JSONObject([
            ("aud", .string(issuer)), ("iat", .int(world.now.seconds)), ("jti", .string(entropy.token(16))),
            ("act", "enroll"), ("tkt", .string(storedHash(ticket))),
            ("fth", .string(Base64URL.encode(SHA256.hash(faceToken)))), ("platform", "ios"),
        ])
        edit3(&header)
        edit2(&claims)
        var body = JSONObject([
            ("ticket", .string(ticket)), ("enrollment", .string(try signed(header, claims, key))),
            ("face_token", .string(Base64URL.encode(faceToken))),
        ])
        edit(&body)
        return world.post(path("/device-ceremony/enroll"), json: .object(body))
    }

    /// The sealed face token of a generation, as far as the IdP can see: bytes.
    func faceToken(_ generation: Int64) -> [UInt8] { Array("sealed \(generation) of \(email)".utf8) }

    // MARK: The four calls

    func start(
        hint: String? = nil, scope: String = "openid email offline_access", resource: Bool = true,
        proof: ProofEdit = .none, edit: (inout Form) -> Void = { _ in }
    ) throws -> HTTPResponse {
        var form: Form = [
            ("response_type", "code"), ("client_id", clientID), ("scope", scope), ("nonce", oidcNonce),
            ("code_challenge", Base64URL.encode(SHA256.hash(ascii: verifier))), ("code_challenge_method", "S256"),
        ]
        if resource { form.append(("resource", "\(world.api)/\(tenant)")) }
        if let hint { form.append(("login_hint", hint)) }
        edit(&form)
        let response = try send("/oauth2/challenge", form, proof)
        guard response.status == 403, let body = try? response.json else { return response }
        authSession = body["auth_session"]?.string ?? ""
        ceremonyID = body["ceremony"]?["id"]?.string ?? ""
        ceremonyChallenge = body["ceremony"]?["challenge"]?.string ?? ""
        mismatches = 0
        return response
    }

    func fetchFaceToken(key: P256.PrivateKey? = nil, edit: (inout JSONObject) -> Void = { _ in }) throws -> HTTPResponse
    {
        let jws = try ceremony("face-token", key: key, edit: edit)
        let response = world.post(path("/device-ceremony/face-token"), json: ["request": .string(jws)])
        if response.status == 200 { generation = try #require(try response.json["generation"]?.int) }
        return response
    }

    func mismatch(edit: (inout JSONObject) -> Void = { _ in }) throws -> HTTPResponse {
        mismatches += 1
        let jws = try ceremony("attempt") {
            $0["outcome"] = "mismatch"
            $0["n"] = .int(mismatches)
            edit(&$0)
        }
        return world.post(path("/device-ceremony/attempt"), json: ["request": .string(jws)])
    }

    func abort() throws -> HTTPResponse {
        let jws = try ceremony("abort") { $0["reason"] = "cancelled" }
        return world.post(path("/device-ceremony/abort"), json: ["request": .string(jws)])
    }

    func ceremonyProof(key: P256.PrivateKey? = nil, edit: (inout JSONObject) -> Void = { _ in }) throws -> String {
        let faceToken = self.faceToken(generation + 1)
        return try ceremony("complete", key: key) {
            $0["outcome"] = "match"
            $0["gen"] = .int(generation)
            $0["fth"] = .string(Base64URL.encode(SHA256.hash(faceToken)))
            edit(&$0)
        }
    }

    /// Call 3.
    ///
    /// The proof of an earlier call may be given again, byte for byte.
    func complete(
        _ ceremonyProof: String? = nil, proof: ProofEdit = .none, edit: (inout Form) -> Void = { _ in }
    ) throws -> HTTPResponse {
        var form: Form = [
            ("response_type", "code"), ("client_id", clientID), ("auth_session", authSession),
            ("ceremony_proof", try ceremonyProof ?? self.ceremonyProof()),
            ("face_token", Base64URL.encode(faceToken(generation + 1))),
        ]
        edit(&form)
        let response = try send("/oauth2/challenge", form, proof)
        if let code = (try? response.json)?["authorization_code"]?.string { self.code = code }
        return response
    }

    func redeem(
        code: String? = nil, proof: ProofEdit = .none, edit: (inout Form) -> Void = { _ in }
    ) throws -> HTTPResponse {
        var form: Form = [
            ("grant_type", "authorization_code"), ("code", code ?? self.code), ("code_verifier", verifier),
            ("client_id", clientID),
        ]
        edit(&form)
        return try tokens(try send("/oauth2/token", form, proof))
    }

    func refresh(
        _ token: String? = nil, proof: ProofEdit = .none, edit: (inout Form) -> Void = { _ in }
    ) throws -> HTTPResponse {
        var form: Form = [
            ("grant_type", "refresh_token"), ("refresh_token", token ?? refreshToken), ("client_id", clientID),
        ]
        edit(&form)
        return try tokens(try send("/oauth2/token", form, proof))
    }

    func revoke(_ token: String, edit: (inout Form) -> Void = { _ in }) -> HTTPResponse {
        var form: Form = [("token", token), ("client_id", clientID)]
        edit(&form)
        form += (try? credentials(self)) ?? []
        return world.post(path("/oauth2/revoke"), form: form, more: (try? attestation(self)) ?? [])
    }

    /// A call of the resource API.
    func call(
        _ method: String = "GET", _ suffix: String = "/accounts", token: String? = nil, scheme: String = "DPoP",
        proof: ProofEdit = .none, body: [UInt8] = []
    ) throws -> HTTPResponse {
        let token = token ?? accessToken
        let target = path(suffix)
        let values = try proofs(method, world.api + target, nonce: apiNonce, token: token, proof)
        let fields = [("Authorization", "\(scheme) \(token)")] + values.map { ("DPoP", $0) }
        let response = world.send(method, target, fields: fields, body: body, surface: .resourceAPI)
        if let nonce = response.nonce { apiNonce = nonce }
        guard response.error == "use_dpop_nonce", proof.answersNonceChallenge else { return response }
        let again = try proofs(method, world.api + target, nonce: apiNonce, token: token, proof)
        return world.send(
            method, target, fields: [("Authorization", "\(scheme) \(token)")] + again.map { ("DPoP", $0) },
            body: body, surface: .resourceAPI)
    }

    /// Everything up to the point before a call: `start`, `faceToken` or `completion` done.
    @discardableResult
    func begin(hint: String? = nil, scope: String = "openid email offline_access") throws -> Phone {
        let response = try start(hint: hint, scope: scope)
        #expect(response.summary == "403 insufficient_authorization", "\(world.brokenRules.last ?? "")")
        return self
    }

    @discardableResult
    func beginAndFetch(hint: String? = nil, scope: String = "openid email offline_access") throws -> Phone {
        try begin(hint: hint, scope: scope)
        let response = try fetchFaceToken()
        #expect(response.status == 200, "\(response.summary) \(world.brokenRules.last ?? "")")
        return self
    }

    @discardableResult
    func completed(scope: String = "openid email offline_access") throws -> Phone {
        try beginAndFetch(scope: scope)
        let response = try complete()
        #expect(response.status == 200, "\(response.summary) \(world.brokenRules.last ?? "")")
        return self
    }

    @discardableResult
    func signIn(scope: String = "openid email offline_access") throws -> Phone {
        try completed(scope: scope)
        let response = try redeem()
        #expect(response.status == 200, "\(response.summary) \(world.brokenRules.last ?? "")")
        return self
    }

    // MARK: Signing

    private func tokens(_ response: HTTPResponse) throws -> HTTPResponse {
        guard response.status == 200 else { return response }
        let body = try response.json
        accessToken = try #require(body["access_token"]?.string)
        if let token = body["refresh_token"]?.string { refreshToken = token }
        return response
    }

    /// Posts a form with a proof; one answered `use_dpop_nonce` is sent once more with the nonce it brought.
    private func send(_ suffix: String, _ form: Form, _ edit: ProofEdit) throws -> HTTPResponse {
        let url = world.origin + path(suffix)
        let response = world.post(
            path(suffix), form: form + (try credentials(self)), proofs: try proofs("POST", url, nonce: nonce, edit),
            more: try attestation(self))
        if let nonce = response.nonce { self.nonce = nonce }
        guard response.error == "use_dpop_nonce", edit.answersNonceChallenge else { return response }
        return world.post(
            path(suffix), form: form + (try credentials(self)), proofs: try proofs("POST", url, nonce: nonce, edit),
            more: try attestation(self))
    }

    func proofs(
        _ method: String, _ url: String, nonce: String?, token: String? = nil, _ edit: ProofEdit = .none
    ) throws -> [String] {
        let key = edit.key ?? dpopKey
        let proof = DPoPProof(
            method: method, url: url, jti: entropy.token(16), issuedAt: world.now.seconds, accessToken: token,
            nonce: nonce)
        var header = DPoPProof.header(key: key.publicKey)
        var claims = proof.claims
        edit.header(&header)
        edit.claims(&claims)
        return edit.values(try signed(header, claims, key))
    }

    func ceremony(
        _ act: String, key: P256.PrivateKey? = nil, edit: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        let key = key ?? deviceKey
        let header = JSONObject([
            ("typ", "device-ceremony+jwt"), ("alg", "ES256"),
            ("kid", .string(JWK.p256(key.publicKey).thumbprint)),
        ])
        var claims = JSONObject([
            ("aud", .string(issuer)), ("iat", .int(world.now.seconds)), ("jti", .string(entropy.token(17))),
            ("act", .string(act)), ("cer", .string(ceremonyID)), ("chl", .string(ceremonyChallenge)),
            ("ash", .string(storedHash(authSession))), ("jkt", .string(jkt)),
        ])
        edit(&claims)
        return try signed(header, claims, key)
    }

    func signed(_ header: JSONObject, _ claims: JSONObject, _ key: P256.PrivateKey) throws -> String {
        let input = JWS.signingInput(header: header, payload: JSON.object(claims).serialized())
        return JWS.assemble(signingInput: input, signature: try key.sign([UInt8](input.utf8), nonce: .rfc6979))
    }

    /// A key nobody enrolled.
    func strangerKey() throws -> P256.PrivateKey { try P256.PrivateKey.generate(entropy) }
}
