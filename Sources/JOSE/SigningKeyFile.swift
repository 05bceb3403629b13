public import Crypto
public import Encoding

/// A private signing key as it lies in a file, with the name it goes by.
public struct SigningKeyFile: Sendable {
    /// The key.
    public let key: SigningKey
    /// The `kid` of a JWK, or nil where the file names none.
    public let keyID: String?

    /// Takes a key that is at hand.
    public init(key: SigningKey, keyID: String? = nil) {
        self.key = key
        self.keyID = keyID
    }

    /// Reads the content of a file: PEM, a private JWK (RFC 7517), a JWK set with one key, or DER.
    ///
    /// Keys on P-256 and RSA keys of 2048 bits or more, unencrypted. Throws `.keyValue` with the Crypto rule where PEM
    /// or DER cannot be read, and the other key errors where a JWK cannot.
    public init(content: [UInt8]) throws(JOSEError) {
        let text = String(decoding: content, as: UTF8.self)
        do throws(CryptoError) {
            if text.contains("-----BEGIN ") {
                self.init(key: try SigningKey(pem: text))
                return
            }
            guard content.first(where: { !Self.blanks.contains($0) }) == UInt8(ascii: "{") else {
                self.init(key: try SigningKey(der: content))
                return
            }
        } catch {
            throw .keyValue(rule: error.code)
        }
        guard let json = try? JSON(parsing: content) else { throw .keyNotObject(kind: "no strict JSON") }
        let jwk = json["keys"]?.array.flatMap { $0.count == 1 ? $0[0] : nil } ?? json
        self.init(key: try SigningKey(jwk: jwk), keyID: jwk["kid"]?.string)
    }

    private static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
}

extension SigningKey {
    /// Reads a private JWK (RFC 7518 section 6): `EC` on P-256 with `d`, or `RSA` with all of its primes' numbers.
    ///
    /// The private half must fit the public one.
    public init(jwk json: JSON) throws(JOSEError) {
        guard let object = json.object else { throw .keyNotObject(kind: json.kind) }
        let key: SigningKey
        switch object["kty"]?.string {
        case "EC": key = try Self.p256(object)
        case "RSA": key = try Self.rsa(object)
        case let type: throw .keyType(type ?? "none")
        }
        guard try key.publicKey == JWK(publicHalf: object) else { throw .keyValue(rule: "crypto.key.halves") }
        self = key
    }

    /// The public half.
    public var publicKey: JWK {
        switch self {
        case .p256(let key): .p256(key.publicKey)
        case .rsa(let key): .rsa(key.publicKey)
        }
    }

    /// What FAPI 2.0 has such a key sign with: ES256, or PS256.
    public var algorithm: JWSAlgorithm {
        switch self {
        case .p256: .es256
        case .rsa: .ps256
        }
    }

    /// Signs with ``algorithm``; the header's `alg` must say so.
    public func sign(header: JSONObject, payload: [UInt8]) throws(CryptoError) -> String {
        switch self {
        case .p256(let key): try JWS.sign(header: header, payload: payload, key: key)
        case .rsa(let key): try JWS.sign(header: header, payload: payload, key: key)
        }
    }

    private static func p256(_ object: JSONObject) throws(JOSEError) -> SigningKey {
        let scalar = try number("d", object)
        do throws(CryptoError) {
            return .p256(try P256.PrivateKey(scalar: scalar))
        } catch {
            throw .keyValue(rule: error.code)
        }
    }

    private static func rsa(_ object: JSONObject) throws(JOSEError) -> SigningKey {
        var numbers: [[UInt8]] = []
        for name in ["n", "e", "d", "p", "q", "dp", "dq", "qi"] { numbers.append(try number(name, object)) }
        do throws(CryptoError) {
            return .rsa(try RSA.PrivateKey(numbers: numbers))
        } catch {
            throw .keyValue(rule: error.code)
        }
    }

    private static func number(_ name: String, _ object: JSONObject) throws(JOSEError) -> [UInt8] {
        guard let text = object[name]?.string, let bytes = try? Base64URL.decode(text) else { throw .keyMember(name) }
        return bytes
    }
}

extension JWK {
    /// The public key in a private JWK.
    fileprivate init(publicHalf object: JSONObject) throws(JOSEError) {
        var half = JSONObject()
        for name in ["kty", "crv", "x", "y", "n", "e"] { half[name] = object[name] }
        try self.init(.object(half))
    }
}
