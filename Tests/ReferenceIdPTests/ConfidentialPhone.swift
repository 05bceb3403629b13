import Crypto
import Encoding
import HTTP
import JOSE
import Testing

@testable import ReferenceIdP

/// A backend that mints client assertions, and can get everything wrong on purpose.
final class Backend: Sendable {
    enum Key: Sendable {
        case p256(P256.PrivateKey)
        case rsa(RSA.PrivateKey)
    }

    /// What goes wrong with an assertion.
    struct Edit: Sendable {
        var header: @Sendable (inout JSONObject) -> Void = { _ in }
        var claims: @Sendable (inout JSONObject) -> Void = { _ in }
        /// The form parameters, made of the good ones.
        var form: @Sendable (inout Phone.Form) -> Void = { _ in }
        /// Signs in place of the backend's key.
        var sign: (@Sendable (_ input: String) throws -> [UInt8])?
    }

    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    static let rsaKey = Result { try RSA.PrivateKey.generate(bits: 2048) }

    let world: World
    let key: Key
    let kid: String
    let algorithm: String
    private let entropy: Entropy

    init(_ world: World, _ key: Key? = nil, seed: UInt8 = 41) throws {
        self.world = world
        entropy = Entropy(seed: [seed])
        self.key = try key ?? .p256(P256.PrivateKey.generate(entropy))
        switch self.key {
        case .p256: algorithm = "ES256"
        case .rsa: algorithm = "PS256"
        }
        kid = "key-\(seed)"
    }

    var publicKey: JWK {
        switch key {
        case .p256(let key): .p256(key.publicKey)
        case .rsa(let key): .rsa(key.publicKey)
        }
    }

    /// The key as it is registered.
    var jwk: JSON {
        var object = publicKey.json.object ?? JSONObject()
        object["kid"] = .string(kid)
        return .object(object)
    }

    func assertion(clientID: String = "app_fapi", tenant: String = "fapi", edit: Edit = Edit()) throws -> String {
        let now = world.now.seconds
        var header = JSONObject([("alg", .string(algorithm)), ("kid", .string(kid))])
        var claims = JSONObject([
            ("iss", .string(clientID)), ("sub", .string(clientID)), ("aud", .string("\(world.origin)/\(tenant)")),
            ("iat", .int(now)), ("exp", .int(now + 60)), ("jti", .string(entropy.token(16))),
        ])
        edit.header(&header)
        edit.claims(&claims)
        let input = JWS.signingInput(header: header, payload: JSON.object(claims).serialized())
        let signature = try edit.sign?(input) ?? sign([UInt8](input.utf8))
        return JWS.assemble(signingInput: input, signature: signature)
    }

    func sign(_ input: [UInt8]) throws -> [UInt8] {
        switch key {
        case .p256(let key): try key.sign(input)
        case .rsa(let key): try key.sign(input, padding: .pss)
        }
    }

    /// The two parameters of a request, with a fresh assertion.
    func credentials(_ edit: Edit = Edit()) throws -> Phone.Form {
        var form = [("client_assertion_type", Self.type), ("client_assertion", try assertion(edit: edit))]
        edit.form(&form)
        return form
    }

    /// Registers the key with the seeded FAPI application.
    @discardableResult
    func register(_ more: JSON = .object([])) -> HTTPResponse {
        var body = more.object ?? JSONObject()
        body["jwks"] = ["keys": [jwk]]
        return world.manage("PATCH", "tenants/fapi/applications/app_fapi", .object(body))
    }
}

extension Phone {
    /// An enrolled phone of the FAPI tenant, and the backend that speaks for its application.
    static func confidential(
        _ world: World? = nil, key: Backend.Key? = nil
    ) throws -> (phone: Phone, backend: Backend) {
        let world = try world ?? World()
        let backend = try Backend(world, key)
        #expect(backend.register().status == 200)
        let phone = try Phone(world, tenant: "fapi", clientID: "app_fapi", email: "ada@fapi.example").enrol()
        phone.credentials = { _ in try backend.credentials() }
        return (phone, backend)
    }
}
