import Crypto
import Device
import Encoding
import JOSE
import OAuth
import SignIn

/// The phone and the user the scripts run on: made once, from a seed.
struct Phone: Sendable {
    static let issuer = "https://acme.idp.example"
    static let now = Instant(seconds: 1_750_000_000)
    static let shared = Phone()

    let install: P256.PrivateKey
    let device: P256.PrivateKey
    let server: P256.PrivateKey
    let sealed: [UInt8]
    let rotated: [UInt8]
    let secrets = FlowSecrets(
        codeVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", nonce: "the-nonce-of-this-flow")

    var thumbprint: String { JWK.p256(install.publicKey).thumbprint }
    var kid: String { JWK.p256(device.publicKey).thumbprint }

    private init() {
        let entropy = Entropy(seed: Array("sign-in scripts".utf8))
        do {
            install = try P256.PrivateKey.generate(entropy)
            device = try P256.PrivateKey.generate(entropy)
            server = try P256.PrivateKey.generate(entropy)
            let binding = FaceTokenBinding(issuer: Self.issuer)
            let contents = FaceTokenContents.drawn(from: entropy, at: Self.now)
            guard let face = Face(secret: entropy.bytes(32)) else { preconditionFailure("32 bytes are a face") }
            sealed = try FaceToken.seal(contents, face: face, generation: 3, binding: binding, entropy: entropy)
            rotated = try FaceToken.seal(contents, face: face, generation: 4, binding: binding, entropy: entropy)
        } catch { preconditionFailure("the fixture cannot be made: \(error)") }
    }

    /// What a device with one enrolment tells its flows.
    var facts: DeviceFacts {
        DeviceFacts(
            installThumbprint: thumbprint,
            enrolments: [.init(issuer: Self.issuer, email: "ada@acme.example", kid: kid)])
    }

    var config: SignInConfig {
        SignInConfig(issuer: Self.issuer, clientID: "app_demo", scopes: ["openid", "email", "offline_access"])
    }

    /// The same, with a hash to sign.
    var signingConfig: SignInConfig {
        var config = config
        config.pki = SignInPKIRequest(
            kind: .sign, context: Array("payments-v1".utf8), operand: SHA256.hash(ascii: "a payment"))
        return config
    }

    /// What signing that hash gives.
    var output: PKIOutput {
        PKIOutput(
            keys: [PKIOutput.PublicKey(.ecdsa, device.publicKey)], signature: [UInt8](repeating: 7, count: 64))
    }

    /// The document of the issuer; members given replace or, with null, remove.
    static func metadata(_ changes: [String: JSON] = [:]) -> JSONObject {
        var document = JSONObject([
            ("issuer", .string(issuer)),
            ("authorization_challenge_endpoint", "https://acme.idp.example/oauth2/challenge"),
            ("token_endpoint", "https://acme.idp.example/oauth2/token"),
            ("revocation_endpoint", "https://acme.idp.example/oauth2/revoke"),
            ("device_ceremony_endpoint", "https://acme.idp.example/device-ceremony"),
        ])
        for (name, value) in changes { document[name] = value == .null ? JSON?.none : value }
        return document
    }

    static let goodMetadata: ServerMetadata = {
        do { return try serverMetadata() } catch { preconditionFailure("the fixture cannot be made: \(error)") }
    }()

    /// The same issuer, which looks at evidence about the app.
    static let attestingMetadata: ServerMetadata = {
        do {
            return try serverMetadata([
                "challenge_endpoint": "https://acme.idp.example/oauth2/attestation-challenge"
            ])
        } catch { preconditionFailure("the fixture cannot be made: \(error)") }
    }()

    static func serverMetadata(_ changes: [String: JSON] = [:]) throws -> ServerMetadata {
        try ServerMetadata(
            members: AnswerMembers(metadata(changes)), issuer: issuer, allowPlainHTTPOnLoopback: false,
            ceremonyMember: "device_ceremony_endpoint")
    }
}
